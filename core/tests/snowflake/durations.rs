//! Durations as messages write them.

use mint_core::clock::duration_text;

#[test]
fn a_duration_has_one_form() {
    for (micros, text) in [
        (0, "0 ms"),
        (1, "0.001 ms"),
        (12_000, "12 ms"),
        (999_999, "999.999 ms"),
        (1_000_000, "1 s"),
        (1_500_999, "1.5 s"),
        (9_999_000, "9.999 s"),
        (10_000_000, "10 s"),
        (28_499_999, "28 s"),
        (28_500_000, "29 s"),
        (100_000_000, "100 s"),
    ] {
        assert_eq!(duration_text(micros), text);
    }
}
