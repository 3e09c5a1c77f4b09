//! Input of UUIDs and ObjectIDs: binary, and by pg_input_is_valid. No input ends a session.

use mint_cluster::{Server, count, say};

/// A field of a binary COPY has any bytes of any length. Twelve bytes are an ObjectID, all else gets an error of the
/// protocol, and no session ends.
#[test]
fn binary_input_takes_twelve_bytes_and_nothing_else() {
    let server = Server::start("binary input");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE taken (id objectid)");
    let directory: String = session.one("SHOW data_directory");
    let copy = format!("COPY taken FROM '{directory}/fuzz.bin' (FORMAT binary)");
    let mut random: u64 = 42;
    let mut next = || {
        // Numerical Recipes' generator: any bytes do.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    for round in 0..count(300, 60) {
        let length = if round % 4 == 0 { 12 } else { next() % 40 };
        let field: Vec<u8> = (0..length).map(|_| next() as u8).collect();
        let mut file = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01".to_vec();
        file.extend((length as u32).to_be_bytes());
        file.extend(&field);
        file.extend([0xff, 0xff]);
        std::fs::write(format!("{directory}/fuzz.bin"), &file).expect("the file is written");
        session.run("TRUNCATE taken");
        if length == 12 {
            session.run(&copy);
            let hex: String = field.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(session.one::<String>("SELECT id::text FROM taken"), hex);
        } else {
            let refusal = session.refusal(&copy);
            assert!(
                ["22P03", "08P01"].contains(&refusal.code.as_str()),
                "{refusal}"
            );
        }
        let bytes: String = field.iter().map(|byte| format!("{byte:02x}")).collect();
        for (call, right) in [
            ("bytea '\\x{}'::objectid", length == 12),
            ("uuid_v8('\\x{}')", length == 16),
            ("bin_to_uuid('\\x{}', true)", length == 16),
        ] {
            let sql = format!("SELECT {}", call.replace("{}", &bytes));
            if right {
                session.run(&sql);
            } else {
                session.refused(&sql, "22P03");
            }
        }
    }
    // Output in both formats.
    session
        .run("TRUNCATE taken; INSERT INTO taken SELECT objectid() FROM generate_series(1, 1000)");
    for format in ["binary", "text", "csv"] {
        session.run(&format!(
            "COPY taken TO '{directory}/out' (FORMAT {format}); CREATE TEMP TABLE back (id objectid);
             COPY back FROM '{directory}/out' (FORMAT {format})"
        ));
        assert_eq!(
            session.one::<i64>("SELECT count(*) FROM taken JOIN back USING (id)"),
            1_000
        );
        session.run("DROP TABLE back");
    }
}

/// pg_input_is_valid of PostgreSQL 16 and later returns false for a bad text, without an error.
#[test]
fn pg_input_is_valid_returns_false_for_a_bad_text() {
    let server = Server::start("soft errors");
    let mut session = server.connect("postgres");
    if session.one::<String>("SHOW server_version_num").as_str() < "160000" {
        return say("SKIPPED: PostgreSQL 15 has no pg_input_is_valid");
    }
    assert!(session.one::<bool>(
        "SELECT pg_input_is_valid('507f1f77bcf86cd799439011', 'objectid')
            AND NOT pg_input_is_valid('507f1f77bcf86cd79943901', 'objectid')"
    ));
    let said: String = session.one(
        "SELECT concat_ws(' ', sql_error_code, message) FROM pg_input_error_info('%s', 'objectid')",
    );
    assert_eq!(said, "22P02 invalid input syntax for type objectid: \"%s\"");
}
