#!/usr/bin/env bash
# drivers.sh [--accept] [MAJOR|PG_CONFIG [PROGRAM...]], on Debian: ORMs, migration tools, drivers
# and a pooler on a fresh private server with pg_mint. pg_test/drivers/PROGRAM has a
# small project and check.sh, which says what must hold.
#
# Programs are installed into the cache, in the versions of the lock files of their
# folders or of Debian. A missing one is skipped, with the reason: so they
# are no part of the short form of make test. The results must be the rows of
# docs/contributing/tested-programs.md; --accept writes them there. The last line is the
# total.
set -euo pipefail
. "$(dirname "$0")/common.sh"

accept=
if [ "${1:-}" = --accept ]; then accept=1; shift; fi
pg_config=${1:-$(default_major)}
if [[ " $MAJORS " == *" $pg_config "* ]]; then
    pg_config=$("$TOOLS/postgres.sh" "$pg_config")
    "$TOOLS/install.sh" "$pg_config"
fi
[ -x "$pg_config" ] || die "usage: drivers.sh [--accept] [MAJOR|PG_CONFIG [PROGRAM...]]"
shift || true
[ $# != 0 ] || set -- $(cd "$REPO/pg_test/drivers" && printf '%s\n' */ | tr -d /)

bin=$(dirname "$pg_config")
mkdir -p "$CACHE/drivers"
work=$(mktemp -d "$CACHE/drivers/work.XXXXXX")
chmod 755 "$work"    # the servers' user is another
server=$work/server

start_server() {
    server_dir "$server"
    as_server_user "$bin/initdb" -D "$server/data" -U postgres -E UTF8 --locale=C --no-sync --auth=trust
    as_server_user tee -a "$server/data/postgresql.conf" >/dev/null <<END
listen_addresses = '127.0.0.1'
unix_socket_directories = '$server'
fsync = off
log_statement = ddl
log_line_prefix = '[%d] '
END
    as_server_user "$bin/pg_ctl" -D "$server/data" -l "$server/log" -o "-p $PGPORT" -w start
    "$bin/psql" -qX -d postgres -U postgres -c 'CREATE ROLE app LOGIN'
}

stop_server() { as_server_user "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1 || true; }

# The rest is for check.sh, which runs in a copy of its folder with the variables of
# libpq set: role app, which is not a superuser, and a database of the program's name.

# A new database of the role app.
database() {
    PGUSER=postgres "$bin/psql" -qX -d postgres -c "SET client_min_messages = warning" \
        -c "DROP DATABASE IF EXISTS $1 WITH (FORCE)" -c "CREATE DATABASE $1 OWNER app"
}

sql() { "$bin/psql" -qX -v ON_ERROR_STOP=1 -c "$1"; }

# The statements that change a schema which the server was sent since the last mark in
# the database.
mark() { wc -l <"$server/log" >mark; }
statements() { tail -n "+$(($(cat mark) + 1))" "$server/log" | sed -n "s/^\[$PGDATABASE\] LOG:  \(statement\|execute [^:]*\): //p"; }

skip() {
    echo "SKIPPED $program: $1"
    exit 0
}

# point TEXT COMMAND...: one thing that must hold. A command that fails tells why, and one with a figure writes it.
point() {
    local text=$1
    shift
    rm -f figure
    if "$@" >output 2>&1 </dev/null; then
        echo "ok $program: $text$([ ! -e figure ] || printf ' (%s)' "$(cat figure)")"
    else
        echo "not ok $program: $text"
        tail -n 12 output | cut -c 1-300 | sed 's/^/    /'
    fi
}

# report COMMAND...: a program that prints lines of ok and not ok itself.
report() {
    local rc=0
    "$@" >output 2>errors </dev/null || rc=$?
    sed "s/^\(ok\|not ok\) /&$program: /" output
    if [ "$rc" != 0 ] || ! grep -q '^\(not \)\?ok ' output; then
        echo "not ok $program: $1 ends well and reports something"
        tail -n 12 errors | sed 's/^/    /'
    fi
}

# tested_with TEXT: the versions of a program, for the table.
tested_with() { echo "with $program: $1"; }

# The version of a package of Python or npm.
version_of() {
    if [ -e "$tree/bin/python" ]; then
        "$tree/bin/python" -c "import importlib.metadata as m; print(m.version('$1'))"
    else
        node -p "JSON.parse(require('fs').readFileSync('$tree/node_modules/$1/package.json')).version"
    fi
}

# Debian's packages.
use_debian() {
    local p
    command -v apt-get >/dev/null || skip "not a Debian system"
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q ' installed$' && continue
        (need "$p") || skip "the package $p cannot be installed"
    done
}

# once LOCK DIRECTORY COMMAND...: runs the command, which fills the directory, unless it
# did so with the same lock file.
once() {
    local lock=$1 dir=$2
    shift 2
    if cmp -s "$lock" "$dir/$(basename "$lock").done"; then return; fi
    rm -rf --one-file-system "$dir" && mkdir -p "$dir"
    step "installing $program" "drivers_$program" "$@" || skip "cannot be installed: $CACHE/log/drivers_$program.log"
    cp "$lock" "$dir/$(basename "$lock").done"
}

# Python's packages of requirements.txt.
use_python() {
    python3 -c 'import ensurepip' 2>/dev/null || use_debian python3-venv
    once requirements.txt "$tree" python_packages
    PATH=$tree/bin:$PATH
}
python_packages() {
    python3 -m venv "$tree" && "$tree/bin/pip" install --quiet --no-deps --requirement requirements.txt
}

# npm's packages of package-lock.json. Their own scripts are not run.
use_node() {
    command -v npm >/dev/null || skip "npm is missing"
    once package-lock.json "$tree" node_packages
    ln -s "$tree/node_modules" node_modules
    PATH=$tree/node_modules/.bin:$PATH
}
node_packages() {
    cp package.json package-lock.json "$tree/" && npm ci --prefix "$tree" --ignore-scripts --no-audit --no-fund
}

# run PROGRAM: in a process of its own, which skip ends.
run() (
    set -e
    program=$1
    tree=$CACHE/drivers/$program
    export PGHOST=127.0.0.1 PGUSER=app PGDATABASE=$program
    cp -r "$REPO/pg_test/drivers/$program" "$work/"
    cd "$work/$program"
    database "$program"
    . ./check.sh
)

# The results as rows of a table: the program, its versions, and whether each of these holds, if it was tried.
DUTIES="create|insert one|insert many|read back|range by time|layout as a parameter|objectid|schema check"
rows() {
    awk -v duties="$DUTIES" -v examples=" $(cd "$REPO/examples" && echo *) " '
        BEGIN { count = split(duties, duty, "|") }
        { holds = $1 == "ok"; text = $0; sub(/^(not )?(ok|with) /, "", text)
          program = text; sub(/:.*/, "", program); sub(/^[^:]*: ([a-z0-9.]+, )?/, "", text) }
        $1 == "with" { versions[program] = text; order[++programs] = program }
        /^(not )?ok / { for (n = 1; n <= count; n++) if (text ~ "^" duty[n] "($|[ ,:])") {
            if (!holds) no[program, n] = 1; else yes[program, n] = 1 } }
        END { for (p = 1; p <= programs; p++) { program = order[p]
            folder = index(examples, " " program " ") ? "examples" : "pg_test/drivers"
            printf "| [`%s`](../../%s/%s) | %s |", program, folder, program, versions[program]
            for (n = 1; n <= count; n++) printf " %s |", (program, n) in no ? "no" : (program, n) in yes ? "yes" : "-"
            print "" } }' "$work/results"
}

# Compares rows with those of the document, without the versions of what Debian has, or writes them there.
compare_rows() {
    local document=$REPO/docs/contributing/tested-programs.md program row rest known
    rows | while IFS= read -r row; do
        program=$(cut -d '`' -f 2 <<<"$row")
        if [ -n "$accept" ]; then
            awk -v row="$row" -v key="| [\`$program\`](" 'index($0, key) == 1 { $0 = row } { print }' "$document" >"$work/document"
            cat "$work/document" >"$document"
        fi
        rest=$row
        known=$(grep -F "| [\`$program\`](" "$document" || true)
        if grep -q use_debian "$REPO/pg_test/drivers/$program/check.sh"; then
            rest=$(cut -d '|' -f 4- <<<"$row")
            known=$(cut -d '|' -f 4- <<<"$known")
        fi
        if [ "$rest" = "$known" ]; then
            echo "ok $program: the document has these results"
        else
            echo "not ok $program: the document has these results"
            echo "    $row"
        fi
    done
}

trap 'stop_server; rm -rf "$work"' EXIT
PGPORT=$(free_port $((28000 + RANDOM % 1000)))
export PGPORT PGHOST=$server
step "starting a server" drivers_server start_server
for program in "$@"; do
    [ -e "$REPO/pg_test/drivers/$program/check.sh" ] || die "there is no pg_test/drivers/$program"
    set +e    # as Bash ignores it in the commands that it tests
    run "$program"
    [ $? = 0 ] || echo "not ok $program: check.sh runs to its end"
done | tee "$work/results"
compare_rows | tee -a "$work/results"
awk '/^ok /      { passed++ }
     /^not ok /  { failed++ }
     /^SKIPPED / { skipped++ }
     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 }' "$work/results"
