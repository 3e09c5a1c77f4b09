//! A shop with customers and orders, whose columns of type integer become bigint by the script that the plan prints.

use mint_cluster::{Server, Session};

pub(super) const PLAN: &str = "mint.convert_plan('customer', 'id', 'snowflake_next_id(5)')";
pub(super) const BACK: &str = "mint.convert_plan('customer', 'id', NULL)";

pub(super) fn make_shop(session: &mut Session, rows: i32) {
    session.run(&format!(
        "CREATE TABLE customer (id serial PRIMARY KEY, parent int REFERENCES customer, name text);
         CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
             customer int NOT NULL REFERENCES customer ON DELETE CASCADE ON UPDATE CASCADE, n int, UNIQUE (customer, n));
         CREATE INDEX orders_n ON orders (n DESC, customer) WITH (fillfactor = 80);
         CREATE INDEX customer_parent ON customer (parent);
         CREATE TABLE item (orders int PRIMARY KEY REFERENCES orders DEFERRABLE, customer int, n int,
             FOREIGN KEY (customer, n) REFERENCES orders (customer, n) ON DELETE SET NULL);
         COMMENT ON COLUMN customer.id IS 'the number of a customer';
         INSERT INTO customer (parent, name) SELECT nullif(g / 2, 0), 'c' || g FROM generate_series(1, {rows}) g;
         INSERT INTO orders (customer, n) SELECT g, 1 FROM generate_series(1, {rows}) g;
         INSERT INTO item SELECT id, customer, n FROM orders WHERE id % 5 = 0;
         ANALYZE customer, orders, item"
    ));
}

/// Runs the commands of a plan as a user does: in psql, by \gexec.
#[track_caller]
pub(super) fn gexec(server: &Server, plan: &str, condition: &str) -> String {
    gexec_in(server, "postgres", plan, condition)
}

#[track_caller]
pub(super) fn gexec_in(server: &Server, database: &str, plan: &str, condition: &str) -> String {
    let script = format!(
        "\\set ON_ERROR_STOP 1\nSET client_min_messages = warning;\nSELECT command FROM {plan} WHERE command IS NOT NULL AND {condition} ORDER BY step \\gexec\n"
    );
    let said = String::from_utf8_lossy(&server.psql(database, script.as_bytes())).into_owned();
    assert!(!said.contains("ERROR"), "{said}");
    said
}

pub(super) const UNTIL_SWAP: &str = "phase NOT IN ('cleanup', 'default')";

/// What is to be said of the columns by their names, whatever their place in the table is.
pub(super) fn shape(session: &mut Session) -> String {
    session.one(
        "SELECT string_agg(x, E'\\n' ORDER BY x COLLATE \"C\") FROM (
             SELECT format('%s.%s %s %s %s %s', attrelid::regclass, attname, atttypid::regtype, attnotnull, attidentity,
                 (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)) AS x
             FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
             WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped AND attname NOT LIKE 'mint_%'
             UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
             UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
             WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
             UNION ALL SELECT format('%s %s', pg_get_serial_sequence('customer', 'id'), pg_get_serial_sequence('orders', 'id'))
             UNION ALL SELECT format('%s', tgname) FROM pg_trigger WHERE NOT tgisinternal
             UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'mint%'
             UNION ALL SELECT col_description('customer'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'customer'::regclass
         ) AS all_of_it (x)",
    )
}

/// The references hold, by the rows and not by what the constraints promise.
#[track_caller]
pub(super) fn assert_sound(session: &mut Session) {
    let lost: i64 = session.one(
        "SELECT (SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM customer c WHERE c.id = o.customer))
              + (SELECT count(*) FROM customer o WHERE parent IS NOT NULL AND NOT EXISTS (SELECT FROM customer c WHERE c.id = o.parent))
              + (SELECT count(*) FROM item i WHERE NOT EXISTS (SELECT FROM orders o WHERE o.id = i.orders))
              + (SELECT count(*) FROM item i WHERE customer IS NOT NULL AND n IS NOT NULL AND NOT EXISTS (SELECT FROM orders o WHERE (o.customer, o.n) = (i.customer, i.n)))",
    );
    assert_eq!(lost, 0);
    let invalid: i64 = session.one("SELECT (SELECT count(*) FROM pg_index WHERE NOT indisvalid) + (SELECT count(*) FROM pg_constraint WHERE NOT convalidated)");
    assert_eq!(invalid, 0);
}

/// How far a script has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Begun,
    Swapped,
    Back,
    Dropped,
    Done,
}

pub(super) fn has_stage(session: &mut Session, stage: Stage) -> bool {
    let count = |session: &mut Session, pattern: &str| -> i64 {
        session.one(&format!("SELECT count(*) FROM pg_attribute WHERE attname LIKE '{pattern}' AND NOT attisdropped AND attnum > 0
            AND attrelid IN ('customer'::regclass, 'orders'::regclass, 'item'::regclass)"))
    };
    let (new, old) = (count(session, "mint\\_new%"), count(session, "mint\\_old%"));
    match stage {
        Stage::Begun => new + old > 0,
        Stage::Swapped => old > 0,
        Stage::Back => old == 0,
        Stage::Dropped => new + old == 0,
        Stage::Done => new + old == 0 && session.one("SELECT count(*) = 1 FROM mint.conversions"),
    }
}

/// Returns what prevents a plan.
#[track_caller]
pub fn blockers(session: &mut Session, plan: &str) -> String {
    session.one(&format!(
        "SELECT coalesce(string_agg(note, E'\\n'), '') FROM {plan} WHERE note LIKE 'blocker%'"
    ))
}

/// Runs a plan in psql as it is by default: it continues after an error.
pub fn run_through(server: &Server, plan: &str) -> String {
    let script =
        format!("SELECT command FROM {plan} WHERE command IS NOT NULL ORDER BY step \\gexec\n");
    String::from_utf8_lossy(&server.psql("postgres", script.as_bytes())).into_owned()
}
