#!/usr/bin/env bash
# test_all.sh: the tests against every supported major version, and a summary.
# In full on the newest, in the short form on the others.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# All servers first, so that a missing one fails before any test runs.
for major in $MAJORS; do "$TOOLS/postgres.sh" "$major" >/dev/null; done

summary=()
rc=0
for major in $MAJORS; do
    short=1
    [ "$major" != "${MAJORS##* }" ] || short=${SHORT:-}
    say "== PostgreSQL $major${short:+, short}"
    out=$(SHORT=$short "$TOOLS/test.sh" "$major") && result=ok || { result=FAILED; rc=1; }
    export CORE_TESTED=1
    printf '%s\n' "$out"
    line=$(sed -n "s/^PostgreSQL $major: //p" <<<"$out")
    summary+=("$major|$result|${line:-stopped before the end}${short:+ (short)}")
done

printf '\n%-12s%-10s%s\n' PostgreSQL result tests
for line in "${summary[@]}"; do
    IFS='|' read -r major result tests <<<"$line"
    printf '%-12s%-10s%s\n' "$major" "$result" "$tests"
done
exit "$rc"
