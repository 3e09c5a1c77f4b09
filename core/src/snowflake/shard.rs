//! Shards made of other numbers: of the parts of a split shard, and of a machine's addresses.

use crate::snowflake::error::IdError;
use crate::snowflake::layout::Layout;

impl Layout {
    /// Returns the shard that has these parts, from the upper one down: two where it is split, one where it is in one
    /// piece, and none in a layout without a shard.
    ///
    /// # Errors
    /// When the shard has another number of parts, or one is negative or too large.
    pub fn shard_from_parts(&self, parts: &[i64]) -> Result<u64, IdError> {
        let (upper, lower) = self.definition().shard;
        let widths = [upper, lower];
        let wanted = widths.iter().filter(|&&width| width > 0).count();
        if parts.len() != wanted {
            return Err(IdError::PartCount {
                count: parts.len(),
                wanted,
                layout: self.to_string(),
            });
        }
        let mut shard = 0;
        for (place, (&part, width)) in parts.iter().zip(widths).enumerate() {
            let max = (1 << width) - 1;
            match u64::try_from(part) {
                Ok(part) if part <= max => shard = shard << width | part,
                _ => {
                    return Err(IdError::Part {
                        place: place + 1,
                        part,
                        max,
                        layout: self.to_string(),
                    });
                }
            }
        }
        Ok(shard)
    }
}

/// Returns the shard of 10 bits that Java's `SequenceGenerator` makes of a machine's MAC addresses: the hash code of
/// their hexadecimal digits, in upper case and one behind the other.
///
/// Commas or spaces separate the addresses, and each has 12 digits, with or without `:`, `-` and `.`: otherwise the
/// result is none. It is for compatibility: among 38 machines, the probability is one half that two have the same shard.
#[must_use]
pub fn java_shard_of_addresses(addresses: &str) -> Option<u32> {
    let addresses = addresses.split([',', ' ']).filter(|part| !part.is_empty());
    let digits = addresses.map(|address| {
        let digits = address.replace([':', '-', '.'], "").to_ascii_uppercase();
        let is_digit = |digit: u8| digit.is_ascii_hexdigit();
        (digits.len() == 12 && digits.bytes().all(is_digit)).then_some(digits)
    });
    let digits = digits.collect::<Option<String>>()?;
    // java.lang.String.hashCode.
    let hash = digits.bytes().fold(0_u32, |hash, digit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(digit))
    });
    (!digits.is_empty()).then_some(hash & 1_023)
}
