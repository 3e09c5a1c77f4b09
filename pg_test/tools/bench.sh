#!/usr/bin/env bash
# bench.sh [MAJOR], on Debian: measures pg_mint beside what it replaces, on a private server on
# the disk, and writes bench/results. An hour; the figures of a whole run go
# into the documents. QUICK=1 takes 8 minutes. BENCH="per_call growth" measures some
# sections only, whose results replace theirs in the report of the last run;
# BENCH=documents writes what there is into the documents.
#
# With CITUS or NEIGHBORS, see citus.sh and neighbors.sh, a whole run measures a Citus
# cluster and hypertables as well.
#
# BENCH=compare measures it beside other extensions, which are built from their
# sources in RIVALS, see rivals.sh; each version has results of its own. A missing
# one is not measured, and the results say why.
set -euo pipefail
. "$(dirname "$0")/common.sh"

major=${1:-$(default_major)}
pg_config=$("$TOOLS/postgres.sh" "$major")
"$TOOLS/install.sh" "$pg_config"
if [ "${BENCH:-}" = compare ] && [ -n "${RIVALS:-}" ]; then
    MINT_RIVALS=$("$TOOLS/rivals.sh" "$pg_config")
    export MINT_RIVALS
    say "$MINT_RIVALS"
fi
cd "$REPO"
step "building the bench" bench_build cargo build --release -p mint_bench
bench=$CARGO_TARGET_DIR/release/mint_bench
# The same build as that of pg_mint, so that pgrx is compiled once.
step "building an empty library of pgrx" "bench_empty$major" \
    env PGRX_PG_CONFIG_PATH="$pg_config" CARGO_TARGET_DIR="$(target_of "$major")" \
    cargo build --locked --release --package empty_pgrx --no-default-features --features "pg$major"
MINT_EMPTY=$(target_of "$major")/release/libempty_pgrx.so
export MINT_EMPTY
# A file system in memory has neither fsync nor cold caches.
export TMPDIR=${TMPDIR:-/var/tmp}
documents() { "$bench" --results "$REPO/bench/results" --documents; }
if [ "${BENCH:-}" = documents ]; then
    documents
    exit
fi
PG_CONFIG=$pg_config "$bench" ${QUICK:+--quick} --results "$REPO/bench/results${QUICK:+/quick}" ${BENCH:-}
if [ -z "${QUICK:-}" ] && [[ "${BENCH:-}" = "" || "$BENCH" = compare ]]; then documents; fi
if [ -z "${QUICK:-}${BENCH:-}" ]; then
    export BENCH=1
    [ -z "${CITUS:-}" ] || "$TOOLS/citus.sh"
    [ -z "${NEIGHBORS:-}" ] || "$TOOLS/neighbors.sh"
fi
