//! Ten thousand ids of each known origin: the right reading is first, or as likely as the first. The reading of a
//! snowflake with any node and sequence is among the first ones: such ids are not usual.

use crate::known::random;
use mint_core::codec::text::{ENCODINGS, Encoding, MAX_LENGTH};
use mint_core::codec::wide::MAX_WIDE;
use mint_core::codec::{typeid, ulid};
use mint_core::inspect::{Context, Input, Part, Reading, inspect};
use mint_core::snowflake::builtin::Builtin;
use mint_core::uuid::version;
use mint_core::{BUILTINS, Micros, ObjectId, Uuid};

const COUNT: usize = 10_000;
/// 2026-11-23T00:00:00Z.
const NOW: Micros = 1_795_392_000_000_000;
const Y2005: Micros = 1_104_537_600_000_000;
/// The first year with ids of some layouts whose epoch is older.
const Y2017: Micros = 1_483_228_800_000_000;
const MONTH: Micros = 30 * 86_400_000_000;

/// The origin of an id: the fields of its right reading.
struct Origin {
    format: &'static str,
    version: Option<String>,
    time: Option<Micros>,
    canonical: String,
    encoding: Option<&'static str>,
}

impl Origin {
    fn new(format: &'static str, canonical: impl Into<String>) -> Self {
        Self {
            format,
            version: None,
            time: None,
            canonical: canonical.into(),
            encoding: None,
        }
    }

    fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    fn time(mut self, at: Micros) -> Self {
        self.time = Some(at);
        self
    }

    fn encoding(mut self, name: &'static str) -> Self {
        self.encoding = Some(name);
        self
    }

    fn is(&self, reading: &Reading) -> bool {
        let mut parts = reading.parts.iter();
        let encoding = parts.find(|(name, _)| *name == "encoding");
        (self.format, &self.version, self.time, &self.canonical)
            == (
                reading.format, &reading.version, reading.time, &reading.canonical,
            )
            && encoding.map(|(_, part)| part) == self.encoding.map(Part::from).as_ref()
    }
}

/// The numbers of ids whose right reading was first alone, of readings as likely as the first, and of all ids.
#[derive(Default)]
struct Found {
    alone: usize,
    tied: usize,
    of: usize,
}

impl Found {
    fn check(&mut self, id: &Input<'_>, origin: &Origin, nodes: &[i64]) {
        let readings = inspect(id, &Context { now: NOW, nodes });
        let best = readings.first().map_or(0.0, |first| first.likelihood);
        let tied = readings
            .iter()
            .take_while(|reading| reading.likelihood >= best);
        let tied: Vec<&Reading> = tied.collect();
        assert!(
            tied.iter().any(|reading| origin.is(reading)),
            "{} {} {:?}: {readings:#?}",
            origin.format,
            origin.canonical,
            origin.version
        );
        self.alone += usize::from(tied.len() == 1);
        self.tied += tied.len();
        self.of += 1;
    }

    fn text(&mut self, text: &str, origin: &Origin) {
        self.check(&Input::Text(text.as_bytes()), origin, &[]);
    }

    /// At least that share was alone, in thousandths, and at most so many were tied on average.
    fn ends(&self, what: &str, alone: usize, tied: f64) {
        let share = self.alone * 1_000 / self.of;
        let average = self.tied as f64 / self.of as f64;
        println!("{what}: {share} of 1000 alone, {average:.2} tied");
        assert!(
            share >= alone && average <= tied,
            "{what}: {share}, {average}"
        );
        assert!(self.of >= COUNT);
    }
}

/// The mean place of the right reading, from 1 on.
#[derive(Default)]
struct Placed {
    sum: usize,
    of: usize,
}

impl Placed {
    fn check(&mut self, id: &Input<'_>, origin: &Origin, nodes: &[i64]) {
        let readings = inspect(id, &Context { now: NOW, nodes });
        let place = readings.iter().position(|reading| origin.is(reading));
        let (it, version) = (&origin.canonical, &origin.version);
        self.sum += 1 + place.unwrap_or_else(|| panic!("{it} {version:?}: {readings:#?}"));
        self.of += 1;
    }

    fn ends(&self, what: &str, most: f64) -> f64 {
        let mean = self.sum as f64 / self.of as f64;
        println!("{what}: place {mean:.2}");
        assert!(self.of >= COUNT && mean <= most, "{what}: {mean}");
        mean
    }
}

/// Random words, and from them a time of 2005 to now.
struct Dice(Box<dyn Iterator<Item = u64>>);

impl Dice {
    fn new() -> Self {
        Self(Box::new(random()))
    }

    fn word(&mut self) -> u64 {
        self.0.next().unwrap()
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.word()) << 64 | u128::from(self.word())
    }

    fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    fn time_between(&mut self, first: Micros, last: Micros) -> Micros {
        first + self.below((last - first).unsigned_abs()).cast_signed()
    }

    fn time(&mut self) -> Micros {
        self.time_between(Y2005, NOW)
    }

    /// A snowflake of a layout: from a month after its epoch on, of any node and sequence.
    fn snowflake(&mut self, builtin: &Builtin) -> (i64, Origin, i64) {
        let layout = &builtin.layout;
        let last = layout.tick_start(layout.max_tick()).unwrap_or(NOW).min(NOW);
        let first = match builtin.name {
            "leaf" | "mastodon" | "tso" => Y2017,
            _ => layout.epoch() + MONTH,
        };
        let at = self.time_between(first, last);
        let node = self.below(layout.shard.max() + 1).cast_signed();
        let sequence = self.below(layout.seq.max() + 1).cast_signed();
        let id = layout.encode(at, node, sequence).unwrap();
        let start = layout.decode(id).unwrap().at;
        let origin = Origin::new("snowflake", id.to_string());
        (id, origin.version(builtin.name).time(start), node)
    }
}

#[test]
fn snowflakes_of_every_layout() {
    for builtin in &BUILTINS {
        let (mut dice, mut found, mut with_node) =
            (Dice::new(), Placed::default(), Placed::default());
        for _ in 0..COUNT {
            let (id, origin, node) = dice.snowflake(builtin);
            found.check(&Input::Number(id), &origin, &[]);
            found.check(&Input::Text(id.to_string().as_bytes()), &origin, &[]);
            if builtin.layout.shard.width > 0 {
                with_node.check(&Input::Number(id), &origin, &[node]);
            }
        }
        let mean = found.ends(builtin.name, 14.0);
        if with_node.of > 0 {
            let known = with_node.ends(&format!("{} of a known node", builtin.name), 10.0);
            assert!(known <= mean, "{}", builtin.name);
        }
    }
}

#[test]
fn snowflakes_as_text() {
    for encoding in &ENCODINGS {
        let (mut dice, mut found) = (Dice::new(), Placed::default());
        for builtin in BUILTINS.iter().cycle().take(COUNT) {
            let (id, origin, _) = dice.snowflake(builtin);
            let mut room = [0; MAX_LENGTH];
            let text = encoding.encode(id, &mut room).unwrap();
            let origin = origin.encoding(encoding.name);
            found.check(&Input::Text(text), &origin, &[]);
            let prefixed = [b"cus_", text].concat();
            found.check(&Input::Text(&prefixed), &origin, &[]);
        }
        found.ends(encoding.name, 30.0);
    }
}

/// The origin of a random UUID of a version, at a time if the version has one.
fn uuid(dice: &mut Dice, which: u8) -> (Uuid, Origin) {
    let bytes = dice.wide().to_be_bytes();
    let ticks = |at: Micros| (at * 10 + 0x01b2_1dd2_1381_4000).unsigned_abs();
    let [.., a, b, c, d, e, f] = bytes;
    let (node, sequence) = ([a, b, c, d, e, f], u16::from_be_bytes([a, b]) & 0x3fff);
    let at = dice.time();
    let v1 = ::uuid::Builder::from_gregorian_timestamp(ticks(at), sequence, &node).into_uuid();
    let id = match which {
        1 => v1,
        2 => {
            let mut two = *v1.as_bytes();
            two[..4].copy_from_slice(&bytes[..4]);
            two[6] = two[6] & 0xf | 0x20;
            two[9] = bytes[5] % 3;
            Uuid::from_bytes(two)
        }
        3 => version::v3(&Uuid::NAMESPACE_DNS, &bytes),
        4 => version::v4(bytes),
        5 => version::v5(&Uuid::NAMESPACE_DNS, &bytes),
        6 => version::v1_to_v6(&v1).unwrap(),
        7 => version::v7_at(at, dice.word()).unwrap(),
        _ => version::v8(bytes),
    };
    assert_eq!(version::version(&id), Some(which));
    let origin = Origin::new("uuid", id.to_string()).version(&which.to_string());
    let at = version::time(&id);
    (id, Origin { time: at, ..origin })
}

/// Every version 7 is a ULID too, so two are tied; a few of the others have a ULID's time by chance.
#[test]
fn uuids_of_every_version() {
    for which in 1..=8 {
        let (mut dice, mut found) = (Dice::new(), Found::default());
        for _ in 0..COUNT {
            let (id, origin) = uuid(&mut dice, which);
            found.check(&Input::Uuid(id), &origin, &[]);
            found.text(&id.to_string(), &origin);
            found.text(&id.simple().to_string().to_uppercase(), &origin);
        }
        match which {
            7 => found.ends("version 7", 0, 2.0),
            _ => found.ends(&format!("version {which}"), 985, 1.02),
        }
    }
}

#[test]
fn uuids_as_text() {
    let is_read = |encoding: &&Encoding| encoding.name != "hex" && encoding.is_of_uuids();
    for encoding in ENCODINGS.iter().filter(is_read) {
        let (mut dice, mut found) = (Dice::new(), Found::default());
        for which in (1..=8).cycle().take(COUNT) {
            let (id, origin) = uuid(&mut dice, which);
            let mut room = [0; MAX_WIDE];
            let text = encoding.encode_wide(id.as_u128(), &mut room);
            found.check(&Input::Text(text), &origin.encoding(encoding.name), &[]);
        }
        found.ends(encoding.name, 750, 1.5);
    }
}

#[test]
fn ulids() {
    let (mut dice, mut found, mut as_uuid) = (Dice::new(), Found::default(), Found::default());
    for _ in 0..COUNT {
        let at = dice.time() / 1_000;
        let bits = u128::from(at.unsigned_abs()) << 80 | dice.wide() >> 48;
        let id = Uuid::from_u128(bits);
        let text = String::from_utf8(ulid::to_text(&id).to_vec()).unwrap();
        let origin = Origin::new("ulid", text.clone()).time(at * 1_000);
        found.text(&text, &origin);
        found.text(&text.to_lowercase(), &origin);
        as_uuid.check(&Input::Uuid(id), &origin, &[]);
        as_uuid.text(&id.to_string(), &origin);
    }
    found.ends("ULID", 900, 1.12);
    as_uuid.ends("ULID as a UUID", 900, 1.1);
}

#[test]
fn typeids() {
    let (mut dice, mut found, mut bare) = (Dice::new(), Found::default(), Found::default());
    for prefix in ["user", "cus", "order_line", "a"]
        .into_iter()
        .cycle()
        .take(COUNT)
    {
        for (prefix, found) in [(prefix, &mut found), ("", &mut bare)] {
            let (id, origin) = uuid(&mut dice, 7);
            let text = typeid::to_text(prefix.as_bytes(), &id).unwrap();
            let (format, canonical) = ("typeid", text.clone());
            found.text(
                &text,
                &Origin {
                    format,
                    canonical,
                    ..origin
                },
            );
        }
    }
    found.ends("TypeID", 950, 1.05);
    // Also a ULID in lower case, and a version 7 in Crockford's digits.
    bare.ends("TypeID without a prefix", 0, 3.1);
}

#[test]
fn ids_of_twelve_and_of_twenty_bytes() {
    let base62 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let base32 = b"0123456789abcdefghijklmnopqrstuv";
    let (mut dice, mut objectids, mut xids, mut ksuids) = (
        Dice::new(),
        Found::default(),
        Found::default(),
        Found::default(),
    );
    for _ in 0..COUNT {
        let second = dice.time() / 1_000_000;
        let mut bytes = [0; 12];
        bytes.copy_from_slice(&dice.wide().to_be_bytes()[..12]);
        bytes[..4].copy_from_slice(&(second as u32).to_be_bytes());
        let id = ObjectId(bytes);
        let origin = Origin::new("objectid", id.to_string()).time(second * 1_000_000);
        objectids.check(&Input::ObjectId(id), &origin, &[]);
        objectids.text(&id.to_string(), &origin);

        let mut bits = bytes
            .iter()
            .fold(0, |bits: u128, &byte| bits << 8 | u128::from(byte))
            << 4;
        let mut digits = [0; 20];
        for digit in digits.iter_mut().rev() {
            *digit = base32[(bits & 31) as usize];
            bits >>= 5;
        }
        let text = str::from_utf8(&digits).unwrap();
        xids.text(text, &Origin::new("xid", text).time(second * 1_000_000));

        let second = dice.time_between(1_400_000_000, NOW / 1_000_000);
        let mut words = [0, 0, 0, 0, (second - 1_400_000_000).unsigned_abs()];
        (words[3], words[2]) = (dice.word() >> 32, dice.word() >> 32);
        (words[1], words[0]) = (dice.word() >> 32, dice.word() >> 32);
        let mut digits = [0; 27];
        for digit in digits.iter_mut().rev() {
            let mut rest = 0;
            for word in words.iter_mut().rev() {
                (*word, rest) = ((rest << 32 | *word) / 62, (rest << 32 | *word) % 62);
            }
            *digit = base62[rest as usize];
        }
        let text = str::from_utf8(&digits).unwrap();
        ksuids.text(text, &Origin::new("ksuid", text).time(second * 1_000_000));
    }
    objectids.ends("ObjectID", 1_000, 1.0);
    xids.ends("xid", 999, 1.001);
    ksuids.ends("KSUID", 999, 1.001);
}

#[test]
fn unix_times() {
    let (mut dice, mut found) = (Dice::new(), Found::default());
    for _ in 0..COUNT {
        for (version, micros) in [("s", 1_000_000), ("ms", 1_000)] {
            let number = dice.time() / micros;
            let origin = Origin::new("unix", number.to_string()).version(version);
            let origin = origin.time(number * micros);
            found.check(&Input::Number(number), &origin, &[]);
            found.text(&number.to_string(), &origin);
        }
    }
    found.ends("Unix time", 990, 1.01);
}
