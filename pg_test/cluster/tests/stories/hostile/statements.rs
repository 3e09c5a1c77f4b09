//! Statements beside the ordinary calls of `table.rs`: views, tables, operators, aggregates and indexes of the extension, with
//! schemas and exact types.

/// The extension's schema in these databases.
pub const HOME: &str = "evil";

/// Returns statements of any role that can create in `place`. All of them succeed.
pub fn of_everybody(place: &str) -> Vec<String> {
    let layout = format!("'twitter'::{HOME}.snowflake_layout");
    let parts = format!("'{place}.split'::pg_catalog.regclass");
    let afar = |name: &str| {
        format!(
            "SELECT {HOME}.segment_create('{place}.{name}'::pg_catalog.text, 100::pg_catalog.int8, NULL::pg_catalog.int8, 'srv'::pg_catalog.text, NULL::pg_catalog.text)"
        )
    };
    vec![
        afar("afar"),
        afar("further"),
        format!("DROP SEQUENCE {place}.afar"),
        format!(
            "SELECT pg_catalog.set_config('search_path'::pg_catalog.text, '{place}'::pg_catalog.text, true);
             INSERT INTO mint.leaf_alloc (biz_tag, step, max_id, description)
             VALUES ('leaf-{place}', 20, 1, 'of {place}')"
        ),
        "TABLE mint.leaf_alloc".to_owned(),
        "TABLE mint.segments".to_owned(),
        format!(
            "SELECT {HOME}.min(id), {HOME}.max(id) FROM (VALUES ({HOME}.objectid()), ({HOME}.objectid())) AS of(id)"
        ),
        format!(
            "SELECT id FROM (VALUES ({HOME}.objectid()), ({HOME}.objectid())) AS of(id) ORDER BY id"
        ),
        format!(
            "SELECT layout FROM (VALUES ({layout}), ('sonyflake'::{HOME}.snowflake_layout)) AS of(layout) GROUP BY layout"
        ),
        format!(
            "CREATE TABLE {place}.split (id pg_catalog.int8 PRIMARY KEY DEFAULT {HOME}.snowflake_next_id(5::pg_catalog.int4, {layout}))
             PARTITION BY RANGE (id);
             CREATE TABLE {place}.part PARTITION OF {place}.split FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
             CREATE TABLE {place}.number (id serial PRIMARY KEY, part pg_catalog.int4 REFERENCES {place}.split);
             INSERT INTO {place}.split VALUES (1), ({HOME}.snowflake_next_id(5::pg_catalog.int4, {layout}));
             INSERT INTO {place}.number VALUES (7, 1)"
        ),
        "SELECT * FROM mint.id_columns".to_owned(),
        format!(
            "SELECT * FROM mint.convert_plan({parts}, 'id'::pg_catalog.text, 'snowflake_next_id(5)'::pg_catalog.text)"
        ),
        format!(
            "SELECT * FROM mint.partition_plan({parts}, '1 month'::pg_catalog.interval, 2::pg_catalog.int4, {layout}, 'Europe/Berlin'::pg_catalog.text,
                 '2040-01-01'::pg_catalog.timestamptz, '1 year'::pg_catalog.interval)"
        ),
        format!("DROP TABLE {place}.number, {place}.split"),
    ]
}

/// Returns calls of the installer on the registry, which a superuser makes as well. All of them succeed.
pub fn of_the_owner(round: usize) -> Vec<String> {
    let text = "::pg_catalog.text";
    let now = "(pg_catalog.date_part('epoch'::pg_catalog.text, pg_catalog.clock_timestamp())
        OPERATOR(pg_catalog.*) 1000000::pg_catalog.float8)::pg_catalog.int8";
    let request = |demand: &str| {
        format!(
            "SELECT mint.registry_request(pg_catalog.jsonb_build_object('protocol'{text}, 1::pg_catalog.int4, 'holder'{text}, 'x'{text},
                 'width'{text}, 13::pg_catalog.int4, 'clock'{text}, {now}, 'demand'{text}, {demand}))"
        )
    };
    let lease = format!(
        "pg_catalog.jsonb_build_object('node'{text}, {}::pg_catalog.int4, 'number'{text}, 7::pg_catalog.int4, 'from'{text}, {now},
             'until'{text}, {now} OPERATOR(pg_catalog.+) 20000000::pg_catalog.int8)",
        5_000 + round
    );
    vec![
        "SELECT mint.registry_create()".to_owned(),
        request("'{\"grant\": 1}'::pg_catalog.jsonb"),
        request(&format!(
            "pg_catalog.jsonb_build_object('renewal'{text}, {lease})"
        )),
        request(&format!(
            "pg_catalog.jsonb_build_object('end'{text}, pg_catalog.jsonb_build_object('lease'{text}, {lease}, 'used'{text}, 0::pg_catalog.int4))"
        )),
        format!(
            "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until)
             VALUES (10::pg_catalog.int4, {}::pg_catalog.int8, 'kept'{text}, 'infinity'::pg_catalog.timestamptz)",
            600 + round
        ),
        "TABLE mint.registry_leases".to_owned(),
        "TABLE mint.registry".to_owned(),
    ]
}

/// Returns the views of a superuser.
pub fn of_the_superuser() -> Vec<String> {
    ["leases", "lanes", "ceilings", "stats", "user_sequences"]
        .map(|view| format!("TABLE mint.{view}"))
        .to_vec()
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
             FROM {table} AS i CROSS JOIN mint.leaf_alloc AS b"
        ),
        format!("REFRESH MATERIALIZED VIEW {place}.seen"),
        format!("ANALYZE {table}"),
        format!("REINDEX TABLE {table}"),
        "ANALYZE".to_owned(),
    ]
}
