//! The order of a segment from another server, in the slot of its sequence.

use crate::pg::machine::clock;
use mint_core::Micros;
use std::sync::atomic::{AtomicU16, Ordering};

/// An order: 0 when nothing is wanted, `NEVER` when there will be none. Otherwise the second since boot, modulo `PERIOD` and
/// from 1, in which a session has asked last: what no session asks for any more does not occupy the worker.
#[repr(transparent)]
pub struct Order(AtomicU16);

const NEVER: u16 = u16::MAX;
const PERIOD: Micros = 65_534;
/// How long an order lasts after a session has asked for it, in seconds. One that waits asks every second.
const LASTING: Micros = 10;

fn second() -> Micros {
    clock::up() / 1_000_000 % PERIOD + 1
}

impl Order {
    /// Orders, or asks again.
    pub fn make(&self) {
        self.0.store(second() as u16, Ordering::Release);
    }

    /// Ends the order, as the segment is there.
    pub fn end(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Ends the order, as there will be none.
    pub fn cancel(&self) {
        self.0.store(NEVER, Ordering::Release);
    }

    /// Returns whether the segment is there.
    pub fn is_ended(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    /// Returns how many seconds ago a session has asked, while there is an order.
    fn age(&self) -> Option<Micros> {
        let made = self.0.load(Ordering::Acquire);
        (made != 0 && made != NEVER).then(|| (second() - Micros::from(made)).rem_euclid(PERIOD))
    }

    /// Returns whether the worker is to take the segment.
    pub fn is_due(&self) -> bool {
        self.age().is_some_and(|age| age < LASTING)
    }

    /// Returns whether a session that waits is to ask again.
    pub fn is_old(&self) -> bool {
        self.age().is_some_and(|age| age > 0)
    }
}
