//! Hashes: a cheap one, one whose collisions cannot be chosen with the keys, and one that is frozen.

/// Mixes two words under two secret ones: the halves of a product, folded (Lemire and others' "multiply-fold"; the
/// step of wyhash). Nothing on disk depends on it.
#[inline]
#[must_use]
pub(crate) fn keyed_hash(a: u64, b: u64, secret: [u64; 2]) -> u64 {
    let product = u128::from(a ^ secret[0]) * u128::from(b ^ secret[1]);
    product as u64 ^ (product >> 64) as u64
}

/// 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a word's Fibonacci hash (Knuth 6.4): use the upper bits. It is easy to choose keys that collide.
#[inline]
#[must_use]
pub const fn fibonacci(word: u64) -> u64 {
    word.wrapping_mul(GOLDEN)
}

/// Applies the output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014): every bit of the input moves every bit of the result.
#[inline]
#[must_use]
pub(crate) fn splitmix64(seed: u64) -> u64 {
    let z = seed.wrapping_add(GOLDEN);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
