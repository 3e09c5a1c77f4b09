//! The node that a common Java generator makes of a machine's addresses.

/// The node of 10 bits that Java's `SequenceGenerator` makes of a machine's MAC addresses: the hash code of their
/// hexadecimal digits, in upper case and one behind the other.
///
/// For compatibility with such ids. Of 38 machines, two have the same node with a probability of one half.
#[must_use]
pub fn node_of_addresses(addresses: &str) -> u32 {
    let digits = addresses
        .bytes()
        .filter(u8::is_ascii_hexdigit)
        .map(|digit| digit.to_ascii_uppercase());
    // java.lang.String.hashCode.
    let hash = digits.fold(0_u32, |hash, digit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(digit))
    });
    hash & 1_023
}
