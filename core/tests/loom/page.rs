//! A page that sessions share, and its value on disk.

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicI64, Ordering};
use mint_core::Page;
use std::convert::Infallible;

pub struct SharedPage {
    pub value: Mutex<i64>,
    pub durable: AtomicI64,
    /// False where the page being set back is a failure of the test.
    pub may_be_set_back: bool,
}

impl SharedPage {
    pub fn new(value: i64) -> Self {
        SharedPage {
            value: Mutex::new(value),
            durable: AtomicI64::new(value),
            may_be_set_back: false,
        }
    }
}

/// Writing is one step, flushing another, with other threads' steps in between.
impl Page for &SharedPage {
    type Position = i64;
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(i64) -> Option<i64>,
    ) -> Result<(i64, i64), Infallible> {
        let mut value = self.value.lock().unwrap();
        *value = decide(*value).unwrap_or(*value);
        Ok((*value, *value))
    }

    fn flush(&mut self, position: i64) -> Result<(), Infallible> {
        self.durable.fetch_max(position, Ordering::AcqRel);
        Ok(())
    }

    fn set_back(&mut self, from: i64, to: i64) {
        assert!(
            self.may_be_set_back,
            "the page was set back, from {from} to {to}"
        );
    }
}
