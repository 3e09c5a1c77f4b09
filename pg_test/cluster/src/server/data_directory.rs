//! Data directories. initdb takes most of the time of a short test, so most servers get a copy of a cached directory.

use crate::server::installation;
use crate::server::process::Server;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The most distinct servers of a story that are copies: few stories start more.
const CACHED: u32 = 6;

impl Server {
    fn version(&self) -> String {
        installation::run(self.program("postgres", &[]).arg("--version"))
    }

    /// Returns the server's major version.
    #[must_use]
    pub fn major(&self) -> u32 {
        let version = self.version();
        let digits: String = version
            .chars()
            .skip_while(|letter| !letter.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().expect("a version")
    }

    /// Creates a data directory of the server's version.
    pub(crate) fn initdb(&self, place: &Path, options: &[&str]) {
        installation::run(
            self.program("initdb", &[])
                .args([
                    "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8",
                    "--no-locale",
                ])
                .args(options)
                .arg("-D")
                .arg(place),
        );
    }

    /// Creates a data directory whose system identifier no other distinct server of the story has. A story starts its
    /// servers in one thread.
    pub(crate) fn fill_distinctly(&self) {
        thread_local! {
            static STARTED: Cell<u32> = const { Cell::new(0) };
        }
        let number = STARTED.get() + 1;
        STARTED.set(number);
        if number > CACHED {
            self.initdb(&self.data(), &[]);
        } else {
            self.fill_from_cache(number);
        }
    }

    /// Copies the cached data directory of this number, which is kept beside the test programs and created at first use.
    pub(crate) fn fill_from_cache(&self, number: u32) {
        static MAKING: Mutex<()> = Mutex::new(());
        let name = self
            .version()
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let program = std::env::current_exe().expect("the path of this program");
        let cached = program.with_file_name(format!("initdb-{number}-{}", name.trim_matches('-')));
        let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        if !cached.join("PG_VERSION").exists() {
            let made = self.path().join("made");
            self.initdb(&made, &[]);
            let mine = cached.with_extension(std::process::id().to_string());
            copy(&made, &mine);
            // Another test program can have created it meanwhile, which is as good.
            if std::fs::rename(&mine, &cached).is_err() {
                std::fs::remove_dir_all(&mine).expect("a copy can be removed");
            }
            std::fs::remove_dir_all(&made).expect("a data directory can be removed");
        }
        drop(making);
        copy(&cached, &self.data());
    }
}

/// Copies a directory with its owner.
pub(crate) fn copy(from: &Path, to: &PathBuf) {
    installation::run(Command::new("cp").arg("-a").arg(from).arg(to));
}
