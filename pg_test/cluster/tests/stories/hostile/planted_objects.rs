//! Traps: operators, functions and relations of the names that the extension's SQL uses, for types other than the
//! server's own. Each writes into the server's log when it runs.

use mint_cluster::{Server, Session};
use std::collections::BTreeSet;
use std::path::Path;

/// The text that a trap writes into the log.
pub const MARK: &str = "TRAP";

/// The types in the extension's SQL, and those that they are cast to implicitly.
const TYPES: &str = "'{bool,\"char\",name,text,varchar,int2,int4,int8,numeric,float8,oid,regclass,regnamespace,regtype,\
    timestamptz,interval,inet,numrange,bytea,uuid}'::pg_catalog.regtype[]";

/// Kinds of traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Operators,
    Functions,
    Relations,
}

/// Creates traps in a schema of the session's database. They belong to `owner`, except for those in `pg_temp`, which
/// belong to the session.
pub fn set(session: &mut Session, kind: Kind, schema: &str, owner: &str, functions: &[String]) {
    session.run("SET search_path = pg_catalog, pg_temp; SET check_function_bodies = off");
    match kind {
        Kind::Operators => operators(session, schema, owner),
        Kind::Functions => {
            let statements: Vec<String> = functions
                .iter()
                .map(|text| format!("$q${}$q$", text.replace("$schema", schema)))
                .collect();
            session.run(&format!(
                "DO $do$ DECLARE statement text; BEGIN
                     FOREACH statement IN ARRAY ARRAY[{}] LOOP
                         -- Not every signature can be had.
                         BEGIN EXECUTE statement; EXCEPTION WHEN OTHERS THEN NULL; END;
                     END LOOP;
                 END $do$",
                statements.join(", ")
            ));
        }
        Kind::Relations => session.run(&relations(schema)),
    }
    session.run("RESET search_path; RESET check_function_bodies");
}

/// Creates operators of every name that the server has for any of the types, for all pairs of types. Inserts thousands of
/// them into the catalog, as statements would take minutes.
fn operators(session: &mut Session, schema: &str, owner: &str) {
    session.run(&format!(
        "DO $do$ DECLARE l regtype; r regtype; result regtype; BEGIN
             FOREACH r IN ARRAY {TYPES} LOOP FOREACH result IN ARRAY '{{bool,numeric,text}}'::regtype[] LOOP
                 EXECUTE format('CREATE FUNCTION {schema}.%I(%s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS %L',
                     format('trap_0_%s_%s', r::oid, result::oid), r, result,
                     format('BEGIN RAISE WARNING %L, current_user; RETURN NULL; END',
                         format('{MARK} operator of {schema} on %s as %%', r)));
                 FOREACH l IN ARRAY {TYPES} LOOP
                     EXECUTE format('CREATE FUNCTION {schema}.%I(%s, %s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS %L',
                         format('trap_%s_%s_%s', l::oid, r::oid, result::oid), l, r, result,
                         format('BEGIN RAISE WARNING %L, current_user; RETURN NULL; END',
                             format('{MARK} operator of {schema} on %s and %s as %%', l, r)));
                 END LOOP;
             END LOOP; END LOOP;
         END $do$;
         SET allow_system_table_mods = on;
         INSERT INTO pg_operator (oid, oprname, oprnamespace, oprowner, oprkind, oprcanmerge, oprcanhash, oprleft,
             oprright, oprresult, oprcom, oprnegate, oprcode, oprrest, oprjoin)
         SELECT (2000000000 + (SELECT count(*) FROM pg_operator) + row_number() OVER ())::oid, name, space.oid,
             '{owner}'::regrole, kind, false, false, l, r, result, 0, 0, trap.oid, 0, 0
         FROM (SELECT oprname AS name, oprkind AS kind, CASE WHEN bool_or(oprresult = 'bool'::regtype) THEN 'bool'
                   WHEN oprname = '||' THEN 'text' ELSE 'numeric' END::regtype AS result
               FROM pg_operator
               WHERE oprnamespace = 'pg_catalog'::regnamespace
                   AND (oprleft = ANY ({TYPES}) OR oprright = ANY ({TYPES}))
               GROUP BY oprname, oprkind) AS named,
             unnest({TYPES}) AS r,
             unnest({TYPES} || 0::regtype) AS l,
             (SELECT oid FROM pg_namespace
              WHERE oid = CASE '{schema}' WHEN 'pg_temp' THEN pg_my_temp_schema()
                          ELSE to_regnamespace('{schema}') END) AS space,
             LATERAL (SELECT oid FROM pg_proc
                      WHERE proname = format('trap_%s_%s_%s', l::oid, r::oid, result::oid)::name AND pronamespace = space.oid)
                  AS trap
         WHERE (kind = 'l') = (l = 0::regtype);
         RESET allow_system_table_mods"
    ));
}

/// Returns SQL for relations and types of the names that the extension's SQL reads. In `pg_temp` they come before the
/// server's own.
fn relations(schema: &str) -> String {
    let mut statements: Vec<String> = [
        "pg_class", "pg_sequence", "pg_depend", "pg_extension", "pg_namespace", "pg_foreign_server",
    ]
    .iter()
    .map(|name| {
        format!(
            "CREATE VIEW {schema}.{name} AS SELECT * FROM pg_catalog.{name} WHERE {schema}.trap()"
        )
    })
    .collect();
    for name in [
        "text", "name", "oid", "regclass", "timestamptz", "int8", "numrange",
    ] {
        statements.push(format!(
            "CREATE DOMAIN {schema}.{name} AS pg_catalog.{name} CHECK ({schema}.trap())"
        ));
    }
    format!(
        "CREATE FUNCTION {schema}.trap() RETURNS boolean LANGUAGE plpgsql AS $$
             BEGIN RAISE WARNING '{MARK} relation or type of {schema} as %', current_user; RETURN true; END $$;
         {}",
        statements.join(";\n")
    )
}

/// Returns statements that create functions of every name that the extension's SQL calls, with as many arguments: of the
/// original types, and with each of them one cast away; of those that take any number of any type, with up to three behind the
/// first. The database of `reference` has the extension.
pub fn functions(reference: &mut Session) -> Vec<String> {
    let called: Vec<String> = calls().iter().map(|name| format!("'{name}'")).collect();
    reference.run("SET search_path = pg_catalog");
    let made = reference.column(&format!(
        "WITH known AS (
             SELECT p.oid, p.proname, string_to_array(p.proargtypes::text, ' ')::oid[] AS types, p.prorettype, p.proretset,
                 p.pronamespace = 'pg_catalog'::regnamespace AS is_server_s
             FROM pg_proc p
             WHERE p.prokind = 'f' AND p.pronargs BETWEEN 0 AND 5
                 AND p.pronamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace)
                 AND p.proname IN ({0})
         ), variant AS (
             SELECT oid, proname, types, prorettype, proretset FROM known WHERE is_server_s
             UNION
             SELECT k.oid, k.proname,
                 (SELECT array_agg(CASE WHEN at = place THEN other ELSE type END ORDER BY at)
                  FROM unnest(k.types) WITH ORDINALITY AS argument (type, at)),
                 k.prorettype, k.proretset
             FROM known k, generate_series(1, cardinality(k.types)) AS place, unnest({TYPES}::oid[]) AS other
             WHERE EXISTS (SELECT FROM pg_cast c WHERE c.castcontext = 'i'
                     AND (castsource, casttarget) IN ((other, k.types[place]), (k.types[place], other)))
                 OR k.types[place] = 'text'::regtype AND other = 'name'::regtype
             UNION
             SELECT p.oid, p.proname, 'text'::regtype::oid || more.types, p.prorettype, p.proretset
             FROM pg_proc p, LATERAL (
                 SELECT array_remove(ARRAY[a, b, c], 0::oid) AS types
                 FROM unnest('{{text,name,oid,regclass,int8}}'::regtype[]::oid[]) AS a,
                     unnest('{{text,name,oid,regclass,int8}}'::regtype[]::oid[] || 0::oid) AS b,
                     unnest('{{text,name,oid,regclass,int8}}'::regtype[]::oid[] || 0::oid) AS c
             ) AS more
             WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.provariadic = '\"any\"'::regtype AND p.proname IN ({0})
         )
         SELECT DISTINCT format('CREATE FUNCTION $schema.%I(%s) RETURNS %s%s LANGUAGE plpgsql IMMUTABLE AS %L', proname,
             (SELECT string_agg(format_type(type, NULL), ', ' ORDER BY at)
              FROM unnest(types) WITH ORDINALITY AS argument (type, at)),
             CASE WHEN proretset THEN 'SETOF ' ELSE '' END, format_type(prorettype, NULL),
             format('BEGIN RAISE WARNING %L, current_user; RETURN%s; END',
                 format('{MARK} function %s of $schema as %%', proname),
                 CASE WHEN proretset OR prorettype = 'void'::regtype THEN '' ELSE ' NULL' END))
         FROM variant v WHERE NOT EXISTS (
             SELECT FROM known k WHERE NOT is_server_s AND k.proname = v.proname AND k.types = v.types)",
        called.join(", ")
    ));
    reference.run("RESET search_path");
    made
}

/// Returns the words before a parenthesis in the extension's SQL and in the strings of its library.
fn calls() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut words = BTreeSet::new();
    let mut folders = vec![root.join("sql"), root.join("src")];
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(folder).expect("the extension's sources") {
            let place = file.expect("a file").path();
            if place.is_dir() {
                folders.push(place);
                continue;
            }
            let text = std::fs::read_to_string(&place).unwrap_or_default();
            let parts: Vec<&str> = text.split('(').collect();
            for before in &parts[..parts.len() - 1] {
                let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
                let word = before.rsplit(|sign| !is_part(sign)).next().unwrap_or("");
                if !word.is_empty() {
                    words.insert(word.to_owned());
                }
            }
        }
    }
    assert!(
        words.contains("regexp_replace") && words.contains("setval"),
        "{words:?}"
    );
    words
}

/// Asserts that no trap has run.
#[track_caller]
pub fn assert_untouched(server: &Server, when: &str) {
    let log = server.log();
    let run: Vec<&str> = log.lines().filter(|line| line.contains(MARK)).collect();
    assert!(
        run.is_empty(),
        "{when}: {} traps ran, first {}",
        run.len(),
        run[0]
    );
}
