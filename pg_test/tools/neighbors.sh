#!/usr/bin/env bash
# neighbors.sh [MAJOR]: other extensions and programs beside pg_mint, by the tests of
# pg_test/cluster/tests/neighbors, and the table of their results. neighbors.sh --accept
# puts the table of the last runs into docs/contributing/tested-programs.md.
#
# Debian's packages are taken for its own PostgreSQL. NEIGHBORS is a folder with the sources
# of others, see neighbors_tree.sh; what is not there is skipped by its name. Without PG=,
# the tests run on the PostgreSQL that other tests take, and on the newest in the cache that
# TimescaleDB supports if its source is given. ONLY=text runs the tests with the text in
# their names, BENCH=1 measures hypertables and runs no test.
set -euo pipefail
. "$(dirname "$0")/common.sh"

rows=$CACHE/neighbors_rows
mkdir -p "$rows"
chmod 755 "$rows"
cd "$REPO"
if [ "${1:-}" = --accept ]; then exec "$TOOLS/neighbors_page.py" "$rows" docs/contributing/tested-programs.md; fi

need_rust
# The newest that TimescaleDB supports.
newest() {
    local m
    compgen -G "${NEIGHBORS:-/nowhere}/timescaledb-*" >/dev/null || return 0
    for m in 18 17 16; do
        if [ -e "$CACHE/pg$m/done" ]; then echo "$m"; return; fi
    done
}

if [ -n "${BENCH:-}" ]; then
    major=${1:-$(newest)}
    [ -n "$major" ] || { say "SKIPPED hypertables: NEIGHBORS has no timescaledb-*, or there is no PostgreSQL 16 to 18: not measured"; exit; }
    pg_config=$("$TOOLS/neighbors_tree.sh" "$major")
    . "$TOOLS/neighbors_bench.sh"
    exit
fi

majors=${1:-$(default_major)}
if [ -z "${1:-}" ]; then
    timescale=$(newest)
    if [[ " 16 17 18 " != *" $majors "* ]]; then majors+=" $timescale"; fi
fi

tests() {
    [ -n "${FULL:-}" ] || export MINT_SHORT=1
    NEIGHBORS_ROWS=$rows PG_CONFIG=$pg_config cargo test -p mint_cluster --test neighbors -- --test-threads=1000 ${ONLY:-}
}

failed=0
for major in $majors; do
    rc=0
    pg_config=$("$TOOLS/neighbors_tree.sh" "$major") || rc=$?
    if [ "$rc" = "$CANNOT_BE_HAD" ]; then say "SKIPPED neighbors: no PostgreSQL $major: not run"; continue; fi
    [ "$rc" = 0 ] || exit "$rc"
    if [ -z "${ONLY:-}" ]; then rm -f "$rows"/*."$major".tsv; fi
    log=$CACHE/log/neighbors$major.log
    step "PostgreSQL $major: neighbors" "neighbors$major" tests || failed=1
    grep 'SKIPPED' "$log" >&2 || true
    grep '^test result:' "$log"
done
"$TOOLS/neighbors_page.py" "$rows"
exit "$failed"
