# A schema that was written for other ends: its rentals and its inventory are converted while they are in use.
new_shop
point "create" "$bin/psql" -qX -v ON_ERROR_STOP=1 -f schema.sql

fill() {
    "$bin/psql" -qX -v ON_ERROR_STOP=1 <<END
INSERT INTO language (name) SELECT 'language ' || n FROM generate_series(1, 6) AS n;
INSERT INTO film (title, language_id) SELECT 'film ' || n, 1 + n % 6 FROM generate_series(1, 1000) AS n;
INSERT INTO category (name) SELECT 'category ' || n FROM generate_series(1, 16) AS n;
INSERT INTO film_category SELECT n, 1 + n % 16 FROM generate_series(1, 1000) AS n;
INSERT INTO country (country) VALUES ('Elbonia');
INSERT INTO city (city, country_id) VALUES ('Mudville', 1);
INSERT INTO address (address, district, city_id, phone) SELECT n || ' Main Street', 'Center', 1, '' FROM generate_series(1, 100) AS n;
INSERT INTO store (manager_staff_id, address_id) VALUES (1, 1), (2, 2);
INSERT INTO staff (first_name, last_name, address_id, store_id, username) VALUES ('A', 'B', 3, 1, 'a'), ('C', 'D', 4, 2, 'c');
INSERT INTO customer (store_id, first_name, last_name, address_id) SELECT 1 + n % 2, 'E', 'F' || n, 5 + n % 90 FROM generate_series(1, 1000) AS n;
INSERT INTO inventory (film_id, store_id) SELECT 1 + n % 1000, 1 + n % 2 FROM generate_series(1, $ROWS / 10) AS n;
INSERT INTO rental (rental_date, return_date, inventory_id, customer_id, staff_id)
SELECT '2022-01-01'::timestamptz + n * interval '1 second', '2022-06-01', 1 + n % ($ROWS / 10), 1 + n % 1000, 1 + n % 2 FROM generate_series(1, $ROWS) AS n;
INSERT INTO payment (customer_id, staff_id, rental_id, amount, payment_date)
SELECT customer_id, staff_id, rental_id, 1, rental_date FROM rental WHERE rental_id <= 1000;
VACUUM ANALYZE;
END
}

scripts() {
    mkdir -p load
    cat >load/rent.sql <<END
\set item random(1, $ROWS / 10)
\set customer random(1, 1000)
INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id) VALUES (clock_timestamp(), :item, :customer, 1) RETURNING rental_id;
END
    cat >load/bring_back.sql <<END
\set rental random(1, $ROWS)
UPDATE rental SET return_date = now() WHERE rental_id = :rental;
END
    cat >load/look.sql <<END
\set rental random(1, $ROWS)
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

sound() {
    local lost
    lost=$("$bin/psql" -qXAt -c "SELECT (SELECT count(*) FROM rental AS r WHERE NOT EXISTS (SELECT FROM inventory AS i WHERE i.inventory_id = r.inventory_id))
        + abs((SELECT count(*) FROM rental WHERE rental_id <= $ROWS AND rental_date < '2024-01-01') - $ROWS)")
    [ "$lost" = 0 ] || { echo "$lost rows are lost"; return 1; }
}

plan="'inventory', 'inventory_id', 'snowflake_next_id(5)'"
# notes PLAN PATTERN...: what the plan says has all of these.
notes() {
    local said pattern
    said=$("$bin/psql" -qXAt -c "SELECT note FROM mint.convert_plan($1) WHERE phase = 'check'")
    echo "$said"
    for pattern in "${@:2}"; do grep -F "$pattern" <<<"$said" || { echo "nothing of $pattern"; return 1; }; done
}

# The statements that create the materialized view again. The script creates the other views itself.
view() { "$bin/pg_dump" --schema-only -t rental_by_category | grep -v '^\\'; }
drop_view() { sql 'DROP MATERIALIZED VIEW rental_by_category'; }
create_view() { "$bin/psql" -qX -v ON_ERROR_STOP=1 -f view.sql; }

# The application's own functions, for larger ids.
widen_functions() {
    sql 'DROP FUNCTION film_in_stock, film_not_in_stock, inventory_held_by_customer, inventory_in_stock'
    { echo 'SET check_function_bodies = false;'
      sed -n '/^CREATE FUNCTION public\.\(film_\|inventory_\)/,/^ *\(END \)\?\$_\?\$;/p' schema.sql |
          sed 's/\(p_inventory_id\|p_film_count\|SETOF\) integer/\1 bigint/g'
    } | "$bin/psql" -qX -v ON_ERROR_STOP=1
}
in_stock() { [ "$("$bin/psql" -qXAt -c "SELECT count(*) > 0 FROM film_in_stock(2, 2)")" = t ]; }
cannot_say_what_is_in_stock() {
    ! sql 'SELECT film_in_stock(2, 2)' >said 2>&1 && grep 'function inventory_in_stock(bigint) does not exist' said
}

point "$ROWS rentals" fill
schema >before
point "the plan of rental names the partitioned payment" notes "'rental', 'rental_id', 'snowflake_next_id(5)'" \
    'blocker: column "rental_id" of table "payment_p2022_01"'
point "the plan of inventory names the materialized view" notes "$plan" \
    'blocker: other objects depend on column "inventory_id"' rental_by_category
view >view.sql
point "the materialized view is dropped" drop_view
point "the plan of inventory names the functions" notes "$plan" \
    'film_in_stock(integer,integer)' 'inventory_held_by_customer(integer)' 'inventory_in_stock(integer)'
point "the script up to the swap under load, no statement takes 2 s" under_load simple 2000 script "$plan" "phase NOT IN ('cleanup', 'default')"
point "the functions that it names are too narrow now" cannot_say_what_is_in_stock
point "no row is lost" sound
point "the script back under load, no statement takes 2 s" under_load simple 2000 script "'inventory', 'inventory_id', NULL" true
point "the rest of the script back" script "'inventory', 'inventory_id', NULL" true
point "the functions work as before" in_stock
point "the materialized view is created again" create_view
point "the whole script under load, no statement takes 2 s" eval 'drop_view && under_load simple 2000 script "$plan" true'
point "the materialized view is created again, and the functions for larger ids" eval 'create_view && widen_functions && in_stock'
point "uuid: mint.convert under load, no statement takes 1 s" under_load prepared 1000 \
    sql "SELECT mint.convert('rental', 'uuid', 'uuid_v7()', lock_timeout => '500 ms', retries => 20)"
point "no row is lost" sound
newest() { "$bin/psql" -qXAt -c "INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id) SELECT now(), max(inventory_id), 1, 1 FROM inventory
    RETURNING inventory_id > 1000000000000 AND uuid_version_of(uuid) = 7" | grep -x t; }
point "new rows have the new ids" newest
point "a dump, restored, is dumped as the same" restored
PGDATABASE=${PGDATABASE}_copy
point "no row is lost in the copy" sound
point "mint.convert_revert in the copy" sql "SELECT mint.convert_revert('inventory', 'inventory_id')"
point "ids of before go on in the copy" sql "INSERT INTO inventory (film_id, store_id) VALUES (1, 1)"
