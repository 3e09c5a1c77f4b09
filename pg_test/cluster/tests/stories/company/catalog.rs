//! The extension's objects in the catalogs: each has its comment, and each function its privileges.

use mint_cluster::Server;

/// The functions that PUBLIC must not call: they show other roles' work, or change what all share.
const NOT_FOR_PUBLIC: &[&str] = &[
    "accept_clock", "ceilings", "health", "highest_ceiling", "lanes", "leaf_alloc_insert",
    "leaf_alloc_refuse", "leases", "objectid_time_support", "release_leases", "reset_ceiling",
    "reset_stats", "sequence_table_support", "snowflake_time_support", "stat_values",
    "uuid_time_support", "uuid_v7_time_support",
];

#[test]
fn every_object_has_a_comment() {
    let server = Server::start("comments");
    let mut session = server.connect("postgres");
    let members = "SELECT classid, objid FROM pg_depend
        WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')";
    let without: Vec<String> = session.column(&format!(
        "SELECT pg_describe_object(classid, objid, 0) FROM ({members}) m
         WHERE classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_namespace'::regclass)
             AND pg_catalog.obj_description(objid, (SELECT relname FROM pg_class WHERE oid = classid)) IS NULL
             AND NOT EXISTS (SELECT FROM pg_type t
                 WHERE classid = 'pg_type'::regclass AND t.oid = objid AND (t.typrelid <> 0 OR t.typelem <> 0))
         ORDER BY 1"
    ));
    assert_eq!(without, Vec::<String>::new(), "objects without a comment");
    let all: i64 = session.one(&format!("SELECT count(*) FROM ({members}) m"));
    assert!(all > 150, "only {all} objects");
}

#[test]
fn functions_for_some_roles_are_these() {
    let server = Server::start("privileges");
    let mut session = server.connect("postgres");
    let revoked: Vec<String> = session.column(
        "SELECT DISTINCT proname::text FROM pg_depend JOIN pg_proc p ON p.oid = objid
         WHERE deptype = 'e' AND classid = 'pg_proc'::regclass
             AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')
             AND NOT pg_catalog.has_function_privilege('public', p.oid, 'EXECUTE')
         ORDER BY 1",
    );
    assert_eq!(revoked, NOT_FOR_PUBLIC);
}
