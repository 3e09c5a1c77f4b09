#!/usr/bin/env bash
# regress.sh [--accept] PG_CONFIG [TEST...]: runs pg_test/sql/TEST.sql (default:
# all, in alphabetical order) by pg_regress on a fresh private server and compares
# with pg_test/expected. --accept takes what came out as expected.
#
# The files are copied to the cache: the checkout may lie where the user that the
# server runs as cannot read.
set -euo pipefail
. "$(dirname "$0")/common.sh"

accept=
if [ "${1:-}" = --accept ]; then accept=1; shift; fi
pg_config=${1:-}
[ -x "$pg_config" ] || die "usage: regress.sh [--accept] PG_CONFIG [TEST...]"
shift
tests=("$@")
if [ ${#tests[@]} = 0 ]; then
    for file in "$REPO"/pg_test/sql/*.sql; do
        [ -e "$file" ] && tests+=("$(basename "$file" .sql)")
    done
fi
if [ ${#tests[@]} = 0 ]; then say "no tests in pg_test/sql yet"; exit 0; fi

work=$(mktemp -d "$CACHE/regress.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/sql" "$work/expected"
cp "$REPO"/pg_test/sql/*.sql "$work/sql/"
for test in "${tests[@]}"; do
    [ -e "$work/sql/$test.sql" ] || die "there is no pg_test/sql/$test.sql"
    cp "$REPO/pg_test/expected/$test"*.out "$work/expected/" 2>/dev/null ||
        : >"$work/expected/$test.out"    # a new test: all of its output is a difference
done
echo "fsync = off" >"$work/settings"
if [ "$(id -u)" = 0 ]; then chown -R postgres: "$work"; fi

cd "$work"
rc=0
as_server_user "$(dirname "$("$pg_config" --pgxs)")/../test/regress/pg_regress" \
    --bindir="$("$pg_config" --bindir)" --inputdir="$work" --outputdir="$work" \
    --temp-instance="$work/server" --temp-config="$work/settings" \
    --encoding=UTF8 --no-locale "${tests[@]}" || rc=$?

if [ -n "$accept" ]; then
    for test in "${tests[@]}"; do cp "$work/results/$test.out" "$REPO/pg_test/expected/"; done
    echo "accepted into pg_test/expected: ${tests[*]}"
elif [ "$rc" != 0 ]; then
    if [ -s "$work/regression.diffs" ]; then cat "$work/regression.diffs"; else tail -n 50 "$work"/log/*.log; fi
    exit "$rc"
fi
