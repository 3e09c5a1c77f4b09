//! Calls of every function of the extension, with schemas and exact types of arguments, so that any trap that runs was
//! picked by the extension's own SQL.

/// The extension's schema in these databases.
pub const HOME: &str = "evil";

/// Returns calls that any role may make that may create in `place`. All of them succeed.
pub fn of_everybody(place: &str) -> Vec<String> {
    [
        of_segments(place),
        of_tickets(place),
        of_users(place),
        of_leaf(place),
        vec![select(&format!("segment_drop({})", relation(place, "seg")))],
        of_ids(),
    ]
    .concat()
}

fn text(value: &str) -> String {
    format!("'{value}'::pg_catalog.text")
}

fn relation(place: &str, name: &str) -> String {
    format!("'{place}.{name}'::pg_catalog.regclass")
}

fn number(value: i64) -> String {
    format!("{value}::pg_catalog.int8")
}

fn select(call: &str) -> String {
    format!("SELECT {HOME}.{call}")
}

/// Leaves `seg` and `further` in place.
fn of_segments(place: &str) -> Vec<String> {
    let none = "NULL::pg_catalog.text";
    let create = |name: &str, source: &str| {
        let (name, step) = (text(&format!("{place}.{name}")), number(100));
        select(&format!(
            "segment_create({name}, {step}, {}, {source}, {none})",
            number(1)
        ))
    };
    let segment = relation(place, "seg");
    vec![
        create("seg", none),
        select(&format!("segment_next({segment})")),
        select(&format!("segment_next_range({segment}, {})", number(3))),
        create("afar", &text("srv")),
        create("further", &text("srv")),
        select(&format!("segment_drop({})", relation(place, "afar"))),
    ]
}

fn of_tickets(place: &str) -> Vec<String> {
    let (name, ticket) = (text(&format!("{place}.tick")), relation(place, "tick"));
    let int = "::pg_catalog.int4";
    [
        format!(
            "ticket_create({name}, 1{int}, 2{int}, 64{int}, {})",
            number(0)
        ),
        format!("ticket_next({ticket})"),
        format!("ticket_next_range({ticket}, {})", number(3)),
        format!("ticket_last({ticket})"),
        format!(
            "ticket_change({ticket}, 2{int}, 3{int}, {})",
            number(10_000)
        ),
        format!("ticket_drop({ticket})"),
    ]
    .map(|call| select(&call))
    .into()
}

fn of_users(place: &str) -> Vec<String> {
    let (name, family) = (text(&format!("{place}.family")), relation(place, "family"));
    let (user, uids) = (number(7), "'{3,1}'::pg_catalog.int8[]");
    [
        format!(
            "user_sequence_create({name}, 2::pg_catalog.int4, {})",
            number(10)
        ),
        format!("user_sequence_next({family}, {user})"),
        format!("user_sequence_next_range({family}, {user}, {})", number(2)),
        format!("user_sequence_current({family}, {user})"),
        format!("user_sequence_next_for_commit({family}, {user})"),
        format!("user_sequence_next_for_commit({family}, {uids})"),
        format!("user_sequence_drop({family})"),
    ]
    .map(|call| select(&call))
    .into()
}

fn of_leaf(place: &str) -> Vec<String> {
    vec![
        format!(
            "SELECT pg_catalog.set_config('search_path'::pg_catalog.text, '{place}'::pg_catalog.text, true);
             INSERT INTO {HOME}.leaf_alloc (biz_tag, step, max_id, description)
             VALUES ('leaf-{place}', 20, 1, 'of {place}')"
        ),
        format!("TABLE {HOME}.leaf_alloc"),
        format!("TABLE {HOME}.pg_mint_segments"),
    ]
}

fn of_ids() -> Vec<String> {
    let layout = format!("'twitter'::{HOME}.snowflake_layout");
    let (one, three, five, id) = (number(1), number(3), number(5), number(1 << 40));
    let objects = format!("(VALUES ({HOME}.objectid()), ({HOME}.objectid())) AS of(id)");
    vec![
        select(&format!("snowflake_next_id({five}, {layout})")),
        format!("TABLE {HOME}.pg_mint_sources"),
        format!("SELECT * FROM {HOME}.snowflake_next_ids({five}, {three}, {layout})"),
        select(&format!(
            "snowflake_between({id}, {HOME}.snowflake_time({id}, {layout}),
                 '2040-01-01'::pg_catalog.timestamptz, {layout})"
        )),
        format!(
            "SELECT * FROM {HOME}.sequence_table({one}, {five}, {})",
            number(2)
        ),
        format!(
            "SELECT * FROM {HOME}.sequence_table({})",
            text("seq_1_to_5")
        ),
        format!("SELECT {HOME}.min(id), {HOME}.max(id) FROM {objects}"),
        format!("SELECT id FROM {objects} ORDER BY id"),
        format!(
            "SELECT layout FROM (VALUES ({layout}), ('sonyflake'::{HOME}.snowflake_layout)) AS of(layout) GROUP BY layout"
        ),
        format!("SELECT * FROM {HOME}.snowflake_layouts()"),
    ]
}

/// Returns calls that only the owner of the database may make. All of them succeed.
pub fn of_the_owner() -> Vec<String> {
    vec![
        format!(
            "INSERT INTO {HOME}.pg_mint_grants (claim, node_bits, first_node, last_node, holder, since, slice_from, slice_until)
             VALUES (1, 5, 1, 1, 'x', 'epoch', 'epoch', 'epoch'), (2, 5, 2, 2, 'x', 'epoch', 'epoch', 'epoch')"
        ),
        format!("TABLE {HOME}.pg_mint_registry"),
    ]
}

/// Returns the calls of a superuser in a round. All of them succeed.
pub fn of_the_superuser(round: usize) -> Vec<String> {
    let call = |call: &str| format!("SELECT {HOME}.{call}");
    let (int, big, none) = (
        "::pg_catalog.int4", "::pg_catalog.int8", "NULL::pg_catalog.int8",
    );
    let interval = "::pg_catalog.interval";
    let asker = format!("'x'::pg_catalog.text, 1{big}, {HOME}.pg_mint_highest_ceiling()");
    let seen = [none; 5].join(", ");
    let reserved = format!("{0}{big}, {0}{big}", round + 100);
    vec![
        call(&format!("snowflake_create_registry('10 s'{interval}, NULL{interval})")),
        call(&format!("snowflake_create_registry('12 s'{interval}, '3 s'{interval})")),
        call("snowflake_end_quarantine()"),
        call(&format!("snowflake_reserve_nodes(10{int}, {reserved}, 'x'::pg_catalog.text)")),
        call(&format!("snowflake_unreserve_nodes(10{int}, {reserved})")),
        call(&format!(
            "snowflake_claim_nodes({none}, {none}, {none}, 10{int}, {none}, {none}, {asker}, {seen})"
        )),
        call(&format!(
            "snowflake_claim_nodes({none}, {none}, {none}, 5{int}, 1{big}, 2{big}, {asker}, {seen})"
        )),
        call(&format!(
            "snowflake_claim_nodes(c.claim, 0{big}, 1{big}, c.node_bits, c.first_node, c.last_node, {asker}, {seen})
             FROM {HOME}.pg_mint_grants AS c"
        )),
        call(&format!("snowflake_release_claim(c.claim, 1{big}) FROM {HOME}.pg_mint_grants AS c")),
        call("snowflake_quarantine_registry()"),
        call("snowflake_release_node()"),
        format!("TABLE {HOME}.pg_mint_nodes"),
        format!("TABLE {HOME}.pg_mint_claims"),
        format!("TABLE {HOME}.pg_mint_lanes"),
        format!("TABLE {HOME}.pg_mint_ceilings"),
        call("pg_mint_accept_clock()"),
        call("pg_mint_reset_ceiling('2020-01-01'::pg_catalog.timestamptz)"),
    ]
}

/// Returns commands that make the server evaluate the extension's functions as the owner of a table.
pub fn of_maintenance(place: &str) -> Vec<String> {
    let layout = format!("'twitter'::{HOME}.snowflake_layout");
    let time = format!("{HOME}.snowflake_time(id, {layout})");
    let since = "'2020-01-01'::pg_catalog.timestamptz, '2200-01-01'::pg_catalog.timestamptz";
    let table = format!("{place}.item");
    vec![
        format!(
            "CREATE TABLE {table} (id pg_catalog.int8 PRIMARY KEY DEFAULT {HOME}.snowflake_next_id(5::pg_catalog.int8, {layout}),
                 made pg_catalog.timestamptz GENERATED ALWAYS AS ({time}) STORED, oid {HOME}.objectid DEFAULT {HOME}.objectid(), n pg_catalog.int4)"
        ),
        format!("INSERT INTO {table} (n) SELECT * FROM pg_catalog.generate_series(1, 100)"),
        format!("CREATE INDEX ON {table} (({time}))"),
        format!("CREATE INDEX ON {table} (oid)"),
        format!("CREATE INDEX ON {table} USING hash (oid)"),
        format!("CREATE INDEX ON {table} USING brin (oid)"),
        format!("CREATE INDEX ON {table} (n) WHERE {HOME}.snowflake_between(id, {since}, {layout})"),
        format!(
            "ALTER TABLE {table} ADD CONSTRAINT fresh CHECK ({HOME}.snowflake_between(id, {since}, {layout})) NOT VALID"
        ),
        format!("ALTER TABLE {table} VALIDATE CONSTRAINT fresh"),
        format!("SELECT {HOME}.segment_create('{place}.drawn'::pg_catalog.text, 100::pg_catalog.int8, 1::pg_catalog.int8, NULL::pg_catalog.text, NULL::pg_catalog.text)"),
        format!(
            "CREATE MATERIALIZED VIEW {place}.seen AS
             SELECT {HOME}.segment_next('{place}.drawn'::pg_catalog.regclass) AS drawn, b.biz_tag, i.id, i.made
             FROM {table} AS i CROSS JOIN {HOME}.leaf_alloc AS b"
        ),
        format!("REFRESH MATERIALIZED VIEW {place}.seen"),
        format!("ANALYZE {table}"),
        format!("REINDEX TABLE {table}"),
        "ANALYZE".to_owned(),
    ]
}
