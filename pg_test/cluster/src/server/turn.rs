//! A limit on the stories that run side by side.
//!
//! Stories spend most of their time waiting: for a lease, a window, a clock, a start. So several share the machine. A
//! story that measures a wait or loads all cores runs alone ([`crate::server::builder::Builder::alone`]).

use crate::report::{say, short_form};
use std::process::{Command, exit};
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::thread::{Thread, available_parallelism, current, sleep, spawn};
use std::time::{Duration, Instant};

/// The longest stories, which do not wait for others: they would run alone at the end. Their names are those of the threads
/// in which the test runner runs them.
const LONGEST: [&str; 1] = ["servers::every_fault::no_fault_mints_an_id_twice"];

/// The most time of a story in the short form: twice that of the longest one on a slow machine.
const ENDLESS: Duration = Duration::from_secs(12 * 60);

/// The stories that run and those that wait.
struct Stories {
    /// The threads of those that run, and when they began.
    running: Vec<(Thread, Instant)>,
    alone: bool,
    waiting_to_share: usize,
    waiting_to_be_alone: usize,
    waiting_to_be_first: usize,
    /// True if the last story that began shares the machine.
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
        .unwrap_or_else(|| available_parallelism().map_or(3, |cores| 3 * cores.get()))
        .max(1)
}

/// Right of a story to run. Dropping it ends the turn.
pub(crate) struct Turn {
    story: Thread,
    alone: bool,
    began: Instant,
}

impl Turn {
    /// Waits for a turn. `None` if this thread has one already: if each story that runs waited for a second one, none would end.
    pub(crate) fn wait(alone: bool) -> Option<Self> {
        let story = current();
        let first = story.name().is_some_and(|name| LONGEST.contains(&name));
        let mut stories = STORIES.lock().unwrap_or_else(PoisonError::into_inner);
        if stories.has(&story) {
            return None;
        }
        *stories.count_waiting(alone, first) += 1;
        while !stories.may_start(alone, first) {
            stories = CHANGED
                .wait(stories)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *stories.count_waiting(alone, first) -= 1;
        stories.last_shared = !alone;
        stories.alone = alone;
        let began = Instant::now();
        stories.running.push((story.clone(), began));
        static WATCH: Once = Once::new();
        if short_form() {
            WATCH.call_once(|| drop(spawn(watch)));
        }
        Some(Self {
            story,
            alone,
            began,
        })
    }
}

/// Ends the program when a story does not end, and says which one.
fn watch() {
    loop {
        sleep(Duration::from_secs(10));
        let stories = STORIES.lock().unwrap_or_else(PoisonError::into_inner);
        let endless = |(_, began): &&(Thread, Instant)| began.elapsed() > ENDLESS;
        if let Some((story, _)) = stories.running.iter().find(endless) {
            // Where they wait, and whether they compute.
            let processes = Command::new("ps")
                .args(["-ww", "-C", "postgres", "-o"])
                .arg("pid,ppid,stat,wchan:20,time,etime,args")
                .output();
            let processes = processes.map(|output| output.stdout).unwrap_or_default();
            say(String::from_utf8_lossy(&processes));
            say(format!(
                "{} has not ended after {} s",
                name(story),
                ENDLESS.as_secs()
            ));
            exit(1);
        }
    }
}

fn name(story: &Thread) -> &str {
    story.name().unwrap_or("a story")
}

impl Stories {
    /// Returns whether a story runs.
    fn has(&self, story: &Thread) -> bool {
        let mut running = self.running.iter();
        running.any(|(running, _)| running.id() == story.id())
    }

    /// Returns the number of stories that wait, of this kind.
    fn count_waiting(&mut self, alone: bool, first: bool) -> &mut usize {
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
        // The test runner prints no times of single tests. pg_test/tools/times.sh reads these lines.
        say(format!(
            "[{:5.1} s{}] {}",
            self.began.elapsed().as_secs_f32(),
            if self.alone { ", alone" } else { "" },
            name(&self.story)
        ));
        let mut stories = STORIES.lock().unwrap_or_else(PoisonError::into_inner);
        let id = self.story.id();
        stories.running.retain(|(story, _)| story.id() != id);
        stories.alone = false;
        drop(stories);
        CHANGED.notify_all();
    }
}
