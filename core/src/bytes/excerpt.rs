//! The beginning of a caller's text, which messages show, as the text can have a gigabyte.

/// The most bytes of a text that a message shows.
pub const MAX_EXCERPT_BYTES: usize = 100;

/// The mark where a text was cut off.
pub const ELLIPSIS: &str = "...";

/// Returns a text for a message, cut off after [`MAX_EXCERPT_BYTES`] bytes.
#[must_use]
pub fn excerpt(text: &str) -> String {
    excerpt_of(text, MAX_EXCERPT_BYTES)
}

/// Returns a text, cut off after that many bytes.
#[must_use]
pub fn excerpt_of(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    [cut(text, longest), ELLIPSIS].concat()
}

/// Returns the beginning of a text, of at most that many bytes.
#[must_use]
pub fn cut(text: &str, longest: usize) -> &str {
    let is_boundary = |&end: &usize| text.is_char_boundary(end);
    let end = (0..=longest.min(text.len())).rev().find(is_boundary);
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::{MAX_EXCERPT_BYTES, excerpt};

    #[test]
    fn a_long_text_is_cut_between_characters() {
        for character in ["a", "ä", "€", "😀"] {
            let whole = character.repeat(MAX_EXCERPT_BYTES / character.len());
            assert_eq!(excerpt(&whole), whole);
            let cut = excerpt(&(whole.clone() + character));
            assert_eq!(cut, whole + "...");
        }
    }
}
