//! UUIDs as text: texts of other libraries, the order of texts, and that nothing is lost.

use mint_core::codec::text::{self, ENCODINGS, Encoding};
use mint_core::codec::ulid;
use mint_core::codec::wide::MAX_WIDE;
use mint_core::{EncodingError, Uuid};
use proptest::prelude::*;

fn write(encoding: &Encoding, id: u128) -> String {
    String::from_utf8(encoding.encode_wide(id, &mut [0; MAX_WIDE]).to_vec()).unwrap()
}

fn of(name: &str) -> &'static Encoding {
    text::by_name(name.as_bytes()).unwrap()
}

/// Python printed these of RFC 9562's version 7: `base64.urlsafe_b64encode`, `bytes.hex`, and digits by `divmod`.
#[test]
fn the_texts_of_rfc_9562s_version_7() {
    let id: Uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse().unwrap();
    for (name, shown) in [
        ("base58", "1bHGAXWWp4nyyPjqh9idcZ"),
        ("base58btc", "1BihbxwwQ4NZZpKRH9JDCz"),
        ("base62", "02p5oQZoHTv0zeY5yG21K3"),
        ("base64url", "AX8i4nmwfMOYxNwMDAc5jw"),
        ("crockford", "01FWHE4YDGFK1SHH6W1G60EECF"),
        ("crockford-check", "01FWHE4YDGFK1SHH6W1G60EECFX"),
        ("zbase32", "yf91fau3sb6c8ggr5ogyab33th"),
        ("hex", "017f22e279b07cc398c4dc0c0c07398f"),
    ] {
        assert_eq!(write(of(name), id.as_u128()), shown, "{name}");
        assert_eq!(of(name).decode_wide(shown.as_bytes()), Ok(id.as_u128()));
    }
}

/// The first and the last UUID: every text of an encoding has one length.
#[test]
fn all_texts_of_an_encoding_have_one_length() {
    for encoding in ENCODINGS.iter().filter(|it| it.is_of_uuids()) {
        let length = encoding.wide_digits() + usize::from(encoding.name == "crockford-check");
        for id in [0, 1, u128::MAX / 3, u128::MAX] {
            assert_eq!(write(encoding, id).len(), length, "{}", encoding.name);
        }
    }
}

/// A wrong length, more than 128 bits, and bits behind the last one, each in all encodings that have it.
#[test]
fn texts_that_are_no_uuids_are_refused() {
    use EncodingError::*;
    for encoding in ENCODINGS.iter().filter(|it| it.is_of_uuids()) {
        let (name, expected) = (encoding.name, encoding.wide_digits());
        let whole = write(encoding, u128::MAX);
        let short = encoding.decode_wide(&whole.as_bytes()[1..]);
        assert_eq!(
            short,
            Err(Length {
                found: expected - 1,
                expected
            }),
            "{name}"
        );
        let empty = encoding.decode_wide(b"");
        match name {
            "crockford-check" => assert_eq!(empty, Err(Empty)),
            _ => assert_eq!(empty, Err(Length { found: 0, expected })),
        }
    }
    for (name, text) in [
        ("base58", "ZZZZZZZZZZZZZZZZZZZZZZ"),
        ("base58btc", "zzzzzzzzzzzzzzzzzzzzzz"),
        ("base62", "7n42DGM5Tflk9n8mt7Fhc8"),
        ("crockford", "80000000000000000000000000"),
        ("crockford-check", "80000000000000000000000000*"),
    ] {
        assert_eq!(
            of(name).decode_wide(text.as_bytes()),
            Err(TooWide),
            "{name}"
        );
    }
    assert_eq!(
        of("base64url").decode_wide(b"AX8i4nmwfMOYxNwMDAc5jx"),
        Err(UnusedBits('x'))
    );
    assert_eq!(
        of("zbase32").decode_wide(b"yyyyyyyyyyyyyyyyyyyyyyyyyb"),
        Err(UnusedBits('b'))
    );
    let one = of("crockford").decode_wide(b"00000000-0000-0000-0000-000000000l");
    assert_eq!(
        one,
        Err(Length {
            found: 30,
            expected: 26
        })
    );
    assert_eq!(
        of("crockford").decode_wide(b"o0000-00000-00000-00000-00000-l"),
        Ok(1)
    );
}

proptest! {
    #[test]
    fn every_encoding_gives_back_every_uuid(id: u128, bits in 0..128_u32) {
        for encoding in ENCODINGS.iter().filter(|it| it.is_of_uuids()) {
            for id in [id, id >> bits, id << bits] {
                prop_assert_eq!(encoding.decode_wide(write(encoding, id).as_bytes()), Ok(id));
            }
        }
    }

    /// Encodings that are named for it, and no others, keep the order.
    #[test]
    fn the_order_is_kept_where_it_is_said(a: u128, b: u128, bits in 0..128_u32) {
        for encoding in ENCODINGS.iter().filter(|it| it.is_of_uuids()) {
            let names = ["base58btc", "base62", "crockford", "hex"];
            prop_assert_eq!(encoding.wide_keeps_order(), names.contains(&encoding.name));
            for b in [b, a ^ 1 << bits] {
                if encoding.wide_keeps_order() {
                    prop_assert_eq!(write(encoding, a).cmp(&write(encoding, b)), a.cmp(&b));
                }
            }
        }
    }

    /// In an encoding for machines, a UUID has one accepted text.
    #[test]
    fn accepted_texts_are_the_ones_given_out(text in "[0-9A-Za-z_-]{22}") {
        for name in ["base58", "base58btc", "base62", "base64url"] {
            if let Ok(id) = of(name).decode_wide(text.as_bytes()) {
                prop_assert_eq!(write(of(name), id), text.clone());
            }
        }
    }

    #[test]
    fn crockfords_text_is_the_ulid(id: u128) {
        let ulid = ulid::to_text(&Uuid::from_u128(id));
        let text = write(of("crockford"), id);
        prop_assert_eq!(text.as_bytes(), ulid);
    }

    #[test]
    fn arbitrary_bytes_never_panic(text: Vec<u8>) {
        for encoding in ENCODINGS.iter().filter(|it| it.is_of_uuids()) {
            let _ = encoding.decode_wide(&text);
        }
    }
}
