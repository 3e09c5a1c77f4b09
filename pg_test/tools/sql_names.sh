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
bad_definitions=(
    "CREATE OPERATOR = (LEFTARG = objectid, RESTRICT = eqsel)"
    "CREATE OPERATOR = (LEFTARG = objectid, FUNCTION = objectid_eq)"
    "CREATE OPERATOR CLASS c DEFAULT FOR TYPE objectid USING hash AS FUNCTION 1 objectid_hash(objectid)"
    "CREATE AGGREGATE min(objectid) (SFUNC = objectid_smaller, STYPE = objectid)"
    "CREATE TYPE objectid (INPUT = objectid_in)"
    "CREATE CAST (bytea AS objectid) WITH FUNCTION objectid_from_bytea(bytea)"
    "DO \$m\$ BEGIN IF 1 = 2 THEN RAISE EXCEPTION 'x' USING HINT = 'y'"
    "DO \$m\$ BEGIN SELECT oid INTO o FROM pg_class"
)
for text in "${bad_definitions[@]}"; do
    printf '%s;\n' "$text" >"$work/bad.sql"
    if names "$work/bad.sql" >/dev/null; then die "sql_names.awk does not see what is wrong with: $text"; fi
done

cd "$REPO"
# The install script has nothing but these, and what pgrx makes. Those of sql/compat are run by a user, with that user's
# rights and search path.
find sql src -name "pg_mint--*" -prune -o -path sql/compat -prune -o -name "*.sql" -print -o -name "*.rs" -print | sort | xargs awk -f "$TOOLS/sql_names.awk" || die "name these with their schema, and cast both sides to exact types"
