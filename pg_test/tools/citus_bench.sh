# Sourced by citus.sh with BENCH: rows a second of inserts on the cluster, with three kinds of keys in turn in one run, and
# the last day of a year by the time of the id. ROWS is how many rows a statement inserts, YEAR_ROWS how many the year has,
# ROUNDS how often each is measured. Prints bench/results/citus.md.
. "$TOOLS/time_forms.sh"
YEAR_ROWS=${YEAR_ROWS:-$FULL_ROWS}
ROWS=${ROWS:-200000}
ROUNDS=${ROUNDS:-3}
KINDS="bigserial uuid_v7 snowflake"
WAYS="select copy single"

key_of() {
    case $1 in
        bigserial) echo "bigserial" ;;
        uuid_v7) echo "uuid NOT NULL DEFAULT uuid_v7()" ;;
        snowflake) echo "bigint NOT NULL DEFAULT snowflake_next('twitter')" ;;
    esac
}

# Prints milliseconds of a command.
timed() {
    local began=${EPOCHREALTIME/./}
    "$@" >/dev/null
    echo $(( (${EPOCHREALTIME/./} - began) / 1000 ))
}

# Rows a second of one way with one kind.
measure() {
    local way=$1 kind=$2 ms
    sql_on 0 -c "TRUNCATE of_$kind" -c CHECKPOINT >/dev/null
    case $way in
        select) ms=$(timed sql_on 0 -c "INSERT INTO of_$kind (tenant) SELECT author FROM source") ;;
        copy) ms=$(timed sql_on 0 -c "\\copy of_$kind (tenant) FROM '$dir/rows'") ;;
        single)
            "$bin/pgbench" -n -h "$(node_dir 0)" -p 5432 -U postgres -c 4 -j 1 -T "${SECONDS_OF_SINGLE:-8}" \
                -f "$dir/single_$kind.sql" postgres | awk '/^tps/ { printf "%d\n", $3 }'
            return ;;
    esac
    echo $((ROWS * 1000 / ms))
}

bench_inserts() {
    local kind way round
    sql_on 0 -c 'CREATE EXTENSION pg_mint' -c 'CREATE TABLE source (author bigint PRIMARY KEY)' \
        -c "SELECT create_distributed_table('source', 'author')" \
        -c "INSERT INTO source SELECT n FROM generate_series(1, $ROWS) AS n" >/dev/null
    seq "$ROWS" >"$dir/rows"
    for kind in $KINDS; do
        sql_on 0 -c "CREATE TABLE of_$kind (id $(key_of "$kind"), tenant bigint NOT NULL, PRIMARY KEY (tenant, id))" \
            -c "SELECT create_distributed_table('of_$kind', 'tenant')" >/dev/null
        printf '\\set tenant random(1, 1000000)\nINSERT INTO of_%s (tenant) VALUES (:tenant);\n' "$kind" >"$dir/single_$kind.sql"
    done
    : >"$dir/measured"
    for ((round = 0; round < ROUNDS; round++)); do
        for way in $WAYS; do
            for kind in $KINDS; do echo "$way $kind $(measure "$way" "$kind")" >>"$dir/measured"; done
        done
    done
    print_results
}

# Microseconds of planning a query, in a session that has loaded pg_mint or has not: of the tenth that took least, which
# other programs have not disturbed. Without the plans of workers, which are planned as on one server.
plan_time() {
    local library=$1 query=$2
    sql_on 0 -At -c "LOAD '$library'" -c "SET citus.explain_distributed_queries = off" -c "DO \$\$
        DECLARE plan json; times float8[] := '{}';
        BEGIN
            FOR n IN 1..${PLANS:-4000} LOOP
                EXECUTE 'EXPLAIN (FORMAT json, SUMMARY) $query' INTO plan;
                times[n] := (plan->0->>'Planning Time')::float8 * 1000;
            END LOOP;
            PERFORM set_config('bench.time', percentile_disc(0.1) WITHIN GROUP (ORDER BY time)::text, false) FROM unnest(times) AS time;
        END \$\$" -c "SHOW bench.time"
}

QUERIES=(
    "SELECT * FROM of_snowflake WHERE tenant = 7"
    "SELECT count(*) FROM of_snowflake WHERE id > 5"
    "SELECT count(*) FROM of_snowflake AS a JOIN of_bigserial AS b USING (tenant) WHERE a.id > 5"
)

# Measures the planning of each query by turns, and prints the medians and the median of the ratios.
bench_planning() {
    local query round without with
    for query in "${QUERIES[@]}"; do
        : >"$dir/planned"
        for ((round = 0; round < ${PLAN_ROUNDS:-9}; round++)); do
            # citus is loaded already.
            if ((round % 2)); then
                with=$(plan_time pg_mint "$query"); without=$(plan_time citus "$query")
            else
                without=$(plan_time citus "$query"); with=$(plan_time pg_mint "$query")
            fi
            echo "$without $with" >>"$dir/planned"
        done
        printf '| `%s` | %.1f | %.1f | %+.1f %% |\n' "$query" \
            "$(awk '{ print $1 }' "$dir/planned" | median)" "$(awk '{ print $2 }' "$dir/planned" | median)" \
            "$(awk '{ print ($2 / $1 - 1) * 100 }' "$dir/planned" | median)"
    done
}

print_results() {
    local kind way
    cat <<END
# Inserts on a Citus cluster

Made by \`make citus BENCH=1\`. A coordinator and three workers share one machine, so the figures are to be compared with
each other only.

- Server: $("$bin/postgres" --version), Citus $(sql_on 0 -Atc "SELECT extversion FROM pg_extension WHERE extname = 'citus'")
- Machine: $(nproc) cores, $(uname -sr)
- Commit: $(git -C "$REPO" rev-parse --short HEAD)

Rows a second, the median of $ROUNDS rounds: \`INSERT ... SELECT\` of $ROWS rows from a distributed table, \`COPY\` of $ROWS
rows, and single inserts by 4 clients of the coordinator. The key is (tenant, id), the table is distributed by the tenant.

| key | INSERT ... SELECT | COPY | single inserts |
| --- | ---: | ---: | ---: |
END
    for kind in $KINDS; do
        printf '| %s |' "$kind"
        for way in $WAYS; do printf ' %s |' "$(awk -v way="$way" -v kind="$kind" '$1 == way && $2 == kind { print $3 }' "$dir/measured" | median)"; done
        echo
    done
    cat <<END

Planning on the coordinator, in microseconds, in a session without pg_mint and in one that has loaded it, by turns: of the
tenth of the plans that took least.

| query | without | with | median of the ratios |
| --- | ---: | ---: | ---: |
END
    bench_planning
}

FORMS=(
    "year|SET pg_mint.time_predicates = on|snowflake_time(id) >= '2025-12-31' AND snowflake_time(id) < '2026-01-01'"
    "year|SET pg_mint.time_predicates = on|id >= snowflake_min('2025-12-31') AND id < snowflake_min('2026-01-01')"
)
forms_sql() { sql_on 0 -At "$@"; }
restart_servers() {
    local node
    for node in 0 $WORKERS; do as_server_user "$bin/pg_ctl" -D "$(node_dir "$node")/data" -l "$(node_dir "$node")/log" -m fast -w restart; done
}

# A year of rows in a distributed table, whose shards have an index that begins with the id.
bench_year() {
    local at="timestamptz '2025-01-01' + interval '365 days' * (n / $YEAR_ROWS.0)"
    sql_on 0 -c "CREATE TABLE year (id bigint, tenant bigint, amount float8, PRIMARY KEY (id, tenant))" \
        -c "SELECT create_distributed_table('year', 'tenant')" \
        -c "INSERT INTO year SELECT snowflake_encode($at, (n % 8)::int, n % 1024), n % 1000, n FROM generate_series(0, $YEAR_ROWS - 1) AS n" \
        -c 'VACUUM ANALYZE year' >/dev/null
    check_forms "${FORMS[@]}"
    cat <<END

The last day of a year: milliseconds of \`SELECT sum(amount), count(*)\` of the last of 365 days in a distributed table of
$YEAR_ROWS rows. Warm: the median of $ROUNDS rounds of a session with full caches. Cold: of $COLD_ROUNDS first queries after a
start of all servers and with no file in the operating system's cache, with the coordinator's catalogs read.

$HEAD_OF_FORMS
END
    rows_of_forms "${FORMS[@]}"
}
