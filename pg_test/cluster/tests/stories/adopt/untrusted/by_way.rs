//! Domains of another role that are not cast to by name: by way of a text, of a table at the other end of a foreign key, of an
//! aggregate, and of an index that a new partition gets. Nothing of that role runs as the owner of the table.

use super::domains::{assert_not_sprung, each, set, start};

#[test]
fn domains_of_another_by_way_of_others() {
    let server = start("by way of others");
    let mut all = Vec::new();
    for role in ["alice", "postgres"] {
        let mut owner = server.connect_as(role, "postgres");
        owner.run(&format!(
            "CREATE TABLE {role}_text (id serial PRIMARY KEY, note text CHECK ((note::e.pair).one IS DISTINCT FROM 0));
             CREATE TABLE {role}_key (id serial PRIMARY KEY);
             CREATE TABLE {role}_child (key_id bigint REFERENCES {role}_key, n int); CREATE INDEX ON {role}_child ((n::e.d));
             CREATE FUNCTION {role}_sum(e.d, int) RETURNS e.d IMMUTABLE LANGUAGE sql AS 'SELECT $1';
             CREATE AGGREGATE {role}_total(int) (sfunc = {role}_sum, stype = e.d, initcond = '1');
             CREATE TABLE {role}_wide (id bigserial PRIMARY KEY, n int); CREATE VIEW {role}_shown AS SELECT {role}_total(n), max(id) FROM {role}_wide;
             CREATE TABLE {role}_parts (id bigint DEFAULT snowflake_next_id(5), n int) PARTITION BY RANGE (id); CREATE INDEX ON {role}_parts ((n::e.d))"
        ));
        all.extend(
            [
                ("text", "values of type e."),
                ("key", "values of type e.d"),
                ("wide", ""),
            ]
            .map(|(table, why)| (format!("{role}_{table}"), why)),
        );
    }
    set(&server);
    for (table, why) in all {
        let said = each(
            &server,
            &format!(
                "SELECT string_agg(note, E'\\n') FROM mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)')"
            ),
        );
        assert_not_sprung(&server, &format!("plan of {table}"));
        assert!(said[1].contains(why), "{table}: {said:?}");
    }
    for table in ["alice_parts", "postgres_parts"] {
        let mut session = server.connect("postgres");
        let refusal = session.refusal(&format!("CALL mint.partition_maintain('{table}', '1 day')"));
        assert!(
            refusal.to_string().contains("values of type e.d"),
            "{refusal}"
        );
        assert_not_sprung(&server, table);
    }
}
