#!/usr/bin/env bash
# arm64.sh [MAJOR], on Debian: what a machine of another processor can show of pg_mint on arm64 (PostgreSQL 15, or MAJOR):
# - clippy finds nothing in the library compiled for it, on each version of PostgreSQL that can be had here;
# - Debian's server for arm64 with the library compiled for it, run by an emulator, in a cache of its own: the tour,
#   all files of pg_regress, and the stories on crashes, clocks, counters, UUIDs and ObjectIDs;
# - a million ids of eight clients, none twice;
# - servers of both processors conceal, write and hash ids alike, and restore each other's dumps;
# - threads of the core, interpreted by Miri in SEEDS (16) ways: they see each other's writes late and out of order
#   wherever the orderings of the atomics allow it, which an emulator on x86-64 does not show. The loom models of
#   make test search all orders of a few steps.
# Needs rustup with a nightly toolchain, and root where the kernel does not start the emulator yet; it then does so until
# the next boot.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/cross.sh"

[ "$(uname -m)" != aarch64 ] || die "this machine is of arm64: make test runs all on it"
major=${1:-15}
command -v rustup >/dev/null || die "rustup is missing, which has the standard library of $target"
rustup component add --toolchain nightly miri rust-src || die "Miri needs a nightly toolchain: rustup toolchain install nightly"
here=$("$TOOLS/postgres.sh" "$major")
"$TOOLS/install.sh" "$here"
need gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static procps
need_target
step "having the kernel start programs of arm64" arm64_emulator emulator

# With the headers of this machine's servers: what they declare otherwise, the extension does not call.
cd "$REPO"
for m in $MAJORS; do
    rc=0
    pg_config=$("$TOOLS/postgres.sh" "$m") || rc=$?
    if [ "$rc" = "$CANNOT_BE_HAD" ]; then continue; elif [ "$rc" != 0 ]; then exit "$rc"; fi
    step "PostgreSQL $m: clippy for arm64" "arm64_clippy$m" env PGRX_PG_CONFIG_PATH="$pg_config" PGRX_BINDGEN_NO_DETECT_INCLUDES=1 \
        cargo clippy --locked -p pg_mint --no-default-features --features "pg$m" --target "$target" -- -D warnings
done

# From here on, all is of that processor.
export PG_MINT_CACHE=$CACHE/arm64 ARCHITECTURE=arm64
export CARGO_TARGET_DIR=$PG_MINT_CACHE/target CARGO_BUILD_TARGET=$target
export PGRX_BINDGEN_NO_DETECT_INCLUDES=1    # it would take folders of a clang of this processor
. "$TOOLS/common.sh"

there=$("$TOOLS/postgres.sh" "$major")
"$TOOLS/install.sh" "$there"

# serve NAME PG_CONFIG: a new server, in whose database pg_mint is.
serve() {
    local dir=$CACHE/$1 bin; bin=$("$2" --bindir)
    stop "$1"
    server_dir "$dir"
    as_server_user "$bin/initdb" -D "$dir/data" -U postgres -E UTF8 --locale=C --no-sync
    as_server_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start \
        -o "-c listen_addresses='' -c unix_socket_directories='$dir' -c fsync=off"
    sql "$1" -c 'CREATE EXTENSION pg_mint'
}
stop() { as_server_user "$("$here" --bindir)/pg_ctl" -D "$CACHE/$1/data" -m fast -w stop >/dev/null 2>&1 || true; }
sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$CACHE/$1" -U postgres -d "${database:-postgres}" "${@:2}"; }
# psql, pg_dump and pgbench are those of this processor.
PATH=$("$here" --bindir):$PATH
trap 'stop x86; stop arm; "$TOOLS/run.sh" --stop' EXIT

servers() {
    serve x86 "$here"
    serve arm "$there"
}

clients() {
    sql arm -c 'CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), object objectid UNIQUE DEFAULT objectid(), n int)'
    echo 'INSERT INTO message (n) SELECT generate_series(1, 500)' >"$CACHE/insert.sql"
    pgbench -n -h "$CACHE/arm" -U postgres -c 8 -t 250 -f "$CACHE/insert.sql" postgres
    [ "$(sql arm -c 'SELECT count(DISTINCT id) FROM message')" = 1000000 ]
}

# Prints digests of 100,000 ids as a server conceals, writes and hashes them.
digest() {
    sql "$1" <<'END'
SELECT md5(string_agg(format('%s %s %s %s', id_conceal(id, key), id_conceal(n, key, 20 + n % 44, 'tweak'), id_reveal(id, key),
        id_to_text(id, encoding)), ' ' ORDER BY n)),
    md5(string_agg(format('%s %s %s %s', object, mint.objectid_send(object), mint.objectid_hash(object),
        mint.objectid_hash_extended(object, n)), ' ' ORDER BY n)),
    md5(string_agg(format('%s %s %s', mint.snowflake_layout_send(layout), mint.snowflake_layout_hash(layout),
        mint.snowflake_layout_hash_extended(layout, n)), ' ' ORDER BY n))
FROM generate_series(1, 100000) AS n,
    LATERAL (SELECT n * 92233720368547 AS id, sha256('key')::bytea AS key, substr(sha256(n::text::bytea)::text, 3, 24)::objectid AS object,
        format('time:%s shard:%s seq:12 unit:1ms epoch:%sT00:00:00Z', 39 + n % 3, 12 - n % 3, date '2000-01-01' + n % 9000)::snowflake_layout AS layout,
        (ARRAY['base58', 'base62', 'crockford', 'crockford-check'])[1 + n % 4] AS encoding) AS made
END
}

# Makes a database whose rows lie in partitions by the hash of an ObjectID and of a layout.
fill() {
    sql "$1" -c "CREATE DATABASE of_$1"
    database=of_$1 sql "$1" <<'END'
CREATE EXTENSION pg_mint;
CREATE TABLE by_object (object objectid DEFAULT objectid(), id bigint DEFAULT snowflake_next_id(5), code uuid DEFAULT uuid_v7())
    PARTITION BY HASH (object);
CREATE TABLE by_layout (layout snowflake_layout, n int) PARTITION BY HASH (layout);
SELECT format('CREATE TABLE %s_%s PARTITION OF %1$s FOR VALUES WITH (MODULUS 4, REMAINDER %2$s)', parent, remainder)
FROM unnest(ARRAY['by_object', 'by_layout']) AS parent, generate_series(0, 3) AS remainder \gexec
INSERT INTO by_object SELECT FROM generate_series(1, 20000);
INSERT INTO by_layout SELECT format('time:%s shard:%s seq:12 unit:1ms epoch:%sT00:00:00Z', 39 + n % 3, 12 - n % 3, date '2000-01-01' + n)::snowflake_layout, n
FROM generate_series(0, 8999) AS n;
END
}
# The rows of that database, in their partitions.
rows() {
    database=of_$1 sql "$2" <<'END'
SELECT tableoid::regclass, count(*), md5(string_agg(o::text, ' ' ORDER BY id)) FROM by_object AS o GROUP BY 1 ORDER BY 1;
SELECT tableoid::regclass, count(*), md5(string_agg(l::text, ' ' ORDER BY n)) FROM by_layout AS l GROUP BY 1 ORDER BY 1;
END
}
# travel FROM TO: a dump is restored by a server of the other processor: into the partitions that it names, where that
# server checks the hashes again.
travel() {
    fill "$1"
    sql "$2" -c "CREATE DATABASE of_$1"
    pg_dump -h "$CACHE/$1" -U postgres "of_$1" | database=of_$1 sql "$2"
    rows "$1" "$1" >"$CACHE/before"
    rows "$1" "$2" >"$CACHE/after"
    same before after
    database=of_$1 sql "$2" -c 'INSERT INTO by_object SELECT FROM generate_series(1, 1000)'
}
alike() {
    digest x86 >"$CACHE/here"
    digest arm >"$CACHE/there"
    same here there
}
same() {
    cat "$CACHE/$1"
    [ -s "$CACHE/$1" ] && cmp "$CACHE/$1" "$CACHE/$2"
}

# The program of the stories is of this processor: the emulator can lose a thread of a program that starts others. Emulated
# servers compute where others wait, so two stories share the machine, and two are left out: a call takes longer than the
# smallest step of the clock, and where the disk hangs, sessions seldom come to the ceiling.
stories() {
    unset CARGO_BUILD_TARGET
    CLOCK_FLAGS="--target $target -Clinker=$CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER" \
        MINT_AT_ONCE=2 MINT_SHORT=1 PG_CONFIG=$there PG_CONFIG_NEW='' cargo test -p mint_cluster --test stories -- --test-threads=1000 \
        ids::crash ids::recovery ids::clock ids::concurrency ids::shared_memory counter::draws counter::restarts counter::user_locks \
        uuid:: --skip without_slack_any_step_back --skip nothing_past_the_ceiling_is_issued_before_it_is_on_disk
}
interpret() {
    unset CARGO_BUILD_TARGET
    MIRIFLAGS="-Zmiri-many-seeds=0..${SEEDS:-16}" cargo +nightly miri test --locked --package pg_mint_core --target "$target" \
        --test snowflake --test uuid -- sessions_share_a_lane sixteen_threads_on_one_lane
}

# passed LOG: a filter can match no test, which is no failure of cargo's.
passed() {
    say "         $(count "$CACHE/log/$1.log")"
    grep SKIPPED "$CACHE/log/$1.log" >&2 || true
    [[ "$(count "$CACHE/log/$1.log")" != 0\ passed* ]]
}

"$TOOLS/run.sh" "$major" >"$CACHE/log/tour.log"
step "PostgreSQL $major for arm64: pg_regress" "regress$major" "$TOOLS/regress.sh" "$there"
passed "regress$major"
step "servers of both processors" "servers$major" servers
step "a million ids of eight clients" "clients$major" clients
step "100,000 ids concealed, written and hashed on both" "alike$major" alike
step "dumps from here to arm64" "there$major" travel x86 arm
step "dumps from arm64 to here" "back$major" travel arm x86
step "stories" "cluster$major" stories
passed "cluster$major"
step "threads of the core, interpreted as on arm64" arm64_miri interpret
passed arm64_miri
echo "arm64: ok in $SECONDS s"
