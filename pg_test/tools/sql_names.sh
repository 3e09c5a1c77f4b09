#!/usr/bin/env bash
# sql_names.sh: checks that SQL which runs outside of src/pg/catalog, and so in any search path, does not depend on it,
# after checking that it would find that.
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
# All but this statement of the file runs in this server.
sed -n '/^const HOME/,/";$/p' src/pg/worker/dblink.rs >"$work/home.rs"
[ -s "$work/home.rs" ] || die "src/pg/worker/dblink.rs has no HOME"
# From the last chapter on, names bind in the server's own schema while the script runs; those of PL/pgSQL bind at each call.
cut='^SET LOCAL search_path = pg_catalog, pg_temp;$'
sed "/$cut/,\$d" sql/pg_mint--*.sql >"$work/script.sql"
sed "1,/$cut/d" sql/pg_mint--*.sql | sed -n '/LANGUAGE plpgsql AS/,/^\$mint\$;/p' >"$work/plpgsql.sql"
grep -q EXECUTE "$work/plpgsql.sql" || die "the install script has no procedure in PL/pgSQL behind its search_path"
elsewhere=(
    "$work/script.sql" "$work/plpgsql.sql"    # not sql/compat: a user runs it, and its functions call those of the extension
    "$work/home.rs" src/registry/member/request.rs src/counter/segment/supply.rs    # at another server
)
# From PostgreSQL 18 on, a session's own zone can have an abbreviation UTC, which would change functions that are IMMUTABLE.
zones() { if grep -nriE "(time zone|timezone\() *'(utc|gmt|z)'" "$@"; then return 1; fi; }
for text in "SELECT at AT TIME ZONE 'UTC'" "SELECT pg_catalog.timezone('GMT', at)"; do
    printf '%s;\n' "$text" >"$work/bad.sql"
    if zones "$work/bad.sql" >/dev/null; then die "sql_names.sh does not see the name of the zone in: $text"; fi
done
zones sql docs README.md || die "write AT TIME ZONE interval '0'"
# A type in DECLARE is looked up in the search path of whoever calls, record too.
types() {
    awk '/^ *DECLARE *$/ { inside = starts = 1; next } /^ *BEGIN *$/ { inside = 0 }
        inside {
            count = split($0, parts, ";")
            for (i = 1; i <= count; i++) {
                if ((starts || i > 1) && split(parts[i], words, " ") > 1 && words[1] != "--" && words[2] !~ /[.]/) {
                    print FILENAME ": type without its schema: " words[1] " " words[2]; bad = 1
                }
            }
            starts = parts[count] ~ /^ *$/
        }
        END { exit bad }' "$@"
}
printf 'DECLARE\n    a pg_catalog.text := (\n        SELECT b\n    ); step record;\nBEGIN\n' >"$work/bad.sql"
if types "$work/bad.sql" >/dev/null; then die "sql_names.sh does not see a type without its schema"; fi
types sql/pg_mint--*.sql || die "name these types with their schema"
names "${elsewhere[@]}" || die "name these with their schema, and cast both sides to exact types"
