//! How many stories run side by side.
//!
//! Most of a story is waiting: for a slice, a window, a clock, a start. So several share the machine. A story that
//! measures a wait, or wants both cores for itself, is alone on it ([`crate::server::process::Builder::alone`]).

use crate::report::say;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{available_parallelism, current};
use std::time::Instant;

/// Who runs, and who waits for it.
struct Stage {
    sharing: usize,
    alone: bool,
    waiting_to_share: usize,
    waiting_to_be_alone: usize,
    /// Of which kind the last was that began.
    last_shared: bool,
}

static STAGE: Mutex<Stage> = Mutex::new(Stage {
    sharing: 0,
    alone: false,
    waiting_to_share: 0,
    waiting_to_be_alone: 0,
    last_shared: true,
});
static CHANGED: Condvar = Condvar::new();

/// Some more than there are cores, as most of them wait. `MINT_AT_ONCE=1` lets one run at a time.
fn places() -> usize {
    let asked = std::env::var("MINT_AT_ONCE").ok();
    let asked = asked.and_then(|number| number.parse().ok());
    asked
        .unwrap_or_else(|| available_parallelism().map_or(2, |cores| 2 * cores.get()))
        .max(1)
}

/// A story's place among those that run. It ends when this is dropped.
pub(crate) struct Turn {
    alone: bool,
    began: Instant,
}

impl Turn {
    /// Waits for a place.
    pub(crate) fn wait(alone: bool) -> Self {
        let mut stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
        stage.waiting(alone, 1);
        while !stage.may_start(alone) {
            stage = CHANGED.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
        stage.waiting(alone, -1);
        stage.last_shared = !alone;
        if alone {
            stage.alone = true;
        } else {
            stage.sharing += 1;
        }
        Self {
            alone,
            began: Instant::now(),
        }
    }
}

impl Stage {
    fn waiting(&mut self, alone: bool, change: isize) {
        let count = if alone {
            &mut self.waiting_to_be_alone
        } else {
            &mut self.waiting_to_share
        };
        *count = count.saturating_add_signed(change);
    }

    /// Each kind goes on for as long as there are stories of it: between the kinds, the machine falls idle.
    fn may_start(&self, alone: bool) -> bool {
        if alone {
            let others_first = self.last_shared && self.waiting_to_share > 0;
            self.sharing == 0 && !self.alone && !others_first
        } else {
            let others_first = !self.last_shared && self.waiting_to_be_alone > 0;
            self.sharing < places() && !self.alone && !others_first
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // The test runner tells no times, and these are what shows where they go.
        say(format!(
            "[{:5.1} s{}] {}",
            self.began.elapsed().as_secs_f32(),
            if self.alone { ", alone" } else { "" },
            current().name().unwrap_or("a story")
        ));
        let mut stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
        if self.alone {
            stage.alone = false;
        } else {
            stage.sharing -= 1;
        }
        drop(stage);
        CHANGED.notify_all();
    }
}
