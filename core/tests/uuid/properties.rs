//! Properties of every UUID, every ObjectID and every input: above all, nothing panics.

use mint_core::uuid::{mysql, version};
use mint_core::{ObjectId, Uuid, UuidLanes};
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
        let _ = (version::namespace(text.as_bytes()), version::namespace(&bytes));
        let _ = (mysql::parse(&bytes), version::parse_mac(&text));
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
        let timed = matches!(version::version(&id), Some(1 | 2 | 6 | 7));
        prop_assert_eq!(version::time(&id).is_some(), timed);
        let gregorian = matches!(version::version(&id), Some(1 | 2 | 6));
        prop_assert_eq!(version::node(&id).is_some(), gregorian);
        prop_assert_eq!(version::clock_sequence(&id).is_some(), gregorian);
        prop_assert_eq!(version::local(&id).is_some(), version::version(&id) == Some(2));
        let _ = version::variant(&id);
    }

    #[test]
    fn a_redrawn_uuid_is_of_the_same_word(bytes: [u8; 8], random: u64, other: u64) {
        let milli = u64::from_be_bytes(bytes) as i64 >> 16;
        let id = version::v7_at(milli.unsigned_abs() as i64 * 1_000, random).unwrap();
        let redrawn = version::v7_redrawn(&id, other);
        prop_assert_eq!(redrawn.as_bytes()[..8].to_vec(), id.as_bytes()[..8].to_vec());
        prop_assert_eq!(version::version(&redrawn), Some(7));
        // All of the bits that are random, and no others.
        prop_assert_eq!(redrawn.as_u64_pair().1, other & u64::MAX >> 2 | 1 << 63);
        prop_assert_eq!(version::v7_redrawn(&redrawn, other), redrawn);
    }

    #[test]
    fn version_7_has_a_millisecond_and_its_4096ths(at: i64) {
        let nanos = at.max(0).unsigned_abs();
        let (upper, _) = UuidLanes::new(0).v7(at, 0).as_u64_pair();
        let part = ((nanos % 1_000_000) << 12) / 1_000_000;
        // The word after that of a lane which issued nothing yet is 1.
        prop_assert_eq!(upper >> 16 << 12 | upper & 0xfff, ((nanos / 1_000_000) << 12 | part).max(1));
    }

    #[test]
    fn versions_1_and_6_convert_there_and_back(bytes: [u8; 16]) {
        let one = version::Uuid::from_bytes(bytes);
        let mut bytes = bytes;
        bytes[6] = bytes[6] & 0x0f | 0x10;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        prop_assert_eq!(version::v1_to_v6(&one).is_some(), version::version(&one) == Some(1));
        let one = version::Uuid::from_bytes(bytes);
        let six = version::v1_to_v6(&one).unwrap();
        prop_assert_eq!(version::v6_to_v1(&six), Some(one));
        prop_assert_eq!(version::time(&six), version::time(&one));
    }

    #[test]
    fn a_version_7_lies_within_the_bounds_of_its_time(at in 0..(1_i64 << 48) * 1_000, random: u64) {
        let id = version::v7_at(at, random).unwrap();
        let time = version::time(&id).unwrap();
        prop_assert_eq!(time, at / 1_000 * 1_000);
        prop_assert!(version::v7_min(time) <= Some(id) && Some(id) <= version::v7_max(time));
        prop_assert!(version::v7_max(time - 1) < Some(id));
    }

    #[test]
    fn bounds_take_any_moment(at: i64) {
        for id in [version::v7_min(at), version::v7_max(at)].into_iter().flatten() {
            prop_assert_eq!(version::version(&id), Some(7));
        }
        let _ = (version::v7_at(at, 0), ObjectId::min(at), ObjectId::max(at));
    }
}
