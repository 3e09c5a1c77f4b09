#!/usr/bin/env bash
# times.sh LOG...: the seconds of stories and of files of pg_regress in these logs: the sum for each module, which is
# the first two parts of the names, and the twenty longest. Stories run side by side, so the sums are more than the time
# of the run.
set -euo pipefail

# A line for each, "SECONDS NAME", of what turn.rs says, and of what pg_regress says: that of 15, and TAP since 16.
each() {
    awk 'match($0, /\[ *[0-9.]+ s(, alone)?\] [a-z][a-z0-9_:]*$/) { sub(/.*\[ */, ""); print $1, $NF }
         /^test .* \.\.\. .* [0-9]+ ms/ { sub(/ ms.*/, ""); print $NF / 1000, "pg_regress::" $2 }
         /^(not )?ok [0-9]+ .* [0-9]+ ms/ {
             sub(/ ms.*/, ""); sub(/.* [-+] /, ""); print $NF / 1000, "pg_regress::" $1
         }' "$@"
}

# by NAME: the sums of the lines by an expression of the parts of their names, the largest first.
by() {
    awk "{ parts = split(\$2, part, \"::\"); sum[$1] += \$1 }"'
         END { for (name in sum) printf "%7.1f  %s\n", sum[name], name }' | LC_ALL=C sort -k1,1nr -k2
}

three_in_a_line() {
    awk '{ printf NR % 3 ? "%7.1f  %-34s" : "%7.1f  %s\n", $1, $2 } END { if (NR % 3) print "" }'
}

times=$(each "$@")
[ -n "$times" ] || exit 0
echo "seconds by module:"
by '(parts > 2 ? part[1] "::" part[2] : part[1])' <<<"$times" | three_in_a_line
echo "seconds of the longest:"
by '$2' <<<"$times" | awk 'NR <= 20'
