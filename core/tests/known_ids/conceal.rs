//! Concealed ids: FF1 beside NIST's samples, a plain reading of the standard, and the crate `fpe`.

use crate::known::ids;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use fpe::ff1::{FF1, FlexibleNumeralString};
use mint_core::{ConcealError, Concealer};
use proptest::prelude::*;
use std::collections::HashSet;

const KEY: &[u8; 16] = b"0123456789abcdef";

/// The keys of NIST's samples: this one, and its first 16 and 24 bytes.
const NIST_KEY: [u8; 32] = [
    0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
    0xef, 0x43, 0x59, 0xd8, 0xd5, 0x80, 0xaa, 0x4f, 0x7f, 0x03, 0x6d, 0x6f, 0x04, 0xfc, 0x6a, 0x94,
];

fn aes(key: &[u8], block: [u8; 16]) -> [u8; 16] {
    let mut block = Array(block);
    match key.len() {
        16 => Aes128::new_from_slice(key)
            .unwrap()
            .encrypt_block(&mut block),
        24 => Aes192::new_from_slice(key)
            .unwrap()
            .encrypt_block(&mut block),
        _ => Aes256::new_from_slice(key)
            .unwrap()
            .encrypt_block(&mut block),
    }
    block.0
}

/// FF1.Encrypt of SP 800-38G, algorithm 7, step by step, for any radix.
fn ff1(key: &[u8], radix: u128, tweak: &[u8], numerals: &[u128]) -> Vec<u128> {
    let number = |digits: &[u128]| digits.iter().fold(0, |sum, digit| sum * radix + digit);
    let digits = |mut value: u128, length: usize| {
        let mut digits = vec![0; length];
        for digit in digits.iter_mut().rev() {
            *digit = value % radix;
            value /= radix;
        }
        digits
    };
    let [n, t] = [numerals.len(), tweak.len()];
    // 1 and 2
    let u = n / 2;
    let v = n - u;
    let (mut a, mut b) = (numerals[..u].to_vec(), numerals[u..].to_vec());
    // 3 and 4
    let bits = u128::BITS - (radix.pow(v as u32) - 1).leading_zeros();
    let bytes = bits.div_ceil(8) as usize;
    let d = 4 * bytes.div_ceil(4) + 4;
    // 5
    let mut p = vec![1, 2, 1];
    p.extend(&(radix as u32).to_be_bytes()[1..]);
    p.extend([10, u as u8]);
    p.extend((n as u32).to_be_bytes());
    p.extend((t as u32).to_be_bytes());
    for i in 0..10_u8 {
        // 6 i
        let mut q = tweak.to_vec();
        while !(q.len() + bytes + 1).is_multiple_of(16) {
            q.push(0);
        }
        q.push(i);
        q.extend(&number(&b).to_be_bytes()[16 - bytes..]);
        // 6 ii
        let mut r = [0; 16];
        for block in p.chunks(16).chain(q.chunks(16)) {
            r = aes(key, std::array::from_fn(|place| r[place] ^ block[place]));
        }
        // 6 iii
        let mut s = r.to_vec();
        for j in 1_u128.. {
            if s.len() >= d {
                break;
            }
            s.extend(aes(key, (u128::from_be_bytes(r) ^ j).to_be_bytes()));
        }
        // 6 iv to ix. `y` has more bits than a u128 where d is over 16, so it is reduced byte by byte.
        let m = if i % 2 == 0 { u } else { v };
        let modulus = radix.pow(m as u32);
        let y = s[..d]
            .iter()
            .fold(0, |sum, byte| (sum * 256 + u128::from(*byte)) % modulus);
        let c = (number(&a) + y) % modulus;
        (a, b) = (b, digits(c, m));
    }
    // 7
    [a, b].concat()
}

/// All nine samples of FF1 that NIST publishes with SP 800-38G.
#[test]
fn nists_samples() {
    let numerals = |text: &str| -> Vec<u128> {
        text.chars()
            .map(|digit| u128::from(digit.to_digit(36).unwrap()))
            .collect()
    };
    let short = b"9876543210";
    let long = b"7777pqrs777";
    for (bytes, radix, tweak, plain, cipher) in [
        (16, 10, b"".as_slice(), "0123456789", "2433477484"),
        (16, 10, short, "0123456789", "6124200773"),
        (16, 36, long, "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
        (24, 10, b"", "0123456789", "2830668132"),
        (24, 10, short, "0123456789", "2496655549"),
        (24, 36, long, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
        (32, 10, b"", "0123456789", "6657667009"),
        (32, 10, short, "0123456789", "1001623463"),
        (32, 36, long, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
    ] {
        let result = ff1(&NIST_KEY[..bytes], radix, tweak, &numerals(plain));
        assert_eq!(result, numerals(cipher), "AES-{}", bytes * 8);
    }
}

/// Encrypts until the result is not zero, as an id is concealed.
fn walk(id: i64, bits: i32, encrypt: impl Fn(Vec<u128>) -> Vec<u128>) -> i64 {
    let mut numerals: Vec<u128> = (0..bits)
        .rev()
        .map(|bit| u128::from(id as u64 >> bit & 1))
        .collect();
    loop {
        numerals = encrypt(numerals);
        let word = numerals
            .iter()
            .fold(0_i64, |word, bit| word << 1 | *bit as i64);
        if word != 0 {
            return word;
        }
    }
}

/// A number for each of many cases, the same in every run.
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The routine that NIST's samples have checked agrees at radix 2, in every width, key size and length of tweak.
#[test]
fn a_concealed_id_is_ff1_at_radix_2() {
    let tweaks: Vec<u8> = (0..64).collect();
    for bits in 20..=63 {
        for length in 0..=64 {
            let key = &NIST_KEY[..[16, 24, 32][length % 3]];
            let id = (random(bits as u64 * 65 + length as u64) as i64 & (i64::MAX >> (63 - bits)))
                .max(1);
            let tweak = &tweaks[..length];
            let expected = walk(id, bits, |numerals| ff1(key, 2, tweak, &numerals));
            let concealer = Concealer::new(key).unwrap();
            assert_eq!(
                concealer.conceal(id, bits, tweak),
                Ok(expected),
                "{bits} bits, {length} bytes"
            );
        }
    }
}

/// So does a library of others. `SHORT` or not, an id takes it six microseconds in a release build.
#[test]
fn a_concealed_id_is_that_of_the_crate_fpe() {
    const CASES: u64 = if cfg!(debug_assertions) { 300 } else { 100_000 };
    let [short, middle, long] = [16, 24, 32].map(|bytes| &NIST_KEY[..bytes]);
    let others = (
        FF1::<Aes128>::new(short, 2).unwrap(),
        FF1::<Aes192>::new(middle, 2).unwrap(),
        FF1::<Aes256>::new(long, 2).unwrap(),
    );
    let ours = [short, middle, long].map(|key| Concealer::new(key).unwrap());
    for bits in 20..=63 {
        for case in 0..CASES {
            let seed = random(case * 64 + bits as u64);
            let id = (seed as i64 & (i64::MAX >> (63 - bits))).max(1);
            let tweak = &NIST_KEY[..(seed >> 59) as usize];
            let expected = walk(id, bits, |numerals| {
                let bits: Vec<u16> = numerals.iter().map(|bit| *bit as u16).collect();
                let bits = FlexibleNumeralString::from(bits);
                let result: Vec<u16> = match case % 3 {
                    0 => others.0.encrypt(tweak, &bits),
                    1 => others.1.encrypt(tweak, &bits),
                    _ => others.2.encrypt(tweak, &bits),
                }
                .unwrap()
                .into();
                result.into_iter().map(u128::from).collect()
            });
            let concealed = ours[(case % 3) as usize].conceal(id, bits, tweak);
            assert_eq!(concealed, Ok(expected), "{id} of {bits} bits");
        }
    }
}

#[test]
fn a_smallest_domain_is_permuted_whole() {
    let concealer = Concealer::new(KEY).unwrap();
    let all: HashSet<i64> = (1..1 << 20)
        .map(|id| {
            let public = concealer.conceal(id, 20, b"").unwrap();
            assert!((1..1 << 20).contains(&public));
            public
        })
        .collect();
    assert_eq!(all.len(), (1 << 20) - 1);
}

#[test]
fn an_id_that_cannot_be_concealed_is_refused() {
    for length in [0, 15, 17, 23, 25, 31, 33] {
        let error = Concealer::new(&vec![0; length]).map(|_| ());
        assert_eq!(error, Err(ConcealError::Key(length)));
    }
    let concealer = Concealer::new(KEY).unwrap();
    for bits in [i32::MIN, 0, 19, 64, i32::MAX] {
        assert_eq!(concealer.conceal(1, bits, b""), Err(ConcealError::Bits));
    }
    assert_eq!(
        concealer.conceal(1, 63, &[0; 65]),
        Err(ConcealError::Tweak(65))
    );
    for (id, bits, max) in [
        (0, 63, i64::MAX),
        (-1, 63, i64::MAX),
        (1 << 53, 53, (1 << 53) - 1),
    ] {
        assert_eq!(
            concealer.reveal(id, bits, b""),
            Err(ConcealError::Id { id, max })
        );
    }
}

/// One bit of the id, the key, the tweak or the width changes about half of the result's bits.
#[test]
fn every_bit_of_id_key_and_tweak_matters() {
    let changed = |a: i64, b: i64| (a ^ b).count_ones();
    let concealer = Concealer::new(KEY).unwrap();
    let id = 4_035_377_468_834_583_552_i64;
    let public = concealer.conceal(id, 63, KEY).unwrap();
    let mut total = 0;
    for bit in 0..63 {
        let flips = changed(public, concealer.conceal(id ^ (1 << bit), 63, KEY).unwrap());
        assert!((12..52).contains(&flips), "bit {bit}: {flips}");
        total += flips;
    }
    assert!((1_800..2_200).contains(&total), "{total}");
    for place in 0..128 {
        let mut other = *KEY;
        other[place / 8] ^= 1 << (place % 8);
        let by_key = Concealer::new(&other)
            .unwrap()
            .conceal(id, 63, KEY)
            .unwrap();
        let by_tweak = concealer.conceal(id, 63, &other).unwrap();
        for other in [by_key, by_tweak] {
            assert!((12..52).contains(&changed(public, other)), "bit {place}");
        }
    }
    assert!(changed(public, concealer.conceal(id, 62, KEY).unwrap()) > 12);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn concealed_ids_are_revealed(
        id in ids(),
        bits in 20..=63_i32,
        key: [u8; 32],
        length in 0..3_usize,
        tweak in proptest::collection::vec(any::<u8>(), 0..=64),
    ) {
        let concealer = Concealer::new(&key[..[16, 24, 32][length]]).unwrap();
        let id = (id & (i64::MAX >> (63 - bits))).max(1);
        let public = concealer.conceal(id, bits, &tweak).unwrap();
        prop_assert!((1..=i64::MAX >> (63 - bits)).contains(&public));
        prop_assert_eq!(concealer.reveal(public, bits, &tweak), Ok(id));
    }
}
