# Sourced by drivers.sh, for check.sh of programs whose tables are converted while others use them.
#
# The tables of each are alike: customer has a key of type bigint, and purchase one of type integer, to which line refers.
# ROWS says how many rows customer and purchase have; line has a tenth. Times are those that pgbench has measured at its end.
ROWS=${ROWS:-100000}

# fill: the rows of all three tables.
fill() {
    "$bin/psql" -qX -v ON_ERROR_STOP=1 <<END
INSERT INTO customer (name) SELECT 'customer ' || n FROM generate_series(1, $ROWS) AS n;
INSERT INTO purchase (customer_id, note) SELECT n, 'purchase ' || n FROM generate_series(1, $ROWS) AS n;
INSERT INTO line (purchase_id, amount) SELECT n * 10, n FROM generate_series(1, $ROWS / 10) AS n;
VACUUM ANALYZE customer, purchase, line;
END
}

# What programs do with the tables: one script for each statement, and one that is a transaction.
scripts() {
    mkdir -p load
    cat >load/sign_up.sql <<<"INSERT INTO customer (name) VALUES ('new') RETURNING id;"
    cat >load/buy.sql <<END
\set n random(1, $ROWS)
INSERT INTO purchase (customer_id, note) VALUES (:n, 'new') RETURNING id;
END
    cat >load/both.sql <<END
BEGIN;
INSERT INTO customer (name) VALUES ('both') RETURNING id AS customer \gset
INSERT INTO purchase (customer_id, note) VALUES (:customer, 'both') RETURNING id AS purchase \gset
INSERT INTO line (purchase_id, amount) VALUES (:purchase, 1);
END;
END
    cat >load/change.sql <<END
\set n random(1, $ROWS)
UPDATE purchase SET note = note || '!' WHERE id = :n;
END
    cat >load/look.sql <<END
\set n random(1, $ROWS)
SELECT c.id, p.id, l.id FROM customer AS c LEFT JOIN purchase AS p ON p.customer_id = c.id LEFT JOIN line AS l ON l.purchase_id = p.id WHERE c.id = :n;
END
    cat >load/last.sql <<<"SELECT max(id) FROM customer;"
}

# One program that is always at work: it connects again every SECONDS, as pools do.
client() {    # SECONDS MODE
    local number=0
    while [ ! -e load/stop ]; do
        number=$((number + 1))
        "$bin/pgbench" -n -M "$2" -c 4 -T "$1" -R 100 -l --log-prefix="load/log.$1.$number" \
            $(printf -- ' -f %s' load/*.sql) >>"load/said.$1" 2>&1 || { grep -m 3 'error:' "load/said.$1"; return 1; }
    done
}

# under_load MODE MILLISECONDS COMMAND...: runs a command while two programs use the tables, with statements of that mode
# of pgbench's. Fails where the command does, a statement fails, or one takes longer.
under_load() {
    local mode=$1 most=$2 rc=0 first second
    shift 2
    rm -rf load && scripts
    client 5 "$mode" & first=$!
    client 3 "$mode" & second=$!
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

# script PLAN CONDITION: the commands of a plan for which the condition is true, as docs/converting.md runs them.
script() {
    "$bin/psql" -qX -v ON_ERROR_STOP=1 <<END
SET client_min_messages = warning;
SELECT command FROM mint.convert_plan($1) WHERE command IS NOT NULL AND $2 ORDER BY step \gexec
END
}

schema() { "$bin/pg_dump" --schema-only "$@" | grep -v '^\\'; }

# same_schema FILE [OPTION...]: a dump of the schema is that of the file.
same_schema() { schema "${@:2}" | diff "$1" -; }

# A new database of the program's, whose tables are converted.
new_shop() {
    export PGDATABASE=${program}_shop
    database "$PGDATABASE"
    sql 'CREATE EXTENSION pg_mint'
}

# A dump, restored into another database, is dumped as the same, and has what the revert needs.
restored() {
    local here=$PGDATABASE
    schema >converted
    "$bin/pg_dump" -Fc -f dump
    database "${here}_copy"
    "$bin/pg_restore" -d "${here}_copy" dump
    PGDATABASE=${here}_copy same_schema converted
}

# Counts of rows that the conversion must not change: none without the row that it refers to.
sound() {
    local lost
    lost=$("$bin/psql" -qXAt -c "SELECT (SELECT count(*) FROM purchase p WHERE NOT EXISTS (SELECT FROM customer c WHERE c.id = p.customer_id))
        + (SELECT count(*) FROM line l WHERE NOT EXISTS (SELECT FROM purchase p WHERE p.id = l.purchase_id))
        + abs((SELECT count(*) FROM purchase WHERE id <= $ROWS) - $ROWS)")
    [ "$lost" = 0 ] || { echo "$lost rows are lost"; return 1; }
}

# All conversions, by points. The program's migrations have made the tables; there and back are its conversion of customer.
convert_under_load() {
    point "shop: $ROWS customers and purchases" fill
    schema >before
    point "shop: mint.convert under load, no statement takes 1 s" under_load prepared 1000 there
    point "shop: mint.convert_revert under load, no statement takes 1 s" under_load prepared 1000 back
    point "shop: the schema is that of before" same_schema before
    local plan="'purchase', 'id', 'snowflake_next_id(5)'"
    point "shop: the script up to the swap under load, no statement takes 2 s" \
        under_load simple 2000 script "$plan" "phase NOT IN ('cleanup', 'default')"
    point "shop: the script back under load, no statement takes 2 s" under_load simple 2000 script "'purchase', 'id', NULL" true
    point "shop: the rest of the script back" script "'purchase', 'id', NULL" true
    point "shop: no row is lost" sound
    point "shop: the whole script under load, no statement takes 2 s" under_load simple 2000 script "$plan" true
    point "shop: mint.convert under load again, no statement takes 1 s" under_load prepared 1000 there
    point "shop: no row is lost" sound
}

# The last points, after the program has looked at its schema.
revert_restored() {
    point "shop: a dump, restored, is dumped as the same" restored
    PGDATABASE=${PGDATABASE}_copy
    point "shop: no row is lost in the copy" sound
    local both="'id') FROM (VALUES ('customer'::regclass), ('purchase')) AS t (name)"
    point "shop: mint.convert_revert in the copy" sql "SELECT mint.convert_revert(t.name, $both"
    point "shop: ids of before go on in the copy" sql \
        "INSERT INTO customer (name) VALUES ('after'); INSERT INTO purchase (customer_id, note) SELECT max(id), 'after' FROM customer WHERE id < 1000000000"
}
