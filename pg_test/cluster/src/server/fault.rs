//! Faults of servers: stops, kills, freezes and hanging disks.

use crate::server::installation;
use crate::server::process::Server;
use crate::server::session::Session;
use std::os::unix::fs::MetadataExt;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;

/// A server whose processes are stopped by a signal. Dropping it continues them.
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

    /// Stops without a checkpoint, so that [`Server::start_again`] recovers from the WAL.
    pub fn stop_immediate(&self) {
        self.stop("immediate");
    }

    /// Stops cleanly.
    pub fn stop_fast(&self) {
        self.stop("fast");
    }

    /// Stops cleanly when all clients have left.
    pub fn stop_smart(&self) {
        self.stop("smart");
    }

    /// Stops cleanly and starts again.
    pub fn restart(&self) {
        self.stop_fast();
        self.start_again();
    }

    /// Stops without a checkpoint and starts again.
    pub fn crash(&self) {
        self.stop_immediate();
        self.start_again();
    }

    /// Kills a server process. The postmaster then ends all others and starts over with new shared memory; this returns
    /// when the server accepts connections again.
    pub fn kill9(&self, pid: i32) {
        let starts = |log: String| log.matches("database system is ready to accept").count();
        let before = starts(self.log());
        installation::signal("-9", pid.to_string());
        self.until("the server comes back after kill -9", || {
            starts(self.log()) > before
        });
        self.until("the server accepts connections again", || {
            Session::open(&self.config("postgres", "postgres")).is_ok()
        });
    }

    /// Kills the process of a random client, as [`Server::kill9`] does.
    pub fn kill9_any(&self) {
        let pid = self.one(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
             ORDER BY random() LIMIT 1",
        );
        self.kill9(pid);
    }

    /// Kills the postmaster. Its children continue until they notice; this returns when the last one has ended.
    pub fn kill9_postmaster(&self) {
        self.remember_memory();
        installation::signal("-9", self.postmaster());
        self.wait_until_down();
    }

    /// Kills all processes of the server at once, as a failure of the machine does. Their writes that the operating system has
    /// taken stay.
    pub fn cut_power(&self) {
        self.remember_memory();
        // The postmaster first, so that it does not react to the end of the others.
        installation::signal("-9", self.postmaster());
        for process in self.processes() {
            installation::try_signal("-9", &process);
        }
        self.wait_until_down();
    }

    /// Cuts the power and starts again.
    pub fn lose_power(&self) {
        self.cut_power();
        self.start_again();
    }

    /// Cuts the power and starts with the clock a second back, within what ids can run ahead of it.
    pub fn crash_with_the_clock_back(&self) {
        self.cut_power();
        self.set_clock("-1");
        self.start_again();
    }

    /// Stops all processes of the server, like a pause of a virtual machine, until the result is dropped. A session that
    /// is dropped before that hangs.
    #[must_use]
    pub fn freeze(&self) -> Frozen<'_> {
        // The postmaster first, so that it starts no other process.
        installation::signal("-STOP", self.postmaster());
        for process in self.processes() {
            installation::try_signal("-STOP", &process);
        }
        Frozen(self)
    }

    /// Remembers the shared memory that a kill leaves behind, to be removed with the server.
    fn remember_memory(&self) {
        let memory = self.memory.lock();
        memory
            .unwrap_or_else(PoisonError::into_inner)
            .add_those_of(&self.processes());
    }

    fn wait_until_down(&self) {
        self.until("all processes are gone", || !self.is_up());
        // The process id of a postmaster whose parent has not collected it yet looks alive to the next postmaster.
        for stale in ["data/postmaster.pid", ".s.PGSQL.5432.lock"] {
            std::fs::remove_file(self.path().join(stale))
                .expect("a killed postmaster leaves its locks");
        }
    }

    /// Returns whether any process of the server is running.
    #[must_use]
    pub fn is_up(&self) -> bool {
        !self.processes().is_empty()
    }

    fn postmaster(&self) -> String {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid"));
        let file = file.expect("a running server has its postmaster.pid");
        file.lines().next().unwrap_or_default().to_owned()
    }

    /// Returns the ids of all processes of the server, found by their working directory.
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

    /// Freezes a process that is writing WAL, so that no session can flush any more, as on a disk that hangs. Runs
    /// `story`, which must end with the server killed.
    pub fn while_wal_hangs(&self, story: impl FnOnce()) {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let mut writer = self.connect("postgres");
            let victim = writer.pid.to_string();
            let over = &over;
            scope.spawn(move || {
                // Most of its time is spent writing WAL under the lock that every flush needs.
                while !over.load(Ordering::Relaxed) {
                    let commit =
                        "SELECT pg_logical_emit_message(true, '', repeat('x', 200000))::text";
                    let _ = writer.try_one::<String>(commit);
                }
            });
            let hangs = (0..500).any(|attempt: u64| {
                std::thread::sleep(Duration::from_millis(3 + attempt % 7));
                // Connected before, as the frozen process can also hold a lock that connecting takes.
                let other = self.connect("postgres");
                installation::signal("-STOP", &victim);
                let hangs = flush_hangs(scope, other);
                if !hangs {
                    installation::signal("-CONT", &victim);
                }
                hangs
            });
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                assert!(hangs, "no process could be frozen while it wrote WAL");
                story();
            }));
            over.store(true, Ordering::Relaxed);
            if let Err(panic) = outcome {
                // Sessions that wait for WAL must end, as the scope hides the panic until all its threads end.
                self.cut_power();
                std::panic::resume_unwind(panic);
            }
        });
    }
}

/// Returns whether a commit in this session hangs.
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
