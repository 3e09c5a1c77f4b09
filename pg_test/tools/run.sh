#!/usr/bin/env bash
# run.sh [MAJOR], on Linux: from nothing to a running server with pg_mint in it, and a tour
# of what it does (docs/tour/tour.sql). A second run takes seconds.
# run.sh --stop stops the servers that it started.
set -euo pipefail
. "$(dirname "$0")/common.sh"

if [ "${1:-}" = --stop ]; then
    for major in $MAJORS; do
        if [ -e "$(demo_dir "$major")/data/postmaster.pid" ]; then
            stop_demo "$major"
            echo "stopped PostgreSQL $major"
        fi
    done
    exit
fi

major=${1:-$(default_major)}
pg_config=$("$TOOLS/postgres.sh" "$major")
"$TOOLS/install.sh" "$pg_config"

dir=$(demo_dir "$major")
bin=$(dirname "$pg_config")
library=$(sha256sum <"$("$pg_config" --pkglibdir)/pg_mint.so")

initialize() {
    server_dir "$dir"
    chmod 700 "$dir"
    head -c 12 /dev/urandom | base64 | tr '+/' '-_' >"$dir/password"
    echo "$bin" >"$dir/bindir"
    chmod 644 "$dir/password"
    # Access to the socket's directory is trusted; TCP requires the password.
    as_server_user "$bin/initdb" -D "$dir/data" -U postgres -E UTF8 --locale=C --no-sync \
        --auth-local=trust --auth-host=scram-sha-256 --pwfile="$dir/password"
    cat >"$dir/settings" <<END
unix_socket_directories = '$dir'
listen_addresses = 'localhost'
log_min_messages = warning
END
    as_server_user sh -c "echo \"include '$dir/settings'\" >>'$dir/data/postgresql.conf'"
}
# Closes the caller's open files first, as the server would keep their locks.
start() {
    local fd
    for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        if (( fd > 2 )); then eval "exec $fd>&-"; fi
    done
    as_server_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/server.log" -o "-p $1" -w start
}

# A server that runs another build of the library is restarted.
running() { as_server_user "$bin/pg_ctl" -D "$dir/data" status >/dev/null 2>&1; }
[ "$("$bin/postgres" --version)" = "$(cat "$dir/version" 2>/dev/null)" ] || {
    stop_demo "$major"
    step "creating a database cluster" "initdb$major" initialize
    "$bin/postgres" --version >"$dir/version"
}
[ "$library" = "$(cat "$dir/library" 2>/dev/null)" ] || stop_demo "$major"
if ! running; then
    step "starting PostgreSQL $major" "start$major" start "$(free_port "288$major")"
    echo "$library" >"$dir/library"
fi
port=$(sed -n 4p "$dir/data/postmaster.pid")

export PGHOST=$dir PGPORT=$port PGUSER=postgres PATH=$bin:$PATH
psql -qX -d postgres -c 'SET client_min_messages = warning' -c 'DROP DATABASE IF EXISTS tour WITH (FORCE)' -c 'CREATE DATABASE tour'
cd "$REPO/docs/tour"
PGDATABASE=tour psql -X -q -v ON_ERROR_STOP=1 -f tour.sql || die "the tour failed; the server's log is $dir/data/server.log"

cat <<END

The server keeps running. Try the examples of README.md there:

    $bin/psql -h $dir -p $port -U postgres

From a program on this machine: postgresql://postgres:$(cat "$dir/password")@localhost:$port/postgres
All of the above is in its database tour, which each make run makes again.
Stop it with: make stop
END
