//! Hashes that those who choose the keys cannot steer.

/// Mixes two words under two secret ones: the halves of a product, folded (Lemire and others' "multiply-fold"; the
/// step of wyhash). Nothing on disk depends on it.
#[inline]
#[must_use]
pub(crate) fn keyed(a: u64, b: u64, secret: [u64; 2]) -> u64 {
    let product = u128::from(a ^ secret[0]) * u128::from(b ^ secret[1]);
    product as u64 ^ (product >> 64) as u64
}
