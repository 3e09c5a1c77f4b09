//! Output of stories, and their short form.

use std::io::Write;

/// Returns whether the short form was chosen: the same stories with smaller counts.
pub fn short_form() -> bool {
    std::env::var_os("MINT_SHORT").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the first count in the full form, the second in the short form.
pub fn count<T>(full: T, short: T) -> T {
    if short_form() { short } else { full }
}

/// Writes a line that the test runner does not capture, so that skips and measured times of passed tests are seen.
pub fn say(line: impl AsRef<str>) {
    // A closed stderr must not fail a test.
    let _ = writeln!(std::io::stderr(), "\n    {}", line.as_ref());
}
