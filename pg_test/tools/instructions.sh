#!/usr/bin/env bash
# instructions.sh: counts the instructions of the core's hot paths with valgrind,
# which is the same on every run. Fails where one exceeds its limit
# (bench/benches/instructions.rs).
set -euo pipefail
. "$(dirname "$0")/common.sh"

GUNGRAUN_VERSION=0.20.0    # that of the crate in bench/Cargo.toml
need build-essential valgrind
runner=$CACHE/cargo/bin/gungraun-runner
[ "$("$runner" --version 2>/dev/null)" = "gungraun-runner $GUNGRAUN_VERSION" ] ||
    step "installing gungraun-runner $GUNGRAUN_VERSION, about 3 minutes" gungraun env -u CARGO_TARGET_DIR \
        cargo install gungraun-runner --version "$GUNGRAUN_VERSION" --locked --force --root "$CACHE/cargo"
cd "$REPO"
step "building the bench" bench_build cargo build --release -p mint_bench --benches
GUNGRAUN_RUNNER=$runner cargo bench -p mint_bench --bench instructions
