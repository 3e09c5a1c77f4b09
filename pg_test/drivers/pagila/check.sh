# A schema that was written for other ends, with keys of type bigint: its rentals and its inventory are converted and
# restored while they are in use.
rows=100000
export PGDATABASE=${program}_shop
database "$PGDATABASE"
sql 'CREATE EXTENSION pg_mint'
sed 's/_id integer/_id bigint/' schema.sql >bigint.sql
point "create" "$bin/psql" -qX -v ON_ERROR_STOP=1 -f bigint.sql

fill() {
    "$bin/psql" -qX -v ON_ERROR_STOP=1 <<END
INSERT INTO language (name) SELECT 'language ' || n FROM generate_series(1, 6) AS n;
INSERT INTO film (title, language_id) SELECT 'film ' || n, 1 + n % 6 FROM generate_series(1, 1000) AS n;
INSERT INTO country (country) VALUES ('Elbonia');
INSERT INTO city (city, country_id) VALUES ('Mudville', 1);
INSERT INTO address (address, district, city_id, phone) SELECT n || ' Main Street', 'Center', 1, '' FROM generate_series(1, 100) AS n;
INSERT INTO store (manager_staff_id, address_id) VALUES (1, 1), (2, 2);
INSERT INTO staff (first_name, last_name, address_id, store_id, username) VALUES ('A', 'B', 3, 1, 'a'), ('C', 'D', 4, 2, 'c');
INSERT INTO customer (store_id, first_name, last_name, address_id) SELECT 1 + n % 2, 'E', 'F' || n, 5 + n % 90 FROM generate_series(1, 1000) AS n;
INSERT INTO inventory (film_id, store_id) SELECT 1 + n % 1000, 1 + n % 2 FROM generate_series(1, $rows / 10) AS n;
INSERT INTO rental (rental_date, return_date, inventory_id, customer_id, staff_id)
SELECT '2022-01-01'::timestamptz + n * interval '1 second', '2022-06-01', 1 + n % ($rows / 10), 1 + n % 1000, 1 + n % 2 FROM generate_series(1, $rows) AS n;
INSERT INTO payment (customer_id, staff_id, rental_id, amount, payment_date)
SELECT customer_id, staff_id, rental_id, 1, rental_date FROM rental WHERE rental_id <= 1000;
VACUUM ANALYZE;
END
}

scripts() {
    mkdir -p load
    cat >load/rent.sql <<END
\set item random(1, $rows / 10)
\set customer random(1, 1000)
INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id) VALUES (clock_timestamp(), :item, :customer, 1) RETURNING rental_id;
END
    cat >load/bring_back.sql <<END
\set rental random(1, $rows)
UPDATE rental SET return_date = now() WHERE rental_id = :rental;
END
    cat >load/look.sql <<END
\set rental random(1, $rows)
SELECT r.rental_date, r.uuid, f.title FROM rental AS r JOIN inventory AS i USING (inventory_id) JOIN film AS f USING (film_id) WHERE r.rental_id = :rental;
END
    cat >load/buy.sql <<END
\set film random(1, 1000)
BEGIN;
INSERT INTO inventory (film_id, store_id) VALUES (:film, 1) RETURNING inventory_id AS item \gset
INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id) VALUES (clock_timestamp(), :item, 1, 1);
END;
END
}

# One program that is always at work: it connects again every SECONDS, as pools do.
client() {    # SECONDS
    local number=0
    while [ ! -e load/stop ]; do
        number=$((number + 1))
        "$bin/pgbench" -n -M prepared -c 4 -T "$1" -R 100 -l --log-prefix="load/log.$1.$number" \
            $(printf -- ' -f %s' load/*.sql) >>"load/said.$1" 2>&1 || { grep -m 3 'error:' "load/said.$1"; return 1; }
    done
}

# under_load MILLISECONDS COMMAND...: runs a command while two programs use the tables. Fails where the command does, a
# statement fails, or a transaction takes longer.
under_load() {
    local most=$1 rc=0 first second
    shift
    rm -rf load && scripts
    client 5 & first=$!
    client 3 & second=$!
    sleep 1
    "$@" || rc=$?
    sleep 1
    touch load/stop
    wait "$first" || rc=1
    wait "$second" || rc=1
    # The time of a transaction, less that for which it was late already when it began.
    awk -v scripts="$(cd load && echo *.sql)" '
        { took = $3 - $7; if (took > longest) { longest = took; which = $4 + 1 }; count++ }
        END { split(scripts, name); printf "%d transactions, the longest %d ms, %s\n", count, longest / 1000, name[which] }' load/log.* >figure
    [ "$rc" = 0 ] && awk -v most="$most" '{ if ($1 < 50 || $5 >= most) { print; exit 1 } }' figure
}

schema() { "$bin/pg_dump" --schema-only "$@" | grep -v '^\\'; }
same_schema() { schema | diff "$1" -; }

# Writes the statements of each column into files there.NUMBER and back.NUMBER.
columns=("'rental', 'rental_id', 'snowflake_next_id(5)'" "'rental', 'uuid', 'uuid_v7()'" "'inventory', 'inventory_id', 'snowflake_next_id(5)'"
    "'payment', 'payment_id', 'snowflake_next_id(5)'")
plan() {
    local number direction
    for number in "${!columns[@]}"; do
        for direction in there back; do
            "$bin/psql" -qXAt -v ON_ERROR_STOP=1 -o "$direction.$number" \
                -c "SELECT command || ';' FROM mint.convert_plan(${columns[number]}) WHERE direction = '$direction'" || return
        done
    done
}
# run DIRECTION: those of all columns. A lock that is not obtained in half a second changes nothing.
run() {
    local file tries
    for file in "$1".*; do
        for ((tries = 1; ; tries++)); do
            if "$bin/psql" -qX1 -v ON_ERROR_STOP=1 -f "$file"; then break; fi
            [ "$tries" -lt 20 ] || return 1
            sleep 0.2
        done
    done
}

# A dump, restored into another database, is dumped as the same.
restored() {
    local here=$PGDATABASE
    schema >converted
    "$bin/pg_dump" -Fc -f dump
    database "${here}_copy"
    "$bin/pg_restore" -d "${here}_copy" dump
    PGDATABASE=${here}_copy same_schema converted
}
# newest CONDITION: rows that are inserted now fulfill it.
newest() {
    "$bin/psql" -qXAt -c "WITH i AS (INSERT INTO inventory (film_id, store_id) VALUES (1, 1) RETURNING inventory_id)
        INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id) SELECT now(), inventory_id, 1, 1 FROM i RETURNING $1" | grep -x t
}
of_mint="inventory_id > 1000000000000 AND rental_id > 1000000000000 AND uuid_version_of(uuid) = 7"
of_before="inventory_id < 1000000 AND rental_id < 1000000 AND uuid_version_of(uuid) = 4"

point "$rows rentals" fill
schema >before
point "plans" plan
point "there under load, no transaction takes 1 s" under_load 1000 run there
point "new rows have the new ids" newest "$of_mint"
point "a dump, restored, is dumped as the same" restored
point "back under load, no transaction takes 1 s" under_load 1000 run back
point "the schema is that of before" same_schema before
point "ids of before continue" newest "$of_before"
PGDATABASE=${PGDATABASE}_copy
point "back in the copy" run back
point "the schema of the copy is that of before" same_schema before
point "ids of before continue in the copy" newest "$of_before"
