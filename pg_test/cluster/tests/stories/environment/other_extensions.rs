//! Other extensions that make functions for ids or stand in the same databases, in the same schema: installing either first,
//! and calling what both have.
//!
//! Each file of `other_extensions/` has the signatures of one: a schema, types, functions with how many of their arguments have
//! defaults, implicit casts (function, source, target) and operators. Functions of the same signature stand in for them here,
//! as their arguments alone decide which function a call means. Extensions that this server has are created themselves.

use mint_cluster::{Server, Session, say};
use std::collections::BTreeSet;
use std::fmt::Write;

const NEIGHBORS: [&str; 9] = [
    include_str!("other_extensions/citus.txt"),
    include_str!("other_extensions/nanoid_postgres.txt"),
    include_str!("other_extensions/pg_idkit.txt"),
    include_str!("other_extensions/pg_uuidv7.txt"),
    include_str!("other_extensions/pgx_ulid.txt"),
    include_str!("other_extensions/postgis.txt"),
    include_str!("other_extensions/postgresql.txt"),
    include_str!("other_extensions/timescaledb.txt"),
    include_str!("other_extensions/typeid_sql.txt"),
];

/// Created themselves, where the server has them.
const INSTALLED: [&str; 8] = [
    "uuid-ossp", "pgcrypto", "hstore", "citext", "ltree", "intarray", "isn", "pg_partman",
];

/// Names that a neighbor has as well, with other arguments: judged one by one.
const SHARED_NAMES: [&str; 4] = [
    // pgx_ulid's is of its type: a literal means the text here, and both read the same texts.
    "ulid_to_uuid", // typeid-sql's is of its type, likewise.
    "typeid_check", // The server's aggregates, of other types.
    "min", "max",
];

/// Only the planner calls it, and writes no literals.
const UNCLEAR_ALONE: [&str; 1] = ["literals: mint.timestamptz_of('{}') 42725"];

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    schema: String,
    name: String,
    arguments: Vec<String>,
    defaults: usize,
    is_variadic: bool,
}

/// All neighbors: what creates their types and casts, and their functions, each signature once.
fn neighbors() -> (String, BTreeSet<Function>) {
    let (mut types, mut casts, mut functions) = (String::new(), String::new(), BTreeSet::new());
    for text in NEIGHBORS {
        let mut schema = "public";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix("schema ") {
                schema = name;
            } else if let Some(name) = line.strip_prefix("type ") {
                let _ = writeln!(types, "CREATE TYPE public.{name} AS (stands_in int);");
            } else if let Some(cast) = line.strip_prefix("cast ") {
                let words: Vec<&str> = cast.split(' ').collect();
                let [function, from, to] = words[..] else {
                    panic!("{line}");
                };
                let _ = writeln!(
                    casts,
                    "CREATE FUNCTION {function}({from}) RETURNS {to} LANGUAGE sql AS 'SELECT NULL::{to}';
                     CREATE CAST ({from} AS {to}) WITH FUNCTION {function}({from}) AS IMPLICIT;"
                );
            } else if let Some(operator) = line.strip_prefix("operator ") {
                let (name, arguments) = operator.split_once('(').expect("an operator");
                let (left, right) = arguments
                    .trim_end_matches(')')
                    .split_once(", ")
                    .expect("two arguments");
                let _ = writeln!(
                    casts,
                    "CREATE FUNCTION stands_in({left}, {right}) RETURNS boolean LANGUAGE sql AS 'SELECT true';
                     CREATE OPERATOR {name} (FUNCTION = stands_in, LEFTARG = {left}, RIGHTARG = {right});"
                );
            } else {
                functions.insert(function(schema, line));
            }
        }
    }
    (types + &casts, functions)
}

/// Reads `name(type, type) 1 variadic`: the count is of the defaults.
fn function(schema: &str, line: &str) -> Function {
    let (name, rest) = line.split_once('(').expect("a signature");
    let (arguments, rest) = rest.rsplit_once(')').expect("a signature");
    let arguments = arguments.split(", ").filter(|kind| !kind.is_empty());
    Function {
        schema: schema.to_owned(),
        name: name.to_owned(),
        arguments: arguments.map(str::to_owned).collect(),
        defaults: rest
            .split(' ')
            .find_map(|word| word.parse().ok())
            .unwrap_or(0),
        is_variadic: rest.ends_with("variadic"),
    }
}

impl Function {
    fn create(&self) -> String {
        let first_default = self.arguments.len() - self.defaults;
        let arguments = self.arguments.iter().enumerate().map(|(place, kind)| {
            let is_last = place + 1 == self.arguments.len();
            let mode = if self.is_variadic && is_last {
                "VARIADIC "
            } else {
                ""
            };
            let default = if place >= first_default {
                " DEFAULT NULL"
            } else {
                ""
            };
            format!("{mode}{kind}{default}")
        });
        let arguments: Vec<String> = arguments.collect();
        format!(
            "CREATE FUNCTION {}.\"{}\"({}) RETURNS int LANGUAGE internal AS 'pg_backend_pid'",
            self.schema,
            self.name,
            arguments.join(", ")
        )
    }
}

/// Creates the neighbors. The server has some of the functions itself, in later versions.
fn create(session: &mut Session) {
    for name in INSTALLED {
        if session.one(&format!(
            "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = '{name}')"
        )) {
            session.run(&format!("CREATE EXTENSION \"{name}\""));
        }
    }
    let (types_and_casts, functions) = neighbors();
    session.run(&types_and_casts);
    let mut count = 0;
    for function in functions {
        match session.try_run(&function.create()) {
            Ok(()) => count += 1,
            Err(refusal) => {
                let is_there = function.schema == "pg_catalog" && refusal.code == "42723";
                assert!(is_there, "{}: {refusal}", function.create());
            }
        }
    }
    assert!(count > 1_000, "only {count} functions");
}

/// Returns what becomes of the preparation of a statement: nothing, or its error.
const PROBE: &str = "CREATE FUNCTION pg_temp.probe(call text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE 'PREPARE probed AS SELECT ' || call;
        DEALLOCATE probed;
        RETURN '';
    EXCEPTION WHEN others THEN
        RETURN SQLSTATE;
    END $$";

/// Each function of a kind with each number of arguments that it takes, in three forms: as a caller writes constants, with
/// parameters, and with values of exactly its types. An array is empty, as its elements decide nothing.
const CALLS: &str = "SELECT form || ': ' || call FROM pg_proc p
    CROSS JOIN LATERAL generate_series((pronargs - pronargdefaults)::int, pronargs::int) AS n
    CROSS JOIN LATERAL (
        SELECT coalesce(string_agg(CASE typcategory WHEN 'N' THEN CASE WHEN kind::regtype IN ('regclass', 'regproc') THEN '''x''' ELSE '1' END WHEN 'B' THEN 'true' WHEN 'A' THEN 'ARRAY[1]' ELSE '''{}''' END, ', ' ORDER BY place), ''),
            coalesce(string_agg('$' || place, ', ' ORDER BY place), ''),
            coalesce(string_agg('NULL::' || format_type(kind, NULL), ', ' ORDER BY place), '')
        FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS a (kind, place) JOIN pg_type t ON t.oid = kind WHERE place <= n
    ) AS given (literals, parameters, exact)
    CROSS JOIN LATERAL (SELECT CASE pronamespace::regnamespace::text WHEN 'mint' THEN 'mint.' ELSE '' END || quote_ident(proname)) AS of (name)
    CROSS JOIN LATERAL (VALUES ('literals', format('%s(%s)', name, literals)), ('parameters', format('%s(%s)', name, parameters)),
        ('exact', format('%s(%s)', name, exact))) AS form (form, call)
    WHERE prokind IN ('f', 'a') AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
        AND NOT EXISTS (SELECT FROM pg_type WHERE oid = ANY (proargtypes::oid[]) AND typtype = 'p')";

const OURS: &str =
    "p.oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_proc'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint'))";

/// Returns each call and its error.
fn outcomes(session: &mut Session, which: &str) -> Vec<String> {
    session.run("SET check_function_bodies = off; SET plpgsql.extra_errors = ''");
    session.run(&PROBE.replace("CREATE", "CREATE OR REPLACE"));
    let calls = format!(
        "SELECT DISTINCT call || ' ' || pg_temp.probe(split_part(call, ': ', 2)) FROM ({CALLS} AND {which}) AS c (call) ORDER BY 1"
    );
    session.column(&calls)
}

/// No such function, or more than one.
fn is_unresolved(outcome: &&String) -> bool {
    ["42883", "42725"]
        .iter()
        .any(|code| outcome.ends_with(code))
}

/// Calls of another extension resolve as they do without pg_mint: nothing that was clear is ambiguous or missing now.
#[track_caller]
fn assert_as_before(before: &[String], after: &[String], what: &str) {
    let before: BTreeSet<&String> = before.iter().filter(is_unresolved).collect();
    let worse: Vec<&String> = after
        .iter()
        .filter(is_unresolved)
        .filter(|outcome| !before.contains(outcome))
        .collect();
    assert!(worse.is_empty(), "{what}: {worse:#?}");
}

/// UUIDs of names are those of uuid-ossp, where the server has that, and each reads the UUIDs of the other.
fn assert_same_uuids(session: &mut Session) {
    if !session.one::<bool>("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'uuid-ossp')")
    {
        return say("SKIPPED UUIDs of uuid-ossp: the contrib module is not in this server tree");
    }
    let same: bool = session.one(
        "SELECT bool_and(uuid_v3('dns', n) = uuid_generate_v3(uuid_ns_dns(), n) AND uuid_v5('url', n) = uuid_generate_v5(uuid_ns_url(), n)
             AND uuid_v5('oid', n) = uuid_generate_v5(uuid_ns_oid(), n) AND uuid_v3('x500', n) = uuid_generate_v3(uuid_ns_x500(), n))
             AND uuid_nil_value() = uuid_nil()
             AND uuid_version_of(uuid_generate_v1()) = 1 AND uuid_version_of(uuid_generate_v4()) = 4
             AND abs(extract(epoch FROM uuid_time(uuid_generate_v1()) - clock_timestamp())) < 60
         FROM unnest(ARRAY['', 'www.widgets.com', 'Zürich', repeat('x', 5000)]) n",
    );
    assert!(same, "not the UUIDs of uuid-ossp");
}

#[test]
fn neighbors_and_their_calls() {
    let server = Server::build("neighbors").start_empty();
    let mut session = server.connect("postgres");
    for database in ["before", "after", "alone"] {
        session.run(&format!("CREATE DATABASE {database}"));
    }
    let mut alone = server.connect("alone");
    alone.run("CREATE EXTENSION pg_mint");
    let own = outcomes(&mut alone, OURS);
    let unclear: Vec<&String> = own
        .iter()
        .filter(is_unresolved)
        .filter(|call| !call.starts_with("parameters"))
        .collect();
    assert_eq!(unclear, UNCLEAR_ALONE);

    let others = format!("NOT {OURS} AND p.oid >= 16384");
    let mut neighbors_first = server.connect("before");
    create(&mut neighbors_first);
    let of_others = outcomes(&mut neighbors_first, &others);
    neighbors_first.run("CREATE EXTENSION pg_mint");
    assert_same_uuids(&mut neighbors_first);
    assert_as_before(
        &own,
        &outcomes(&mut neighbors_first, OURS),
        "installed after",
    );
    assert_as_before(
        &of_others,
        &outcomes(&mut neighbors_first, &others),
        "calls of neighbors",
    );

    let mut neighbors_last = server.connect("after");
    neighbors_last.run("CREATE EXTENSION pg_mint");
    create(&mut neighbors_last);
    assert_as_before(
        &own,
        &outcomes(&mut neighbors_last, OURS),
        "installed before",
    );
    assert!(own.len() > 500 && of_others.len() > 2_000);

    let shared: Vec<String> = neighbors_last.column(&format!(
        "SELECT DISTINCT proname::text FROM pg_proc p WHERE {OURS} AND pronamespace = 'public'::regnamespace AND EXISTS (
             SELECT FROM pg_proc o WHERE o.proname = p.proname AND o.oid <> p.oid AND o.prokind = p.prokind AND NOT o.oid IN (
                 SELECT objid FROM pg_depend WHERE classid = 'pg_proc'::regclass AND deptype = 'e'
                     AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')))
         ORDER BY 1 DESC"
    ));
    assert_eq!(shared, SHARED_NAMES);
    let types: Vec<String> = neighbors_last.column(
        "SELECT typname::text FROM pg_type t JOIN pg_depend d ON d.objid = t.oid AND d.classid = 'pg_type'::regclass AND d.deptype = 'e'
         JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_mint'
         WHERE t.typrelid = 0 AND EXISTS (SELECT FROM pg_type o WHERE o.typname = t.typname AND o.oid <> t.oid)",
    );
    assert_eq!(types, Vec::<String>::new(), "types of the same name");
    // Operators and casts cannot meet those of others where each is of a type of this extension.
    let foreign: Vec<String> = neighbors_last.column(
        "SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend d
         JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_mint' AND d.deptype = 'e'
         LEFT JOIN pg_operator o ON d.classid = 'pg_operator'::regclass AND o.oid = d.objid
         LEFT JOIN pg_cast c ON d.classid = 'pg_cast'::regclass AND c.oid = d.objid
         WHERE d.classid IN ('pg_operator'::regclass, 'pg_cast'::regclass) AND NOT EXISTS (
             SELECT FROM pg_depend t WHERE t.classid = 'pg_type'::regclass AND t.deptype = 'e' AND t.refobjid = e.oid
                 AND t.objid IN (o.oprleft, o.oprright, c.castsource, c.casttarget))",
    );
    assert_eq!(
        foreign,
        Vec::<String>::new(),
        "operators and casts of other types"
    );
}
