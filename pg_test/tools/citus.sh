#!/usr/bin/env bash
# citus.sh [MAJOR]: a Citus cluster of a coordinator and three workers with pg_mint, a tour
# of it (docs/tour/citus.sql), and the tests of pg_test/cluster/tests/citus.
#
# CITUS is a folder or an archive of the source of Citus, 14.0 for instance, which is built
# into a private tree; without it nothing is run. PG=16|17|18 chooses the PostgreSQL
# (default: the newest of them that is in the cache); Citus has no others, for which nothing
# is run either. FULL=1 runs the long form of the tests, ONLY=text those with the text in
# their names. BENCH=1 measures inserts and a day of a year, and runs no test.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/citus_cluster.sh"

not_run() {
    echo "SKIPPED Citus: $*: not run"
    exit 0
}

[ -n "${CITUS:-}" ] || not_run "CITUS names no folder or archive of its source"
need_rust
rc=0
pg_config=$("$TOOLS/citus_tree.sh" "${1:-}") || rc=$?
[ "$rc" != "$CANNOT_BE_HAD" ] || not_run "no PostgreSQL $*, which must be one of 16 to 18"
[ "$rc" = 0 ] || exit "$rc"
major=$(major_of "$pg_config")
bin=$("$pg_config" --bindir)
dir=$CACHE/citus_demo$major
cd "$REPO"

tour() {
    step "starting a coordinator and three workers" "citus_start$major" start_cluster &&
        sql_on 0 -v first="$(node_dir 1)" -v second="$(node_dir 2)" -f docs/tour/citus.sql
}

# The tree of the next version, for the story of pg_upgrade, if Citus was built for it before.
newer() { [ ! -e "$CACHE/citus$((major + 1))/citus" ] || "$TOOLS/citus_tree.sh" $((major + 1)); }

tests() {
    [ -n "${FULL:-}" ] || export MINT_SHORT=1
    PG_CONFIG=$pg_config PG_CONFIG_NEW=${PG_CONFIG_NEW:-$(newer)} cargo test -p mint_cluster --test citus -- --test-threads=1000 ${ONLY:-}
}

server_dir "$dir"
chmod 755 "$dir"
trap stop_cluster EXIT
if [ -n "${BENCH:-}" ]; then
    . "$TOOLS/citus_bench.sh"
    step "starting a coordinator and three workers" "citus_start$major" start_cluster
    # The lines of a smaller run are shown only.
    { bench_inserts; bench_year; } | tee "$dir/results"
    [ "$YEAR_ROWS" != "$FULL_ROWS" ] || cp "$dir/results" "$REPO/bench/results/citus.md"
    exit
fi
if [ -z "${ONLY:-}" ]; then tour || die "the tour failed; the servers' logs are in $dir"; fi
stop_cluster
step "PostgreSQL $major: clusters of Citus" "citus$major" tests || rc=$?
log=$CACHE/log/citus$major.log
grep 'SKIPPED' "$log" >&2 || true
[ "$rc" != 0 ] || grep '^test result:' "$log"    # else the end of the log has it
# Its row of the table that neighbors.sh makes.
if [ "$rc" = 0 ] && [ -z "${ONLY:-}" ]; then
    mkdir -p "$CACHE/neighbors_rows"
    version=$(sed -n "s/^default_version = '\(.*\)-.*'/\1/p" "$("$pg_config" --sharedir)/extension/citus.control")
    printf 'Citus\t%s\t%s\t%s\tworks\n' "$major" "$version" "clusters of a coordinator and workers: every statement from every node" \
        >"$CACHE/neighbors_rows/Citus.$major.tsv"
fi
exit "$rc"
