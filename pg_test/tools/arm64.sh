#!/usr/bin/env bash
# arm64.sh: what a machine without such a processor can show of pg_mint on arm64. The core is compiled for it, and its
# tests with several threads are interpreted by Miri as for that target: threads see each other's writes late and out
# of order wherever the orderings of the atomics allow it, in another way for each of SEEDS (16). The loom models of
# make test search all orders of a few steps. The extension itself runs on arm64 in no test.
set -euo pipefail
. "$(dirname "$0")/common.sh"

target=aarch64-unknown-linux-gnu
compile() {
    rustup target add "$target"
    cargo check --locked --package pg_mint_core --all-features --target "$target"
}
interpret() {
    rustup component add --toolchain nightly miri rust-src
    MIRIFLAGS="-Zmiri-many-seeds=0..${SEEDS:-16}" cargo +nightly miri test --locked --package pg_mint_core --target "$target" \
        --test snowflake --test uuid -- sessions_share_a_lane sixteen_threads_on_one_lane
}

cd "$REPO"
need_rust
command -v rustup >/dev/null || die "rustup is missing, which has the standard library of $target"
step "compiling the core for arm64" arm64_check compile
rustup toolchain list | grep -q ^nightly || die "Miri needs a nightly toolchain: rustup toolchain install nightly"
step "interpreting its threads as on arm64" arm64_miri interpret
say "arm64: the core compiles, and its threads passed in ${SEEDS:-16} ways"
