//! No bytes make a reader panic, and a value that a reader accepts is written as it was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mint_core::codec::text::ENCODINGS;
use mint_core::codec::wide::MAX_WIDE;
use mint_core::codec::{typeid, ulid};
use mint_core::inspect::{Context, Input, inspect};
use mint_core::uuid::{mysql, version};
use mint_core::{Layout, ObjectId, Uuid};

fuzz_target!(|data: &[u8]| {
    if let Some(id) = ObjectId::parse(data) {
        assert_eq!(data.to_ascii_lowercase(), id.to_string().into_bytes());
    }
    if let Some(id) = mysql::parse(data) {
        for swap in [false, true] {
            assert_eq!(mysql::from_bin(mysql::to_bin(&id, swap), swap), id);
        }
    }
    let _ = version::namespace(data);
    if let Ok(id) = ulid::parse(data) {
        assert_eq!(ulid::to_text(&id).as_slice(), data.to_ascii_uppercase());
    }
    if let Ok((prefix, id)) = typeid::parse(data) {
        let text = typeid::to_text(prefix.as_bytes(), &id).map(String::into_bytes);
        assert_eq!(text.as_deref(), Ok(data));
    }
    for encoding in &ENCODINGS {
        if let Ok(id) = encoding.decode_wide(data) {
            let text = encoding.encode_wide(id, &mut [0; MAX_WIDE]).to_vec();
            assert_eq!(encoding.decode_wide(&text), Ok(id));
        }
    }
    let context = Context {
        now: 1_795_392_000_000_000,
        nodes: &[5],
    };
    let sum = |id| {
        inspect(&id, &context)
            .iter()
            .map(|it| it.likelihood)
            .sum::<f64>()
    };
    assert!(sum(Input::Text(data)) < 1.0);
    if let Ok(bytes) = data.try_into() {
        decode(Uuid::from_bytes(bytes));
    }
    if let Ok(Ok(layout)) = data.try_into().map(Layout::from_bytes) {
        // The order of a field that is not there can be given, and is not kept.
        assert_eq!(Layout::from_bytes(&layout.to_bytes()), Ok(layout));
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = version::parse_mac(text);
        if let Ok(layout) = text.parse::<Layout>() {
            assert_eq!(layout.to_string().parse::<Layout>(), Ok(layout));
        }
    }
    if let Ok(at) = data.try_into().map(i64::from_be_bytes) {
        assert!(ObjectId::min(at).is_none_or(|id| id.time() >= at));
        assert!(ObjectId::max(at).is_none_or(|id| id.time() <= at));
        assert!(version::v7_min(at).is_none_or(|id| version::time(&id) >= Some(at)));
        assert!(version::v7_max(at).is_none_or(|id| version::time(&id) <= Some(at)));
        assert!(ObjectId::min_after(at).is_none_or(|id| id.time() > at));
        assert!(ObjectId::max_before(at).is_none_or(|id| id.time() < at));
        assert!(version::v7_min_after(at).is_none_or(|id| version::time(&id) > Some(at)));
        assert!(version::v7_max_before(at).is_none_or(|id| version::time(&id) < Some(at)));
        let _ = version::v7_at(at, 0);
    }
});

fn decode(id: Uuid) {
    let _ = (
        version::variant(&id),
        version::clock_sequence(&id),
        version::local(&id),
    );
    let timed = matches!(version::version(&id), Some(1 | 2 | 6 | 7));
    assert_eq!(version::time(&id).is_some(), timed);
    if let Some(six) = version::v1_to_v6(&id) {
        assert_eq!(version::v6_to_v1(&six), Some(id));
        assert_eq!(version::node(&six), version::node(&id));
    }
}
