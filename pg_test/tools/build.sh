#!/usr/bin/env bash
# build.sh [PG_CONFIG]: builds the library of pg_mint for that server, which is the
# first pg_config of PATH if none is named, and prints its path. Needs cargo, a C
# compiler, libclang and the server's headers.
# QUICK_BUILD=1 does not optimize, and builds in a folder of its own, where the next build
# after a change takes seconds. It is one folder for all versions, which share the crates that do not
# depend on the server: another version takes a third of the time.
# build.sh --clean removes what it built, for every version.
set -euo pipefail
. "$(dirname "$0")/common.sh"

if [ "${1:-}" = --clean ]; then
    for major in $MAJORS; do rm -rf "$(target_of "$major")"; done
    rm -rf "$CARGO_TARGET_DIR/quick"
    exit
fi

pg_config=$(find_pg_config "${1:-}")
major=$(major_of "$pg_config")
need_rust
[ -e "$("$pg_config" --includedir-server)/postgres.h" ] ||
    die "no headers for $("$pg_config" --version): on Debian install postgresql-server-dev-$major"

target=$(target_of "$major")
if [ -n "${QUICK_BUILD:-}" ]; then
    target=$CARGO_TARGET_DIR/quick
    export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0
    export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=64 CARGO_PROFILE_RELEASE_INCREMENTAL=true
fi

cd "$REPO"
# Without this file, which pgrx does not read here, cargo would build the bindings each time.
[ -e "$PGRX_HOME/config.toml" ] || echo '[configs]' >"$PGRX_HOME/config.toml"
# A caller's PGRX_PG_CONFIG_PATH may be of another server.
step "building pg_mint for PostgreSQL $major" "build$major" \
    env PGRX_PG_CONFIG_PATH="$pg_config" CARGO_TARGET_DIR="$target" \
    cargo build --locked --release --lib --package pg_mint --no-default-features --features "pg$major"
for library in "$target/${CARGO_BUILD_TARGET:-}"/release/libpg_mint.{so,dylib}; do
    if [ -e "$library" ]; then echo "$library"; fi
done
