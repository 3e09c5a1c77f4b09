#!/usr/bin/env bash
# test_all.sh: the tests against every supported major version, and a summary. On the
# oldest and the newest all of them, on those between a few of the stories on servers;
# where the oldest takes longer than half an hour, the newest leaves out the longest of those that
# depend least on the version. FULL=1 runs all in their long form on each. A version that cannot
# be had here is skipped, which is no failure.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# All servers first, so that a missing one fails before any test runs.
slow=
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
    stories=some
    if [ "$major" = "${here[0]}" ] || [ -n "${FULL:-}" ]; then
        stories=
    elif [ "$major" = "${here[-1]}" ]; then
        stories=${slow:+most}
    fi
    say "== PostgreSQL $major${stories:+, $stories stories}"
    began=$SECONDS
    out=$(STORIES=$stories "$TOOLS/test.sh" "$major") && result=ok || { result=FAILED; rc=1; }
    if [ "$major" = "${here[0]}" ] && [ $((SECONDS - began)) -gt 1800 ]; then slow=1; fi
    export CORE_TESTED=1
    printf '%s\n' "$out"
    line=$(sed -n "s/^PostgreSQL $major: //p" <<<"$out")
    summary+=("$major|$result|${line:-stopped before the end}${stories:+ ($stories stories)}")
done

printf '\n%-12s%-10s%s\n' PostgreSQL result tests
for line in "${summary[@]}" "${skipped[@]}"; do
    IFS='|' read -r major result tests <<<"$line"
    printf '%-12s%-10s%s\n' "$major" "$result" "$tests"
done
exit "$rc"
