//! Clients that use tables while these are converted, and the longest that each of their statements took.

use mint_cluster::{Refusal, Server};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What the clients have seen.
#[derive(Default)]
pub struct Seen {
    pub statements: usize,
    pub longest: Duration,
    /// The statement that took the longest.
    pub which: String,
    pub refusals: Vec<Refusal>,
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.statements += other.statements;
        self.refusals.extend(other.refusals);
        if other.longest > self.longest {
            (self.longest, self.which) = (other.longest, other.which);
        }
    }

    /// Asserts that no statement took longer, and that none failed but with these codes.
    #[track_caller]
    pub fn assert_undisturbed(&self, most: Duration, codes: &[&str]) {
        assert!(self.statements > 100, "{} statements", self.statements);
        assert!(self.longest < most, "{:?}: {}", self.longest, self.which);
        let other = self
            .refusals
            .iter()
            .find(|refusal| !codes.contains(&refusal.code.as_str()));
        assert!(other.is_none(), "{}", other.expect("a refusal"));
    }
}

/// Runs `story` while one client for each list of statements runs it again and again: a transaction, if it is several.
pub fn during<T: Send>(
    server: &Server,
    clients: &[&[&str]],
    story: impl FnOnce() -> T + Send,
) -> (T, Seen) {
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients
            .iter()
            .map(|statements| scope.spawn(move || work(server, statements, stop)))
            .collect();
        // The clients are at work before it begins.
        std::thread::sleep(Duration::from_millis(300));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(story));
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        let mut seen = Seen::default();
        for thread in threads {
            seen.add(thread.join().expect("a client"));
        }
        let answer = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (answer, seen)
    })
}

fn work(server: &Server, statements: &[&str], stop: &AtomicBool) -> Seen {
    let mut session = server.connect("postgres");
    let mut seen = Seen::default();
    while !stop.load(Ordering::Relaxed) {
        for statement in statements {
            let begun = Instant::now();
            let answer = session.try_run(statement);
            let took = begun.elapsed();
            seen.statements += 1;
            if took > seen.longest {
                (seen.longest, seen.which) = (took, (*statement).to_owned());
            }
            if let Err(refusal) = answer {
                seen.refusals.push(refusal);
                let _ = session.try_run("ROLLBACK");
                break;
            }
        }
    }
    seen
}
