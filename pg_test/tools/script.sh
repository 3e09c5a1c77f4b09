#!/usr/bin/env bash
# script.sh [--accept] PG_CONFIG: compares the install script that is checked in with
# the one that cargo-pgrx generates of the library that build.sh built, and the
# catalog that the latter makes with the expected one (regress.sh compares that of
# the former). --accept checks in what was generated.
set -euo pipefail
. "$(dirname "$0")/common.sh"

accept=
if [ "${1:-}" = --accept ]; then accept=1; shift; fi
pg_config=$(find_pg_config "${1:-}")
major=$(major_of "$pg_config")
name=pg_mint--$(version).sql
need_cargo_pgrx
"$TOOLS/build.sh" "$pg_config" >/dev/null

cd "$REPO"
work=$(mktemp -d "$CACHE/script.XXXXXX")
trap 'rm -rf "$work"' EXIT
PGRX_PG_CONFIG_PATH=$pg_config CARGO_TARGET_DIR=$(target_of "$major") \
    cargo pgrx schema --skip-build --release --no-default-features --features "pg$major" \
    --pg-config "$pg_config" --out "$work/$name"
awk -f "$TOOLS/script.awk" "$work/$name" >"$work/normal.sql"
if [ -n "$accept" ]; then
    cp "$work/normal.sql" "sql/$name"
    echo "accepted into sql/$name"
    exit
fi
diff -u "sql/$name" "$work/normal.sql" || die "sql/$name is not what the code says: make script"

installed=$("$pg_config" --sharedir)/extension/$name
trap 'rm -rf "$work"; cp "sql/$name" "$installed"' EXIT
cp "$work/$name" "$installed"
"$TOOLS/regress.sh" "$pg_config" catalog catalog_objects
