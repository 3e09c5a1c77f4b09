//! What stories say, and how long they are.

use std::io::Write;

/// Whether the short form was asked for: the same stories with smaller counts.
pub fn short_form() -> bool {
    std::env::var_os("MINT_SHORT").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The first count in the full form, the second in the short one.
pub fn count<T>(full: T, short: T) -> T {
    if short_form() { short } else { full }
}

/// Writes a line past the capture of the test runner: a skipped test or a measured time must not go unseen only
/// because the test passed.
pub fn say(line: impl AsRef<str>) {
    // A closed stderr is no reason to fail a test.
    let _ = writeln!(std::io::stderr(), "\n    {}", line.as_ref());
}
