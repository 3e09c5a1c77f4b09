#!/usr/bin/env bash
# test_all.sh, on Debian: the tests against every supported major version, and a summary with the seconds of each. On the
# oldest all but the longest stories, on the newest those that depend on the version, on those between pg_regress,
# crashes, recovery and upgrade: the forms of test.sh. FULL=1 runs all in their long form on each, and arm64.sh.
# A version that cannot be had here is skipped, which is no failure.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# All servers first, so that a missing one fails before any test runs.
summary=()
skipped=()
here=()
for major in $MAJORS; do
    rc=0
    "$TOOLS/postgres.sh" "$major" >/dev/null || rc=$?
    case $rc in
        0) here+=("$major") ;;
        "$CANNOT_BE_HAD") skipped+=("$major|skipped|cannot be had here") ;;
        *) exit "$rc" ;;
    esac
done

rc=0
for major in "${here[@]}"; do
    stories=few
    if [ -n "${FULL:-}" ]; then
        stories=
    elif [ "$major" = "${here[0]}" ]; then
        stories=most
    elif [ "$major" = "${here[-1]}" ]; then
        stories=some
    fi
    say "== PostgreSQL $major${stories:+, $stories stories}"
    out=$(STORIES=$stories "$TOOLS/test.sh" "$major") && result=ok || { result=FAILED; rc=1; }
    export CORE_TESTED=1
    printf '%s\n' "$out"
    line=$(sed -n "s/^PostgreSQL $major: //p" <<<"$out")
    summary+=("$major|$result|${line:-stopped before the end}${stories:+ ($stories stories)}")
done

if [ -n "${FULL:-}" ] && [ "$(uname -m)" != aarch64 ]; then
    "$TOOLS/arm64.sh" && result=ok || { result=FAILED; rc=1; }
    summary+=("arm64|$result|by an emulator")
fi

printf '\n%-12s%-10s%s\n' PostgreSQL result tests
for line in "${summary[@]}" "${skipped[@]}"; do
    IFS='|' read -r major result tests <<<"$line"
    printf '%-12s%-10s%s\n' "$major" "$result" "$tests"
done
exit "$rc"
