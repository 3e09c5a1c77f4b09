//! A limit on the stories that run side by side.
//!
//! Stories spend most of their time waiting: for a lease, a window, a clock, a start. So several share the machine. A
//! story that measures a wait or loads all cores runs alone ([`crate::server::builder::Builder::alone`]).

use crate::report::say;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{ThreadId, available_parallelism, current};
use std::time::Instant;

/// The longest stories, which do not wait for others: they would run alone at the end. Their names are those of the threads
/// in which the test runner runs them.
const LONGEST: [&str; 1] = ["servers::every_fault::no_fault_mints_an_id_twice"];

/// The stories that run and those that wait.
struct Stories {
    /// The threads of those that run.
    running: Vec<ThreadId>,
    alone: bool,
    waiting_to_share: usize,
    waiting_to_be_alone: usize,
    waiting_to_be_first: usize,
    /// Whether the last story that began shares the machine.
    last_shared: bool,
}

static STORIES: Mutex<Stories> = Mutex::new(Stories {
    running: Vec::new(),
    alone: false,
    waiting_to_share: 0,
    waiting_to_be_alone: 0,
    waiting_to_be_first: 0,
    last_shared: true,
});
static CHANGED: Condvar = Condvar::new();

/// Returns how many stories can share the machine: more than it has cores, as most of them wait. `MINT_AT_ONCE`
/// overrides it.
fn limit() -> usize {
    let asked = std::env::var("MINT_AT_ONCE").ok();
    let asked = asked.and_then(|number| number.parse().ok());
    asked
        .unwrap_or_else(|| available_parallelism().map_or(2, |cores| 2 * cores.get()))
        .max(1)
}

/// Right of a story to run. Dropping it ends the turn.
pub(crate) struct Turn {
    story: ThreadId,
    alone: bool,
    began: Instant,
}

impl Turn {
    /// Waits for a turn. `None` if this thread has one already: if each story that runs waited for a second one, none would end.
    pub(crate) fn wait(alone: bool) -> Option<Self> {
        let story = current().id();
        let first = current().name().is_some_and(|name| LONGEST.contains(&name));
        let mut stories = STORIES.lock().unwrap_or_else(PoisonError::into_inner);
        if stories.running.contains(&story) {
            return None;
        }
        *stories.waiting(alone, first) += 1;
        while !stories.may_start(alone, first) {
            stories = CHANGED
                .wait(stories)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *stories.waiting(alone, first) -= 1;
        stories.last_shared = !alone;
        stories.alone = alone;
        stories.running.push(story);
        Some(Self {
            story,
            alone,
            began: Instant::now(),
        })
    }
}

impl Stories {
    /// Returns the number of stories that wait, of this kind.
    fn waiting(&mut self, alone: bool, first: bool) -> &mut usize {
        match (first, alone) {
            (true, _) => &mut self.waiting_to_be_first,
            (false, true) => &mut self.waiting_to_be_alone,
            (false, false) => &mut self.waiting_to_share,
        }
    }

    /// Returns whether a story can start. Stories of one kind run for as long as there are any, as the machine is idle in
    /// part at each change of kind.
    fn may_start(&self, alone: bool, first: bool) -> bool {
        if first {
            !self.alone && self.running.len() < limit()
        } else if self.waiting_to_be_first > 0 {
            false
        } else if alone {
            let others_first = self.last_shared && self.waiting_to_share > 0;
            self.running.is_empty() && !others_first
        } else {
            let others_first = !self.last_shared && self.waiting_to_be_alone > 0;
            self.running.len() < limit() && !self.alone && !others_first
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // The test runner prints no times of single tests.
        say(format!(
            "[{:5.1} s{}] {}",
            self.began.elapsed().as_secs_f32(),
            if self.alone { ", alone" } else { "" },
            current().name().unwrap_or("a story")
        ));
        let mut stories = STORIES.lock().unwrap_or_else(PoisonError::into_inner);
        stories.running.retain(|story| *story != self.story);
        stories.alone = false;
        drop(stories);
        CHANGED.notify_all();
    }
}
