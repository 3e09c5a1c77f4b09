//! What happens to servers.

use crate::server::installation;
use crate::server::process::Server;
use crate::server::session::Session;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;

/// A server that stands still.
pub struct Frozen<'a>(&'a Server);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        for process in self.0.processes() {
            installation::try_signal("-CONT", &process);
        }
    }
}

impl Server {
    fn stop(&self, mode: &str) {
        installation::run(
            self.program("pg_ctl", &[])
                .arg("-D")
                .arg(self.data())
                .args(["-m", mode, "-w", "-t", "60", "-s", "stop"]),
        );
    }

    /// Pulls the plug: no checkpoint, nothing written on the way out. [`Server::start_again`] then recovers.
    pub fn stop_immediate(&self) {
        self.stop("immediate");
    }

    /// A clean stop.
    pub fn stop_fast(&self) {
        self.stop("fast");
    }

    /// A clean stop and a start.
    pub fn restart(&self) {
        self.stop_fast();
        self.start_again();
    }

    /// Ends a server process without a word. The postmaster then ends all others and starts over with new shared
    /// memory; this returns when sessions are let in again.
    pub fn kill9(&self, pid: i32) {
        let reborn = |log: String| log.matches("database system is ready to accept").count();
        let before = reborn(self.log());
        installation::signal("-9", pid.to_string());
        self.until("the server comes back after kill -9", || {
            reborn(self.log()) > before
        });
        self.until("sessions are let in again", || {
            Session::open(&self.config("postgres", "postgres")).is_ok()
        });
    }

    /// Ends a session of somebody else, chosen by chance, as [`Server::kill9`] does.
    pub fn kill9_any(&self) {
        let pid = self.connect("postgres").one(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
             ORDER BY random() LIMIT 1",
        );
        self.kill9(pid);
    }

    /// Ends the postmaster without a word. Its children go on until they notice; this returns when the last has.
    pub fn kill9_postmaster(&self) {
        installation::signal("-9", self.postmaster());
        self.wait_for_the_end();
    }

    /// Ends all processes of the server within a moment, as when the machine goes down. What they have handed to the
    /// system stays.
    pub fn cut_power(&self) {
        // The postmaster first: it would only mourn the others.
        installation::signal("-9", self.postmaster());
        for process in self.processes() {
            installation::try_signal("-9", &process);
        }
        self.wait_for_the_end();
    }

    /// Stops all processes of the server where they are, as when a virtual machine is paused, until what is returned is
    /// dropped. A session that is dropped before waits for ever.
    #[must_use]
    pub fn freeze(&self) -> Frozen<'_> {
        // The postmaster first: it starts no other then.
        installation::signal("-STOP", self.postmaster());
        for process in self.processes() {
            installation::try_signal("-STOP", &process);
        }
        Frozen(self)
    }

    fn wait_for_the_end(&self) {
        self.until("all processes are gone", || !self.is_up());
        // A dead postmaster that nobody has collected yet keeps its number, and looks alive to the next one.
        for stale in ["data/postmaster.pid", ".s.PGSQL.5432.lock"] {
            std::fs::remove_file(self.path().join(stale))
                .expect("a killed postmaster leaves its locks");
        }
    }

    /// Whether any process of the server is there.
    #[must_use]
    pub fn is_up(&self) -> bool {
        !self.processes().is_empty()
    }

    fn postmaster(&self) -> String {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid"));
        let file = file.expect("a running server has its postmaster.pid");
        file.lines().next().unwrap_or_default().to_owned()
    }

    /// All processes of the server, by their working directory.
    fn processes(&self) -> Vec<String> {
        let Ok(data) = std::fs::metadata(self.data()) else {
            return Vec::new();
        };
        let is_here = |process: &std::path::Path| {
            std::fs::metadata(process.join("cwd"))
                .is_ok_and(|place| (place.dev(), place.ino()) == (data.dev(), data.ino()))
        };
        std::fs::read_dir("/proc")
            .expect("/proc")
            .flatten()
            .filter(|process| is_here(&process.path()))
            .map(|process| process.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Freezes a process that is about to write the log, so that nobody can flush any more, as on a disk that hangs.
    /// Runs `story`, which must end with the server dead.
    pub fn while_the_log_hangs(&self, story: impl FnOnce()) {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let mut writer = self.connect("postgres");
            let victim = writer.pid.to_string();
            let over = &over;
            scope.spawn(move || {
                // Most of its time goes into writing the log, under the lock that every flush needs.
                while !over.load(Ordering::Relaxed) {
                    let commit =
                        "SELECT pg_logical_emit_message(true, '', repeat('x', 200000))::text";
                    let _ = writer.try_one::<String>(commit);
                }
            });
            let hangs = (0..500).any(|attempt: u64| {
                std::thread::sleep(Duration::from_millis(3 + attempt % 7));
                // Made before: what is frozen may also hold a lock that connecting takes.
                let other = self.connect("postgres");
                installation::signal("-STOP", &victim);
                let hangs = flush_hangs(scope, other);
                if !hangs {
                    installation::signal("-CONT", &victim);
                }
                hangs
            });
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                assert!(hangs, "no writer of the log could be frozen");
                story();
            }));
            over.store(true, Ordering::Relaxed);
            if let Err(panic) = outcome {
                // Who waits for the log must end, or the panic would never be seen.
                self.cut_power();
                std::panic::resume_unwind(panic);
            }
        });
    }
}

/// Whether a commit in this session hangs.
fn flush_hangs<'scope>(scope: &'scope Scope<'scope, '_>, mut session: Session) -> bool {
    let commit = scope.spawn(move || {
        let _ = session.try_one::<String>("SELECT pg_logical_emit_message(true, '', '')::text");
    });
    for _ in 0..50 {
        if commit.is_finished() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}
