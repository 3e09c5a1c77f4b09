//! Binary input: malformed bytes are refused, and what is accepted is a proper value.

use super::table::is_bad;
use mint_cluster::{Server, Session, count};

/// Sends the bytes of a layout to a binary COPY.
fn copy_in(session: &mut Session, value: &[u8]) -> Result<(), String> {
    let mut data = b"PGCOPY\n\xff\r\n\0".to_vec();
    data.extend([0; 8]);
    data.extend(1_i16.to_be_bytes());
    data.extend((value.len() as i32).to_be_bytes());
    data.extend(value);
    data.extend((-1_i16).to_be_bytes());
    session
        .try_copy_in("COPY layout FROM STDIN (FORMAT binary)", &data)
        .map_err(|refusal| {
            assert!(!is_bad(&refusal.code), "{value:02x?}: {refusal}");
            refusal.code
        })
}

/// Malformed binary input is refused, and accepted input is a proper value: it can be printed, read back, minted with and
/// decoded.
#[test]
fn a_malformed_binary_layout_is_refused_or_canonical() {
    let server = Server::build("binary input")
        .conf("pg_mint.max_wait = 0")
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE layout (value snowflake_layout)");
    let layouts: Vec<Vec<u8>> =
        session.column("SELECT mint.snowflake_layout_send(layout) FROM snowflake_layouts()");
    let (mut taken, mut refused) = (0, 0);
    let mut put = |session: &mut Session, bytes: &[u8]| match copy_in(session, bytes) {
        Ok(()) => taken += 1,
        Err(_) => refused += 1,
    };
    for good in layouts.iter().take(count(usize::MAX, 3)) {
        for place in 0..good.len() {
            for change in [0x00, 0x01, 0x7f, 0x80, 0xff_u8] {
                let mut bytes = good.clone();
                bytes[place] = change;
                put(&mut session, &bytes);
            }
            put(&mut session, &good[..place]);
        }
        put(&mut session, &[good.as_slice(), &[0]].concat());
    }
    assert!(
        taken > 20 && refused > 100,
        "{taken} taken, {refused} refused"
    );
    let changed: Vec<String> = session.column(
        "SELECT value::text FROM layout WHERE value::text::snowflake_layout <> value
            OR mint.snowflake_layout_send(value::text::snowflake_layout) <> mint.snowflake_layout_send(value)",
    );
    assert_eq!(changed, Vec::<String>::new(), "not the same when read back");
    let all: Vec<String> = session.column("SELECT DISTINCT value::text FROM layout");
    for layout in all {
        for call in [
            "snowflake_next_id(0, $)", "snowflake_decode(-1, $)", "snowflake_max(now(), $)",
        ] {
            let call = format!("SELECT {}", call.replace('$', &format!("'{layout}'")));
            if let Err(refusal) = session.try_run(&call) {
                assert!(!is_bad(&refusal.code), "{call}: {refusal}");
            }
        }
    }
}
