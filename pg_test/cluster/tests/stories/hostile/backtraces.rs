//! A server whose environment asks Rust for backtraces: no client sees one, as they show paths of source files.

use mint_cluster::{Refusal, Server, Session};

/// An error of core, of the extension, of the server's in an SQL statement of the extension, one that a subtransaction catches,
/// a check of a setting, and those of input functions.
const REFUSED: [&str; 9] = [
    "SELECT snowflake_next_id(-1)",
    "SELECT bin_to_uuid('nonsense')",
    "SELECT ticket_create('taken')",
    "SELECT segment_create('nowhere.s')",
    "SELECT segment_next('plain')",
    "SELECT * FROM mint.convert_plan('plain', 'missing', 'uuid_v7()')",
    "SELECT * FROM mint.partition_plan('plain', '1 month')",
    "SET pg_mint.node = 'nonsense'",
    "SELECT 'nonsense'::objectid",
];

fn assert_plain(refusal: &Refusal) {
    let whole = refusal.to_string();
    for sign in [".rs", "rust", "pgrx", "   0:", "stack backtrace"] {
        assert!(!whole.contains(sign), "{whole}");
    }
}

fn ask(session: &mut Session) {
    for sql in REFUSED {
        assert_plain(&session.refusal(sql));
        // PL/pgSQL catches the same texts.
        let texts: String = session.one(&format!("SELECT pg_temp.caught($sql${sql}$sql$)"));
        assert!(
            !texts.contains(".rs") && !texts.contains("   0:"),
            "{texts}"
        );
    }
    let warned: i64 = session.one("SELECT count(*) FROM mint.health() WHERE detail LIKE '%.rs%'");
    assert_eq!(warned, 0);
}

#[test]
fn no_error_has_a_backtrace() {
    for (name, value, preload) in [
        ("RUST_BACKTRACE", "1", false),
        ("RUST_BACKTRACE", "full", true),
        ("RUST_LIB_BACKTRACE", "1", false),
    ] {
        let server = Server::build("backtraces")
            .environment(name, value)
            .preload(preload)
            .start();
        let mut session = server.connect("postgres");
        let mut other = server.connect("postgres");
        for session in [&mut session, &mut other] {
            session.run(
                "CREATE TABLE IF NOT EXISTS plain (id bigint PRIMARY KEY); CREATE SEQUENCE IF NOT EXISTS taken;
                 LOAD 'pg_mint';
                 CREATE FUNCTION pg_temp.caught(sql text) RETURNS text LANGUAGE plpgsql AS $$
                     DECLARE message text; detail text; hint text; context text;
                     BEGIN
                         EXECUTE sql;
                         RETURN '';
                     EXCEPTION WHEN others THEN
                         GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
                             hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
                         RETURN concat_ws(' ', message, detail, hint, context);
                     END $$",
            );
            ask(session);
        }
        assert!(!server.log().contains("stack backtrace"), "{name}");
        assert!(!server.log().contains("pgrx"), "{name}: {}", server.log());
    }
}
