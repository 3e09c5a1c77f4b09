# Sourced by neighbors_bench.sh and citus_bench.sh: milliseconds of queries of a day, each a form "TABLE|SETTING|CONDITION",
# with warm and with cold caches. They provide `forms_sql`, which runs psql, and `restart_servers`.
FULL_ROWS=25000000
COLD_ROUNDS=${COLD_ROUNDS:-3}

median() { sort -g | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
query_of() { printf 'SELECT sum(amount), count(*) FROM %s WHERE %s' "${1%%|*}" "${1##*|}"; }
setting_of() { local rest=${1#*|}; printf '%s' "${rest%%|*}"; }

# The median of the rounds of one session, whose first statement fills its caches.
warm() {
    local round
    {
        printf '%s;\n\\timing on\n' "$(setting_of "$1")"
        for ((round = 0; round <= ${ROUNDS:-5}; round++)); do printf '%s;\n' "$(query_of "$1")"; done
    } | forms_sql | awk '/^Time:/ && n++ { print $2 }' | median
}

# The median of first queries after a start of the servers, with nothing in the operating system's cache where that can be
# emptied. Catalogs are read before, as they are not what is measured.
cold() {
    local round
    for ((round = 0; round < COLD_ROUNDS; round++)); do
        restart_servers >/dev/null
        sync
        { echo 3 >/proc/sys/vm/drop_caches; } 2>/dev/null || true
        printf '%s;\nEXPLAIN %s;\n\\timing on\n%s;\n' "$(setting_of "$1")" "$(query_of "$1")" "$(query_of "$1")" |
            forms_sql | awk '/^Time:/ { print $2 }'
    done | median
}

# Prints a row for each form of a table: those before the last one beside the last one, which is written by hand.
rows_of_forms() {
    local form hand warm_hand cold_hand ms_warm ms_cold
    hand=${!#}
    warm_hand=$(warm "$hand")
    cold_hand=$(cold "$hand")
    for form in "$@"; do
        if [ "$form" = "$hand" ]; then
            ms_warm=$warm_hand ms_cold=$cold_hand
        else
            ms_warm=$(warm "$form") ms_cold=$(cold "$form")
        fi
        printf '| %s | `%s` | %s | %s | %s | %s | %s |\n' "$(sed 's/^of_//; s/|.*//' <<<"$form")" "${form##*|}" \
            "$(sed 's/.* //' <<<"$(setting_of "$form")")" "$ms_warm" "$(of "$ms_warm" "$warm_hand")" "$ms_cold" "$(of "$ms_cold" "$cold_hand")"
    done
}
of() { awk -v one="$1" -v other="$2" 'BEGIN { printf "%.2f", one / other }'; }

HEAD_OF_FORMS="| Table | Condition | \`pg_mint.time_predicates\` | warm, ms | of the range by hand | cold, ms | of the range by hand |
| --- | --- | --- | ---: | ---: | ---: | ---: |"

# Every form of a table finds the same rows.
check_forms() {
    local form
    [ "$(for form in "$@"; do forms_sql -c "$(setting_of "$form")" -c "$(query_of "$form")"; done | sort -u | wc -l)" = 1 ] ||
        die "forms of ${1%%|*} find different rows"
}
