//! What holds for every UUID, every ObjectID and every input: above all, that nothing panics.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use mint_core::{ObjectId, Uuid, mysql, uuid};
use proptest::prelude::*;

/// Texts that are nearly UUIDs or ObjectIDs, and texts that are not.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[0-9a-fA-F]{22,40}",
        "[{]?[0-9a-fA-F-]{30,40}[}]?",
        "(urn:uuid:)?[{]?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-fg]{12}[}]?",
    ]
}

/// MySQL's grammar, spelled out.
fn mysql_grammar(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = match bytes {
        [b'{', inner @ .., b'}'] if inner.len() == 36 => inner,
        other if other.len() == 36 || other.len() == 32 => other,
        _ => return false,
    };
    let dashed = inner.len() == 36;
    inner.iter().enumerate().all(|(place, byte)| {
        if dashed && [8, 13, 18, 23].contains(&place) {
            *byte == b'-'
        } else {
            byte.is_ascii_hexdigit()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn mysql_reads_its_grammar_and_nothing_else(text in text()) {
        prop_assert_eq!(mysql::parse(text.as_bytes()).is_some(), mysql_grammar(&text));
    }

    #[test]
    fn mysql_reads_all_that_it_writes(bytes: [u8; 16], swap: bool) {
        let id = Uuid::from_bytes(bytes);
        prop_assert_eq!(mysql::from_bin(mysql::to_bin(&id, swap), swap), id);
        for text in [id.simple().to_string(), id.hyphenated().to_string(), id.braced().to_string()] {
            prop_assert_eq!(mysql::parse(text.as_bytes()), Some(id));
            prop_assert_eq!(mysql::parse(text.to_uppercase().as_bytes()), Some(id));
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in text(), bytes: Vec<u8>) {
        let _ = (uuid::namespace(text.as_bytes()), uuid::namespace(&bytes));
        let _ = (mysql::parse(&bytes), uuid::parse_mac(&text));
    }

    #[test]
    fn an_object_id_reads_24_digits_and_nothing_else(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let right = bytes.len() == 24 && bytes.iter().all(u8::is_ascii_hexdigit);
        prop_assert_eq!(ObjectId::parse(&bytes).is_some(), right);
    }

    #[test]
    fn an_object_id_reads_its_own_text(bytes: [u8; 12]) {
        let id = ObjectId(bytes);
        let text = id.to_string();
        prop_assert_eq!(ObjectId::parse(text.as_bytes()), Some(id));
        prop_assert_eq!(ObjectId::parse(text.to_uppercase().as_bytes()), Some(id));
        // Order of texts is order of bytes.
        let low = ObjectId::min(id.time()).unwrap();
        prop_assert!(low <= id && low.to_string() <= text);
        prop_assert!(ObjectId::max(id.time()).unwrap() >= id);
    }

    #[test]
    fn any_uuid_can_be_looked_at(bytes: [u8; 16]) {
        let id = Uuid::from_bytes(bytes);
        let timed = matches!(uuid::version(&id), Some(1 | 2 | 6 | 7));
        prop_assert_eq!(uuid::time(&id).is_some(), timed);
        let gregorian = matches!(uuid::version(&id), Some(1 | 2 | 6));
        prop_assert_eq!(uuid::node(&id).is_some(), gregorian);
        prop_assert_eq!(uuid::clock_sequence(&id).is_some(), gregorian);
        prop_assert_eq!(uuid::local(&id).is_some(), uuid::version(&id) == Some(2));
        let _ = uuid::variant(&id);
    }

    #[test]
    fn versions_1_and_6_convert_there_and_back(bytes: [u8; 16]) {
        let one = uuid::Uuid::from_bytes(bytes);
        let mut bytes = bytes;
        bytes[6] = bytes[6] & 0x0f | 0x10;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        prop_assert_eq!(uuid::v1_to_v6(&one).is_some(), uuid::version(&one) == Some(1));
        let one = uuid::Uuid::from_bytes(bytes);
        let six = uuid::v1_to_v6(&one).unwrap();
        prop_assert_eq!(uuid::v6_to_v1(&six), Some(one));
        prop_assert_eq!(uuid::time(&six), uuid::time(&one));
    }

    #[test]
    fn a_version_7_lies_within_the_bounds_of_its_time(at in 0..(1_i64 << 48) * 1_000, random: u64) {
        let id = uuid::v7_at(at, random).unwrap();
        let time = uuid::time(&id).unwrap();
        prop_assert_eq!(time, at / 1_000 * 1_000);
        prop_assert!(uuid::v7_min(time) <= Some(id) && Some(id) <= uuid::v7_max(time));
        prop_assert!(uuid::v7_max(time - 1) < Some(id));
    }

    #[test]
    fn bounds_take_any_moment(at: i64) {
        for id in [uuid::v7_min(at), uuid::v7_max(at)].into_iter().flatten() {
            prop_assert_eq!(uuid::version(&id), Some(7));
        }
        let _ = (uuid::v7_at(at, 0), ObjectId::min(at), ObjectId::max(at));
    }
}
