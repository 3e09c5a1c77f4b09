#!/usr/bin/env bash
# instructions.sh [MAJOR], on Linux: counts the instructions of a call on a server by valgrind: those of pg_mint and of the
# server, from entry to return, without the C library, which reads the clock. They are the same on every run of a
# build. Fails where a call takes more than its limit. FULL=1 does the same with the core's hot paths
# (bench/benches/instructions.rs).
set -euo pipefail
. "$(dirname "$0")/common.sh"

# The most instructions, the function in the library, and the call. A tick of 4 s is over in few of the calls.
LIMITS="69 snowflake_next_id_of_shard_wrapper snowflake_next_id(5)
79 snowflake_next_id_wrapper snowflake_next_id(5, 'time:39 shard:4 seq:20 unit:4s epoch:2024-01-01T00:00:00Z')"
CALLS=100000
GUNGRAUN_VERSION=0.20.0    # that of the crate in bench/Cargo.toml

major=${1:-$(default_major)}
pg_config=$("$TOOLS/postgres.sh" "$major")
need valgrind
QUICK_BUILD= "$TOOLS/install.sh" "$pg_config"
bin=$("$pg_config" --bindir)
dir=$CACHE/instructions
server_dir "$dir"

# A server without other processes.
single() { as_server_user "$@" "$bin/postgres" --single -j -D "$dir/data" postgres <<<"$sql"$'\n\n'; }

prepare() {
    local sql="CREATE EXTENSION pg_mint"
    as_server_user "$bin/initdb" --auth=trust --no-sync --no-locale --encoding=UTF8 "$dir/data" &&
        as_server_user sh -c "echo 'shared_preload_libraries = pg_mint' >>'$dir/data/postgresql.conf'" && single
}

collect() {    # FUNCTION CALL
    local sql="SELECT count($2) FROM generate_series(1, $CALLS)"
    rm -f "$dir/counts"
    single valgrind --tool=callgrind --callgrind-out-file="$dir/counts" --toggle-collect="$1" --dump-instr=yes \
        --compress-strings=no --compress-pos=no
}

# The sum, over all instructions, of how often a call executes each. An instruction that few calls execute counts as none.
instructions() {
    awk -v calls="$CALLS" '/^ob=/ { is_libc = /libc|ld-linux/ }
         /^calls=/ { getline; next }    # what was called has lines of its own
         /^0x/ && !is_libc { count[$1] += $NF }
         END { for (at in count) sum += int(count[at] / calls + 0.5); print sum + 0 }' "$dir/counts"
}

failed=
step "making a server" instructions_server prepare
while read -r most function call; do
    step "counting $call" instructions collect "$function" "$call"
    count=$(instructions)
    echo "$call: $count instructions, at most $most"
    if [ "$count" = 0 ] || [ "$count" -gt "$most" ]; then failed=1; fi
done <<<"$LIMITS"
[ -z "$failed" ] || die "a call takes more instructions than its limit, or none was counted"

if [ -n "${FULL:-}" ]; then
    need build-essential
    runner=$CACHE/cargo/bin/gungraun-runner
    [ "$("$runner" --version 2>/dev/null)" = "gungraun-runner $GUNGRAUN_VERSION" ] ||
        step "installing gungraun-runner $GUNGRAUN_VERSION, about 3 minutes" gungraun env -u CARGO_TARGET_DIR \
            cargo install gungraun-runner --version "$GUNGRAUN_VERSION" --locked --force --root "$CACHE/cargo"
    cd "$REPO"
    step "building the bench" bench_build cargo build --release -p mint_bench --benches
    GUNGRAUN_RUNNER=$runner cargo bench -p mint_bench --bench instructions
fi
