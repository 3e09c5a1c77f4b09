#!/usr/bin/env bash
# lint.sh, on Debian: formatting, English, and clippy without a single warning, tests included.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/cross.sh"

major=$(default_major)
pg_config=$("$TOOLS/postgres.sh" "$major")
need_rust
cd "$REPO"
# cargo-pgrx sets the same: the bindings are rebuilt each time that it changes.
export PGRX_PG_CONFIG_PATH=$pg_config

step "cargo fmt --check" fmt cargo fmt --all --check
step "cargo fmt --check, examples/redis" fmt_redis cargo fmt --manifest-path examples/redis/Cargo.toml --check
step "names in SQL" sql_names "$TOOLS/sql_names.sh"
step "prose" prose "$TOOLS/prose.sh"
step "versions" versions "$TOOLS/versions.sh"
step "licenses of crates" licenses python3 "$TOOLS/licenses.py"
grep 'not compared' "$CACHE/log/versions.log" >&2 || true
step "clippy, the extension" clippy_extension \
    cargo clippy -p pg_mint --no-default-features --features "pg$major" -- -D warnings
step "clippy, the extension's tests" clippy_tests \
    cargo clippy -p pg_mint --no-default-features --features "pg$major pg_test" --tests -- -D warnings
# For arm64, with the server's headers of this machine: what they declare otherwise, the extension does not call.
if (need libc6-dev-arm64-cross gcc-aarch64-linux-gnu && need_target); then
    step "clippy, the extension for arm64" clippy_arm64 env PGRX_BINDGEN_NO_DETECT_INCLUDES=1 \
        cargo clippy -p pg_mint --no-default-features --features "pg$major" --target "$target" -- -D warnings
else
    say "SKIPPED clippy for arm64: its C library or Rust's standard library for it cannot be installed"
fi
for member in core pg_test/cluster pg_test/house pg_test/drivers/tokio_postgres bench bench/empty_pgrx examples/redis; do
    if [ -e "$member/Cargo.toml" ]; then
        step "clippy, $member" "clippy_$(basename "$member")" \
            cargo clippy --manifest-path "$member/Cargo.toml" --all-targets -- -D warnings
    fi
done
step "documentation of the core" doc_core \
    env RUSTDOCFLAGS="-D warnings" cargo doc --no-deps -p pg_mint_core
step "clippy, the core without features" clippy_core_bare cargo clippy -p pg_mint_core --no-default-features -- -D warnings
step "layout of the code" house cargo test -p mint_house
step "figures of the documents" figures cargo test -p mint_bench --bin mint_bench
echo "lint: ok in $SECONDS s"
