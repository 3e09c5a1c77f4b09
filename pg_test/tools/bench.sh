#!/usr/bin/env bash
# bench.sh [MAJOR]: measures pg_mint beside what it replaces, on a private server,
# and writes bench/results. QUICK=1 takes three minutes. BENCH="per_call growth"
# measures some sections only. The figures of a whole run go into the documents.
set -euo pipefail
. "$(dirname "$0")/common.sh"

major=${1:-$(default_major)}
pg_config=$("$TOOLS/postgres.sh" "$major")
"$TOOLS/install.sh" "$pg_config"
cd "$REPO"
step "building the bench" bench_build cargo build --release -p mint_bench
bench=$CARGO_TARGET_DIR/release/mint_bench
PG_CONFIG=$pg_config "$bench" ${QUICK:+--quick} --results "$REPO/bench/results${QUICK:+/quick}" ${BENCH:-}
[ -n "${QUICK:-}${BENCH:-}" ] || "$bench" --results "$REPO/bench/results" --documents
