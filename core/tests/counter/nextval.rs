//! Changes of a sequence's page by `nextval`, told apart from those by `setval`.

use mint_core::{Rules, SequenceData, SequenceState};
use proptest::prelude::*;

/// The page of a sequence under `nextval` of sequence.c.
#[derive(Debug, Clone, Copy)]
struct Page {
    last: i64,
    log_count: i64,
}

impl Page {
    fn nextval(&mut self, increment: i64, cache: i64, checkpoint: bool) {
        if self.log_count < cache || checkpoint {
            self.log_count = cache + 32;
        }
        self.log_count -= cache;
        self.last += increment * cache;
    }

    fn sequence(self, relogged: bool) -> SequenceData {
        SequenceData {
            state: SequenceState {
                last: self.last,
                called: true,
            },
            log_count: self.log_count,
            relogged,
        }
    }
}

fn rules(increment: i64) -> Rules {
    Rules {
        increment,
        min: i64::MIN,
        max: i64::MAX,
        cycle: false,
    }
}

const LEFT: i64 = 1_000;

proptest! {
    /// Calls of nextval are recognized, except for the one of 33 that leaves nothing logged ahead.
    #[test]
    fn nextval_is_told(
        increment in prop_oneof![Just(1_i64), Just(-3), Just(7)],
        cache in prop_oneof![Just(1_i64), 2..70_i64],
        calls in prop::collection::vec(prop::bool::weighted(0.02), 1..200),
        is_relogged: bool,
    ) {
        let mut page = Page { last: LEFT, log_count: 0 };
        for &checkpoint in &calls {
            page.nextval(increment, cache, checkpoint && is_relogged);
        }
        let found = page.sequence(is_relogged);
        let is_told = rules(increment).is_of_nextval(cache.unsigned_abs(), LEFT, found, 20_000);
        prop_assert_eq!(is_told, page.log_count > 0);
    }

    /// To any value, and in either form.
    #[test]
    fn setval_is_told(to: i64, called: bool, relogged: bool) {
        let mut found = Page { last: to, log_count: 0 }.sequence(relogged);
        found.state.called = called;
        prop_assert!(!rules(1).is_of_nextval(1, LEFT, found, 20_000));
        // Also back to the value it had.
        found.state.last = LEFT;
        prop_assert!(!rules(1).is_of_nextval(1, LEFT, found, 20_000));
    }

    /// Also with calls of nextval after it, except for one of 33 values close by.
    #[test]
    fn setval_before_nextval_is_told(by in -50_000..50_000_i64, calls in 1..60_usize) {
        let mut page = Page { last: LEFT + by, log_count: 0 };
        for _ in 0..calls {
            page.nextval(1, 1, false);
        }
        let is_mistaken = rules(1).is_of_nextval(1, LEFT, page.sequence(false), 20_000);
        let moved = page.last - LEFT;
        let could_be = by % 33 == 0 && (1..=20_000).contains(&moved) && page.log_count > 0;
        prop_assert_eq!(is_mistaken, could_be);
    }
}
