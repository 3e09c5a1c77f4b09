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
fn type_name(mapping: &SqlMapping) -> Option<String> {
    match mapping {
        SqlMapping::As(name) => Some(name.clone()),
        SqlMapping::Array(SqlArrayMapping::As(name)) => Some(format!("{name}[]")),
        SqlMapping::Skip => None,
        other => panic!("{other:?}"),
    }
}

fn result(of: &UsedTypeEntity) -> Option<String> {
    match of.metadata.return_sql.as_ref().expect("a result") {
        Returns::One(one) | Returns::SetOf(one) => type_name(one),
        Returns::Table(_) => panic!("a table in {}", of.full_path),
    }
}

/// Returns a function as the catalog shows it. A function without an argument that can be NULL is strict.
fn rust(function: &PgExternEntity, canonical: &mut dyn FnMut(Option<String>) -> String) -> String {
    let mut arguments = Vec::new();
    let mut strict = true;
    for argument in &function.fn_args {
        let sql = argument.used_ty.metadata.argument_sql.as_ref();
        if let Some(name) = type_name(sql.expect("an argument")) {
            // pgrx takes every `Internal` for one that can be NULL. After it, `generated` has other arguments.
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
