#!/usr/bin/env bash
# regress.sh [--isolation] [--accept] PG_CONFIG [TEST...]: runs pg_test/sql/TEST.sql
# (default: all, in alphabetical order) by pg_regress on a fresh private server and
# compares with pg_test/expected. --accept makes the output the expected one.
# --isolation: see isolation.sh.
#
# The files are copied to the cache, as the server's user may not be able to read
# the checkout.
set -euo pipefail
. "$(dirname "$0")/common.sh"

from=$REPO/pg_test
inputs=sql
suffix=sql
program=regress/pg_regress
options=(--dbname=contrib_regression)    # the name that PGXS uses
if [ "${1:-}" = --isolation ]; then
    shift
    from=$REPO/pg_test/isolation
    inputs=specs
    suffix=spec
    program=isolation/pg_isolation_regress
    options=(--load-extension=pg_mint)
fi
accept=
if [ "${1:-}" = --accept ]; then accept=1; shift; fi
pg_config=${1:-}
[ -x "$pg_config" ] || die "usage: $(basename "$0") [--isolation] [--accept] PG_CONFIG [TEST...]"
shift
program=$(dirname "$("$pg_config" --pgxs)")/../test/$program
if [ ! -x "$program" ]; then
    say "pg_mint: SKIPPED, because this PostgreSQL lacks it: $program"
    exit 0
fi
tests=("$@")
if [ ${#tests[@]} = 0 ]; then
    for file in "$from/$inputs"/*."$suffix"; do
        [ -e "$file" ] && tests+=("$(basename "$file" ".$suffix")")
    done
fi
if [ ${#tests[@]} = 0 ]; then say "no tests in $from/$inputs yet"; exit 0; fi

work=$(mktemp -d "$CACHE/regress.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/$inputs" "$work/expected"
cp "$from/$inputs"/*."$suffix" "$work/$inputs/"
if [ -d "$from/$inputs/include" ]; then cp -r "$from/$inputs/include" "$work/$inputs/"; fi
for test in "${tests[@]}"; do
    [ -e "$work/$inputs/$test.$suffix" ] || die "there is no $from/$inputs/$test.$suffix"
    cp "$from/expected/$test"*.out "$work/expected/" 2>/dev/null ||
        : >"$work/expected/$test.out"    # a new test: all of its output is a difference
done
printf '%s\n' "fsync = off" "max_prepared_transactions = 5" >"$work/settings"
if [ "$(id -u)" = 0 ]; then chown -R postgres: "$work"; fi

cd "$work"
rc=0
as_server_user "$program" "${options[@]}" \
    --bindir="$("$pg_config" --bindir)" --inputdir="$work" --outputdir="$work" \
    --temp-instance="$work/server" --temp-config="$work/settings" \
    --encoding=UTF8 --no-locale "${tests[@]}" || rc=$?

if [ -n "$accept" ]; then
    for test in "${tests[@]}"; do cp "$work/results/$test.out" "$from/expected/"; done
    echo "accepted into $from/expected: ${tests[*]}"
elif [ "$rc" != 0 ]; then
    if [ -s "$work/regression.diffs" ]; then cat "$work/regression.diffs"; else tail -n 50 "$work"/log/*.log; fi
    exit "$rc"
fi
