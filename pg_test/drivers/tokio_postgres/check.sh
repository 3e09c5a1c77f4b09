# Rows, a layout that Rust knows as &str, and a shard that is an i32. The crate belongs to the workspace, which has the lock.
command -v cargo >/dev/null || skip "Rust is missing"
step "building $program" "drivers_$program" \
    cargo build --manifest-path "$REPO/Cargo.toml" --locked -p mint_tokio_postgres || skip "cannot be built"
tested_with "tokio-postgres $(sed -n '/^name = "tokio-postgres"/{n;s/version = "\(.*\)"/\1/p}' "$REPO/Cargo.lock")"
sql 'CREATE EXTENSION pg_mint'
report "$CARGO_TARGET_DIR/debug/mint_tokio_postgres"
