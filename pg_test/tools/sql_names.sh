#!/usr/bin/env bash
# sql_names.sh: checks that no SQL of the extension depends on the search path, after checking that it would find it.
set -euo pipefail
. "$(dirname "$0")/common.sh"

names() { awk -f "$TOOLS/sql_names.awk" "$@"; }

work=$(mktemp -d "$CACHE/names.XXXXXX")
trap 'rm -rf "$work"' EXIT
bad=(
    "SELECT a = b"
    "SELECT a FROM x.y WHERE c.oid = s.sequence"
    "SELECT n OPERATOR(pg_catalog.*) 2 + 1"
    "SELECT lower(r) FROM x.y"
    "SELECT pg_catalog.lower(r), upper(r)"
    "SELECT 'pg_class'::regclass"
    "SELECT a FROM pg_class"
    "SELECT greatest(a, b)"
    "SELECT a BETWEEN b AND c"
    "SELECT a IN ('x', 'y')"
    "SELECT a IS DISTINCT FROM b"
    "SELECT CASE a WHEN b THEN c END"
    "SELECT at AT TIME ZONE 'UTC'"
    "UPDATE x.y SET a = 1 WHERE b = 2"
)
for text in "${bad[@]}"; do
    printf '%s;\n' "$text" >"$work/bad.sql"
    printf 'fn f() { run("%s"); }\n' "$text" >"$work/bad.rs"
    for file in "$work"/bad.sql "$work"/bad.rs; do
        if names "$file" >/dev/null; then die "sql_names.awk does not see what is wrong with: $text (${file##*.})"; fi
    done
done
printf '%s;\n' "CREATE OPERATOR = (LEFTARG = objectid, RESTRICT = eqsel)" >"$work/bad.sql"
if names "$work/bad.sql" >/dev/null; then die "sql_names.awk does not see an estimator without its schema"; fi

cd "$REPO"
find sql src -name "*.sql" -print -o -name "*.rs" -print | sort | xargs awk -f "$TOOLS/sql_names.awk" || die "name these with their schema, and cast both sides to exact types"
