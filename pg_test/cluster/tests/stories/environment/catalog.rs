//! The functions in the catalogs have the signatures of the Rust functions behind them, which pgrx writes into the library: a
//! wrong type or an unexpected NULL crashes a session.

use mint_cluster::Server;
use mint_cluster::server::installation::library;
use object::{Object, ObjectSection};
use pgrx_sql_entity_graph::metadata::{Returns, SqlArrayMapping, SqlMapping};
use pgrx_sql_entity_graph::section::{decode_entities, is_schema_section_name};
use pgrx_sql_entity_graph::{PgExternEntity, PgExternReturnEntity, SqlGraphEntity, UsedTypeEntity};

const TRIGGERS: [&str; 1] = ["leaf_alloc_change"];

/// Returns a type as pgrx names it, or nothing for what SQL does not pass.
fn named(mapping: &SqlMapping) -> Option<String> {
    match mapping {
        SqlMapping::As(name) => Some(name.clone()),
        SqlMapping::Array(SqlArrayMapping::As(name)) => Some(format!("{name}[]")),
        SqlMapping::Skip => None,
        other => panic!("{other:?}"),
    }
}

fn result(of: &UsedTypeEntity) -> Option<String> {
    match of.metadata.return_sql.as_ref().expect("a result") {
        Returns::One(one) | Returns::SetOf(one) => named(one),
        Returns::Table(_) => panic!("a table in {}", of.full_path),
    }
}

/// Returns a function as the catalog shows it. Those without an argument that can be NULL are strict.
fn rust(function: &PgExternEntity, canonical: &mut dyn FnMut(Option<String>) -> String) -> String {
    let mut arguments = Vec::new();
    let mut strict = true;
    for argument in &function.fn_args {
        let sql = argument.used_ty.metadata.argument_sql.as_ref();
        if let Some(name) = named(sql.expect("an argument")) {
            // pgrx takes every `Internal` for one that can be NULL. That of `generated` is followed by other arguments.
            let is_internal = name == "internal" && function.unaliased_name != "guarded_generated";
            strict &= is_internal || !argument.used_ty.optional;
            arguments.push(format!("{} {}", argument.pattern, canonical(Some(name))));
        }
    }
    let result = match &function.fn_return {
        PgExternReturnEntity::None => "void".to_owned(),
        PgExternReturnEntity::Type { ty } => canonical(result(ty)),
        PgExternReturnEntity::SetOf { ty } => format!("SETOF {}", canonical(result(ty))),
        PgExternReturnEntity::Iterated { tys } => {
            let columns = tys.iter().map(|column| {
                let name = column.name.unwrap_or_default().trim_matches('"');
                format!("{name} {}", canonical(result(&column.ty)))
            });
            format!("TABLE({})", columns.collect::<Vec<_>>().join(", "))
        }
        PgExternReturnEntity::Trigger => "trigger".to_owned(),
    };
    // One with a quick path before it has the name of both.
    let name = function.unaliased_name;
    let symbol = name.strip_prefix("guarded_").unwrap_or(name);
    let arguments = arguments.join(", ");
    format!("{symbol}_wrapper({arguments}) {result}, strict {strict}")
}

#[test]
fn functions_in_c_are_as_the_library_has_them() {
    let server = Server::start("signatures");
    let mut session = server.connect("postgres");
    let bytes = library();
    let file = object::File::parse(&*bytes).expect("a library");
    let section = file
        .sections()
        .find(|section| section.name().is_ok_and(is_schema_section_name))
        .expect("pgrx's section");
    let mut canonical = |name: Option<String>| -> String {
        session.one(&format!(
            "SELECT '{}'::regtype::text",
            name.expect("a type")
        ))
    };
    let mut library: Vec<String> = decode_entities(section.data().expect("its data"))
        .expect("pgrx's entities")
        .iter()
        .filter_map(|entity| match entity {
            // A trigger has no arguments, and a result that is any datum.
            SqlGraphEntity::Function(function) if !TRIGGERS.contains(&function.unaliased_name) => {
                Some(rust(function, &mut canonical))
            }
            _ => None,
        })
        .collect();
    library.sort();
    let catalog: Vec<String> = session.column(
        "SELECT format('%s(%s) %s, strict %s', prosrc, replace(replace(pg_get_function_identity_arguments(p.oid), '\"', ''), 'IN ', ''),
             replace(coalesce(pg_get_function_result(p.oid), 'void'), '\"', ''), proisstrict::text) COLLATE \"C\"
         FROM pg_depend JOIN pg_proc p ON p.oid = objid
         WHERE deptype = 'e' AND classid = 'pg_proc'::regclass AND prosrc LIKE '%\\_wrapper'
             AND prorettype <> 'trigger'::regtype
             AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')
         ORDER BY 1",
    );
    let differ = |a: &[String], b: &[String]| -> Vec<String> {
        a.iter().filter(|one| !b.contains(one)).cloned().collect()
    };
    assert_eq!(
        (differ(&library, &catalog), differ(&catalog, &library)),
        (vec![], vec![]),
        "in the library, in the catalog"
    );
    assert!(catalog.len() > 150, "only {} functions", catalog.len());
}

/// A function that is not unsafe runs in a statement that has a parallel plan: in its leader, if it is restricted. There
/// nothing can ask for a transaction id. The calls are those that the catalog allows, with arguments of their types.
#[test]
fn functions_run_beside_a_parallel_plan() {
    let server = Server::start("a parallel plan");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE crowd AS SELECT n FROM generate_series(1, 10000) n; ALTER TABLE crowd SET (parallel_workers = 2); ANALYZE crowd;
         CREATE TABLE plain (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5)); INSERT INTO plain DEFAULT VALUES;
         CREATE TABLE parted (id bigint DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id);
         SELECT segment_create('seg'), ticket_create('tick'), user_sequence_create('fam');
         INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('leaf', 10)",
    );
    session.run(
        "SELECT segment_next('seg'), ticket_next('tick'), user_sequence_next('fam', 1), snowflake_next_id(5);
         SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0",
    );
    let calls: Vec<String> = session.column(
        r"SELECT format('FROM %s.%I(%s) AS x', p.pronamespace::regnamespace, p.proname, string_agg(
                CASE a.kind::regtype::text
                    WHEN 'regclass' THEN format('%L::regclass', r.relation)
                    WHEN 'text' THEN '''id''::text' WHEN 'bytea' THEN '''\x00''::bytea' WHEN 'uuid' THEN 'uuid_v7()'
                    WHEN 'interval' THEN '''1 day''::interval' WHEN 'boolean' THEN 'true'
                    WHEN 'integer[]' THEN '''{1}''::int[]' WHEN 'objectid' THEN 'objectid()'
                    WHEN 'snowflake_layout' THEN '''instagram''::snowflake_layout'
                    WHEN 'timestamp with time zone' THEN 'now()' ELSE '1::' || a.kind::regtype END,
                ', ' ORDER BY a.place))
         FROM pg_proc p
         JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
         JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_mint'
         CROSS JOIN (VALUES ('plain'), ('parted'), ('seg'), ('tick'), ('fam')) AS r (relation)
         LEFT JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (kind, place) ON true
         WHERE p.proparallel <> 'u' AND p.prokind = 'f'
             AND (r.relation = 'plain' OR 'regclass'::regtype = ANY (p.proargtypes::oid[]))
             AND NOT EXISTS (SELECT FROM unnest(p.proargtypes::oid[]) AS t
                 WHERE t::regtype::text IN ('internal', 'cstring'))
         GROUP BY p.oid, r.relation ORDER BY 1",
    );
    assert!(calls.len() > 150, "only {} calls", calls.len());
    let views: Vec<String> = session.column(
        "SELECT format('FROM mint.%I AS x', relname) FROM pg_class
         WHERE relnamespace = 'mint'::regnamespace AND relkind = 'v' ORDER BY 1",
    );
    let (mut bad, mut parallel) = (Vec::new(), 0);
    for call in calls.iter().chain(&views) {
        let query = format!("SELECT (SELECT count(*) FROM crowd) AS n, x {call}");
        // The planner itself calls an immutable function, which can refuse these arguments.
        let plan = session.try_column::<String>(&format!("EXPLAIN (COSTS OFF) {query}"));
        parallel += usize::from(plan.is_ok_and(|plan| plan.concat().contains("Gather")));
        if let Err(refusal) = session.try_run(&query)
            && (refusal.message.contains("parallel") || refusal.code == "25000")
        {
            bad.push(format!("{call}: {refusal}"));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    assert!(parallel > 100, "only {parallel} parallel plans");
}
