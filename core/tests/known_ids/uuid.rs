//! Published UUIDs and ObjectIDs, each a test of its own: RFC 9562, MySQL's tests, the BSON corpus.

use crate::known::row;
use mint_core::uuid::{mysql, version};
use mint_core::{Micros, ObjectId, Uuid};
use serde_json::Value;

fn id(value: &Value) -> Uuid {
    value.as_str().unwrap().parse().unwrap()
}

fn bytes<const N: usize>(value: &Value) -> [u8; N] {
    let mut bytes = [0; N];
    hex::decode_to_slice(value.as_str().unwrap(), &mut bytes).unwrap();
    bytes
}

fn timestamp(value: &Value) -> Micros {
    let text = value.as_str().unwrap();
    text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

fn hex_number(value: &Value) -> u64 {
    u64::from_str_radix(&value.as_str().unwrap()[2..], 16).unwrap()
}

/// Time, clock sequence and node of an id are those of the row, and it converts there and back.
fn v1_or_v6(kind: &str, version: u8) {
    let vector = row("uuid", kind, "");
    let (input, id) = (&vector["input"], id(&vector["expected"]));
    let unix = hex_number(&input["ts_100ns"]) as i64 - 0x01b2_1dd2_1381_4000;
    assert_eq!(version::version(&id), Some(version));
    assert_eq!(version::variant(&id), "rfc9562");
    assert_eq!(version::time(&id), Some(unix.div_euclid(10)));
    let sequence = hex_number(&input["clock_seq"]) as u16;
    assert_eq!(version::clock_sequence(&id), Some(sequence));
    assert_eq!(version::node(&id), Some(bytes(&input["node"])));
    let other = match version {
        1 => version::v1_to_v6(&id),
        _ => version::v6_to_v1(&id),
    };
    let counterpart = if version == 1 {
        "v6-compose"
    } else {
        "v1-compose"
    };
    let there = self::id(&row("uuid", counterpart, "")["expected"]);
    assert_eq!(other, Some(there));
}

fn check_named(kind: &str, mark: &str, build: fn(&Uuid, &[u8]) -> Uuid) {
    let row = row("uuid", kind, mark);
    let namespace = version::namespace(row["input"]["ns"].as_str().unwrap().as_bytes()).unwrap();
    let name = row["input"]["name"].as_str().unwrap();
    assert_eq!(build(&namespace, name.as_bytes()), id(&row["expected"]));
}

#[test]
fn rfc_9562_version_4() {
    let row = row("uuid", "v4-from-bytes", "");
    assert_eq!(
        version::v4(bytes(&row["input"]["bytes"])),
        id(&row["expected"])
    );
}

#[test]
fn rfc_9562_version_7() {
    let row = row("uuid", "v7-decode", "");
    let (id, expected) = (id(&row["input"]["uuid"]), &row["expected"]);
    assert_eq!(version::version(&id), Some(7));
    let at = timestamp(&expected["ts"]);
    assert_eq!(at, expected["unix_ts_ms"].as_i64().unwrap() * 1_000);
    assert_eq!(version::time(&id), Some(at));
    assert!((version::v7_min(at)..=version::v7_max(at)).contains(&Some(id)));
    assert!(version::v7_min(at + 1) > Some(id) && version::v7_max(at - 1) < Some(id));
}

#[test]
fn rfc_9562_version_8_of_a_time() {
    let row = row("uuid", "v8-time", "");
    let mut plain = [0; 16];
    // 48 bits, 12 bits behind the version, 62 bits behind the variant.
    let time = hex_number(&row["input"]["ts_10ns"]);
    let custom = u64::from_be_bytes(bytes(&row["input"]["custom_c"]));
    plain[..8].copy_from_slice(&(time >> 12 << 16 | time & 0xfff).to_be_bytes());
    plain[8..].copy_from_slice(&custom.to_be_bytes());
    assert_eq!(version::v8(plain), id(&row["expected"]));
}

#[test]
fn nil_and_max() {
    assert_eq!(id(&row("uuid", "nil", "")["expected"]), Uuid::nil());
    assert_eq!(id(&row("uuid", "max", "")["expected"]), Uuid::max());
    for id in [Uuid::nil(), Uuid::max()] {
        assert_eq!(version::version(&id), None);
        assert_eq!(version::time(&id), None);
    }
}

fn v1_decodes(mark: &str) {
    let row = row("uuid", "v1-decode", mark);
    let id = id(&row["input"]["uuid"]);
    assert_eq!(version::time(&id), Some(timestamp(&row["expected"]["ts"])));
    assert_eq!(version::node(&id), Some(bytes(&row["expected"]["node"])));
}

#[test]
fn the_namespace_dns_is_itself_a_version_1() {
    v1_decodes("6ba7b810");
    let row = row("uuid", "v1-decode", "6ba7b810");
    assert_eq!(version::namespace(b"dns"), Some(id(&row["input"]["uuid"])));
}

#[test]
fn ramseys_version_2_decodes() {
    let row = row("uuid", "v2-decode", "");
    let (id, expected) = (id(&row["input"]["uuid"]), &row["expected"]);
    assert_eq!(version::local(&id), Some((0, 501)));
    assert_eq!(expected["local_id"], 501);
    assert_eq!(version::time(&id), Some(timestamp(&expected["ts_floor"])));
    assert_eq!(version::clock_sequence(&id), Some(30));
    assert_eq!(version::node(&id), Some(bytes(&expected["node"])));
}

fn mysql_stores(mark: &str) {
    let row = row("mysql", "uuid_to_bin", mark);
    let id = mysql::parse(row["input"]["uuid"].as_str().unwrap().as_bytes()).unwrap();
    let swap = row["input"]["swap"] == 1;
    let stored = mysql::to_bin(&id, swap);
    assert_eq!(stored, bytes(&row["expected"]));
    assert_eq!(mysql::from_bin(stored, swap), id);
}

fn mysql_reads_swapped(mark: &str) {
    let row = row("mysql", "bin_to_uuid", mark);
    let stored = bytes(&row["input"]["bin"]);
    let id = id(&row["expected"]);
    assert_eq!(mysql::from_bin(stored, true), id);
    assert_eq!(mysql::to_bin(&id, true), stored);
    // The swap is not its own inverse.
    assert_ne!(
        mysql::to_bin(&Uuid::from_bytes(stored), true),
        *id.as_bytes()
    );
}

fn mysql_judges(mark: &str) {
    let row = row("mysql", "is_uuid", &format!("\"text\":\"{mark}"));
    let text = row["input"]["text"].as_str().unwrap();
    assert_eq!(
        mysql::parse(text.as_bytes()).is_some(),
        row["expected"] == 1
    );
}

#[test]
fn mysql_refuses_a_digit_too_many_and_nothing_at_all() {
    for mark in ["d5cc7", "\"text\":\"\""] {
        let row = row("mysql", "uuid_to_bin-error", mark);
        assert_eq!(
            mysql::parse(row["input"]["text"].as_str().unwrap().as_bytes()),
            None
        );
    }
}

fn object_decodes(text: &str) {
    let row = row("objectid", "decode", text);
    let id = ObjectId::parse(text.as_bytes()).unwrap();
    let expected = &row["expected"];
    assert_eq!(id.to_string(), text);
    assert_eq!(ObjectId::parse(text.to_uppercase().as_bytes()), Some(id));
    assert_eq!(id.time(), timestamp(&expected["ts"]));
    assert_eq!(
        u64::from(id.counter()),
        expected["counter"].as_u64().unwrap()
    );
    assert_eq!(id.0[4..9], bytes::<5>(&expected["rand5"]));
    let at = id.time();
    assert!((ObjectId::min(at)..=ObjectId::max(at)).contains(&Some(id)));
}

#[test]
fn a_truncated_object_id_is_none() {
    let row = row("objectid", "parse-error", "");
    assert_eq!(
        ObjectId::parse(row["input"]["text"].as_str().unwrap().as_bytes()),
        None
    );
}

#[test]
fn an_object_id_travels_in_bson() {
    let row = row("objectid", "bson", "");
    let document: [u8; 20] = bytes(&row["expected"]);
    // Length, type 7, the name "a", the id, the end.
    let (head, rest) = document.split_at(7);
    let id = ObjectId(rest[..12].try_into().unwrap());
    let shown = row["input"]["doc"].as_str().unwrap();
    assert!(shown.contains(&id.to_string()), "{shown}");
    let parsed = ObjectId::parse(id.to_string().as_bytes()).unwrap();
    assert_eq!([head, &parsed.0, &[0]].concat(), document);
}

vectors! {
    rfc_9562_version_1: v1_or_v6("v1-compose", 1);
    rfc_9562_version_6: v1_or_v6("v6-compose", 6);
    rfc_9562_version_3: check_named("v3", "www.example.com", version::v3);
    rfc_9562_version_5: check_named("v5", "www.example.com", version::v5);
    version_5_of_another_name: check_named("v5", "www.widgets.com", version::v5);
    a_virtual_machines_version_1_decodes: v1_decodes("005056219395");
    mysqls_version_1_of_1617_decodes: v1_decodes("6ccd780c");
    mysql_stores_as_written: mysql_stores("6ccd780c");
    mysql_stores_swapped: mysql_stores("c8eb4b15");
    mysql_reads_its_first_swapped_example: mysql_reads_swapped("7f9d04ae");
    mysql_reads_its_second_swapped_example: mysql_reads_swapped("e60c88ba");
    mysql_takes_braces: mysql_judges("{12345678-1234-5678-1234");
    mysql_takes_dashes: mysql_judges("12345678-1234-5678-1234");
    mysql_wants_all_dashes_in_braces: mysql_judges("{12345678-12345678");
    mysql_wants_dashes_in_their_places: mysql_judges("12345678-123456-78");
    mysql_counts_digits: mysql_judges("99");
    the_object_id_of_mongodbs_manual_decodes: object_decodes("507c7f79bcf86cd7994f6c0e");
    the_most_copied_object_id_decodes: object_decodes("507f1f77bcf86cd799439011");
    the_object_id_of_all_zeros_decodes: object_decodes("000000000000000000000000");
    an_object_id_of_2038_decodes: object_decodes("7fffffff0000000000000000");
    the_last_object_id_of_2106_decodes: object_decodes("ffffffffffffffffffffffff");
}
