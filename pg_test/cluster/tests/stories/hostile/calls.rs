//! Calls of every function of the extension, with schemas and exact types of arguments, so that any trap that runs was
//! picked by the extension's own SQL.

/// The extension's schema in these databases.
pub const HOME: &str = "evil";

/// Returns calls that any role may make that may create in `place`. All of them succeed.
pub fn of_everybody(place: &str) -> Vec<String> {
    let text = |value: &str| format!("'{value}'::pg_catalog.text");
    let relation = |name: &str| format!("'{place}.{name}'::pg_catalog.regclass");
    let number = |value: i64| format!("{value}::pg_catalog.int8");
    let none = "NULL::pg_catalog.text";
    let select = |call: String| format!("SELECT {HOME}.{call}");
    let layout = format!("'twitter'::{HOME}.snowflake_layout");
    let create = |name: &str, source: &str| {
        let (name, step) = (text(&format!("{place}.{name}")), number(100));
        select(format!(
            "segment_create({name}, {step}, {}, {source}, {none})",
            number(1)
        ))
    };
    let (segment, ticket, family) = (relation("seg"), relation("tick"), relation("family"));
    let (int, uids) = ("::pg_catalog.int4", "'{3,1}'::pg_catalog.int8[]");
    vec![
        create("seg", none),
        select(format!("segment_next({segment})")),
        select(format!("segment_next_range({segment}, {})", number(3))),
        select(format!("segment_last({segment})")),
        create("afar", &text("srv")),
        create("further", &text("srv")),
        format!("DROP SEQUENCE {place}.afar"),
        select(format!(
            "ticket_create({}, 1{int}, 2{int}, 64{int}, {})",
            text(&format!("{place}.tick")),
            number(0)
        )),
        select(format!("ticket_next({ticket})")),
        select(format!("ticket_next_range({ticket}, {})", number(3))),
        select(format!("ticket_last({ticket})")),
        select(format!("ticket_alter({ticket}, 2{int}, 3{int}, {})", number(10_000))),
        format!("DROP SEQUENCE {place}.tick"),
        select(format!(
            "user_sequence_create({}, 2{int}, {})",
            text(&format!("{place}.family")),
            number(10)
        )),
        select(format!("user_sequence_next({family}, {})", number(7))),
        select(format!("user_sequence_next_range({family}, {}, {})", number(7), number(2))),
        select(format!("user_sequence_current({family}, {})", number(7))),
        select(format!("user_sequence_next_for_commit({family}, {})", number(7))),
        select(format!("user_sequence_next_for_commit({family}, {uids})")),
        select(format!("user_sequence_drop({family})")),
        format!(
            "SELECT pg_catalog.set_config('search_path'::pg_catalog.text, '{place}'::pg_catalog.text, true);
             INSERT INTO {HOME}.leaf_alloc (biz_tag, step, max_id, description)
             VALUES ('leaf-{place}', 20, 1, 'of {place}')"
        ),
        format!("TABLE {HOME}.leaf_alloc"),
        format!("TABLE {HOME}.pg_mint_segments"),
        format!("DROP SEQUENCE {place}.seg"),
        select(format!("snowflake_next_id(5{int}, {layout})")),
        format!("TABLE {HOME}.pg_mint_sources"),
        format!(
            "SELECT * FROM {HOME}.snowflake_next_ids(5{int}, {}, {layout})",
            number(3)
        ),
        select(format!(
            "snowflake_between({}, {HOME}.snowflake_time({}, {layout}),
                 '2040-01-01'::pg_catalog.timestamptz, {layout})",
            number(1 << 40),
            number(1 << 40)
        )),
        format!(
            "SELECT * FROM {HOME}.sequence_table({}, {}, {})",
            number(1),
            number(5),
            number(2)
        ),
        format!("SELECT * FROM {HOME}.sequence_table({})", text("seq_1_to_5")),
        format!(
            "SELECT {HOME}.min(id), {HOME}.max(id) FROM (VALUES ({HOME}.objectid()), ({HOME}.objectid())) AS of(id)"
        ),
        format!(
            "SELECT id FROM (VALUES ({HOME}.objectid()), ({HOME}.objectid())) AS of(id) ORDER BY id"
        ),
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
            "CREATE TABLE {table} (id pg_catalog.int8 PRIMARY KEY DEFAULT {HOME}.snowflake_next_id(5::pg_catalog.int4, {layout}),
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
