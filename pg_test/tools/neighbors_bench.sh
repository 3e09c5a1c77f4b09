# Sourced by neighbors.sh with BENCH=1: the last day of a year in a hypertable of daily chunks, by the time of the id, and by
# a range that is written out. ROWS is the number of rows, ROUNDS how often each form is measured. Prints
# bench/results/timescaledb.md, and writes it unless the run is smaller.
. "$TOOLS/time_forms.sh"
ROWS=${ROWS:-$FULL_ROWS}
ROUNDS=${ROUNDS:-5}
bin=$("$pg_config" --bindir)
dir=$CACHE/neighbors_bench$major
# Table, settings, condition.
FORMS=(
    "of_snowflake|SET pg_mint.time_predicates = off|snowflake_time(id) >= '2025-12-31' AND snowflake_time(id) < '2026-01-01'"
    "of_snowflake|SET pg_mint.time_predicates = on|snowflake_time(id) >= '2025-12-31' AND snowflake_time(id) < '2026-01-01'"
    "of_snowflake|SET pg_mint.time_predicates = off|id >= snowflake_min('2025-12-31') AND id < snowflake_min('2026-01-01')"
    "of_uuid|SET pg_mint.time_predicates = off|uuid_timestamp(id) >= '2025-12-31' AND uuid_timestamp(id) < '2026-01-01'"
    "of_uuid|SET pg_mint.time_predicates = on|uuid_v7_time(id) >= '2025-12-31' AND uuid_v7_time(id) < '2026-01-01'"
    "of_uuid|SET pg_mint.time_predicates = off|id >= to_uuidv7_boundary('2025-12-31') AND id < to_uuidv7_boundary('2026-01-01')"
)

sql() { "$bin/psql" -qAtX -v ON_ERROR_STOP=1 -h "$dir" -U postgres -d postgres "$@"; }
forms_sql() { sql "$@"; }
restart_servers() { as_server_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -m fast -w restart; }
stop_bench() { as_server_user "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true; }

start_bench() {
    server_dir "$dir"
    as_server_user "$bin/initdb" -D "$dir/data" -U postgres -E UTF8 --no-locale --no-sync --auth=trust
    as_server_user tee -a "$dir/data/postgresql.conf" >/dev/null <<END
listen_addresses = ''
unix_socket_directories = '$dir'
shared_preload_libraries = 'timescaledb, pg_mint'
timescaledb.telemetry_level = off
shared_buffers = 1GB
max_wal_size = 8GB
fsync = off
timezone = 'UTC'
max_parallel_workers_per_gather = 0
END
    as_server_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start
    sql -c 'CREATE EXTENSION timescaledb' -c 'CREATE EXTENSION pg_mint'
}

# A year of rows in each of two hypertables.
fill() {
    local at="timestamptz '2025-01-01' + interval '365 days' * (n / $ROWS.0)"
    sql -c "CREATE TABLE of_snowflake (id bigint PRIMARY KEY, amount float8)" \
        -c "SELECT create_hypertable('of_snowflake', by_range('id', snowflake_span('1 day')))" \
        -c "INSERT INTO of_snowflake SELECT snowflake_encode($at, (n % 8)::int, n % 1024), n FROM generate_series(0, $ROWS - 1) AS n" \
        -c "CREATE TABLE of_uuid (id uuid PRIMARY KEY, amount float8)" \
        -c "SELECT create_hypertable('of_uuid', by_range('id', interval '1 day'))" \
        -c "INSERT INTO of_uuid SELECT uuid_v7($at), n FROM generate_series(0, $ROWS - 1) AS n" \
        -c 'VACUUM ANALYZE'
}

# Milliseconds of a form, the median of the rounds of one session, whose first statement fills its caches.
measure() {
    local table setting condition round
    IFS='|' read -r table setting condition <<<"$1"
    {
        printf '%s;\n\\timing on\n' "$setting"
        for ((round = 0; round <= ROUNDS; round++)); do
            printf 'SELECT sum(amount), count(*) FROM %s WHERE %s;\n' "$table" "$condition"
        done
    } | sql | awk '/^Time:/ && n++ { print $2 }' | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# The rows of a form, which are to be those of the others of its table.
found() {
    local table setting condition
    IFS='|' read -r table setting condition <<<"$1"
    sql -c "$setting" -c "SELECT count(*), sum(amount) FROM $table WHERE $condition"
}

bench() {
    local place
    cat <<END
# The last day of a year in a hypertable

Made by \`make neighbors BENCH=1\`: milliseconds of \`SELECT sum(amount), count(*)\` of the last of 365 days in a hypertable of
$ROWS rows with chunks of a day, with its planning. Warm: the median of $ROUNDS rounds of a session with full caches. Cold: of
$COLD_ROUNDS first queries after a start of the server and with no file in the operating system's cache, with the catalogs read.

- Server: $("$bin/postgres" --version), TimescaleDB $(sql -c "SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'") (Apache license)
- Machine: $(nproc) cores, $(uname -sr)
- Commit: $(git -C "$REPO" rev-parse --short HEAD)

$HEAD_OF_FORMS
END
    for ((place = 0; place < ${#FORMS[@]}; place += 3)); do rows_of_forms "${FORMS[@]:place:3}"; done
}

chmod 755 "$CACHE"
trap stop_bench EXIT
step "starting a server" "neighbors_bench_start$major" start_bench
step "filling hypertables with $ROWS rows" "neighbors_bench_fill$major" fill
for ((place = 0; place < ${#FORMS[@]}; place += 3)); do check_forms "${FORMS[@]:place:3}"; done
bench >"$dir/results"
cat "$dir/results"
[ "$ROWS" != "$FULL_ROWS" ] || cp "$dir/results" "$REPO/bench/results/timescaledb.md"
