#!/usr/bin/env bash
# bench.sh [MAJOR]: measures pg_mint beside what it replaces, on a private server,
# and writes bench/results. QUICK=1 takes three minutes. BENCH="per_call growth"
# measures some sections only. The figures of a whole run go into the documents.
#
# BENCH=compare measures it beside other extensions, which are built from their
# sources in RIVALS, see rivals.sh; each version has results of its own. What is not
# there is not measured, and the results say why.
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
PG_CONFIG=$pg_config "$bench" ${QUICK:+--quick} --results "$REPO/bench/results${QUICK:+/quick}" ${BENCH:-}
[ -n "${QUICK:-}" ] || [ -n "${BENCH:-}" ] && [ "${BENCH:-}" != compare ] || "$bench" --results "$REPO/bench/results" --documents
