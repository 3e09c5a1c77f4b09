//! Rows of the table in docs/contributing/tested-programs.md, which `pg_test/tools/neighbors_page.py` makes of them.

use mint_cluster::say;
use mint_cluster::server::installation;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the version of PostgreSQL that is tested.
pub fn postgres() -> u32 {
    let postgres = installation::programs().join("postgres");
    let version = installation::run(Command::new(postgres).arg("--version"));
    let digits = version.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = digits.find(|letter: char| !letter.is_ascii_digit());
    digits[..end.unwrap_or(digits.len())]
        .parse()
        .expect("a version")
}

/// A neighbor and what is done beside it.
pub struct Neighbor {
    /// Its name in the table.
    pub name: &'static str,
    /// The work of the test, in one cell.
    pub what: &'static str,
}

impl Neighbor {
    /// Says that it works, with the version that was run: the last thing that a test does.
    pub fn works(&self, version: &str) {
        self.write(&[version, self.what, "works"]);
    }

    /// Says why it is not run.
    pub fn not_run(&self, reason: &str) {
        say(format!("SKIPPED {}: {reason}: not run", self.name));
        self.write(&["-", reason, "not run"]);
    }

    /// Returns whether the tree has its extension, and says so otherwise.
    pub fn is_there(&self, extension: &str) -> bool {
        let is_there = installation::has_extension(extension);
        if !is_there {
            self.not_run("no package of this Debian, and no source");
        }
        is_there
    }

    /// Returns whether the machine has its program, and says so otherwise.
    pub fn is_program(&self, path: &Path) -> bool {
        let is_there = path.exists();
        if !is_there {
            self.not_run("no package of this Debian");
        }
        is_there
    }

    /// Writes a file for each neighbor and version of PostgreSQL into the folder of `NEIGHBORS_ROWS`, if there is one.
    fn write(&self, cells: &[&str]) {
        let Some(folder) = std::env::var_os("NEIGHBORS_ROWS").map(PathBuf::from) else {
            return;
        };
        let postgres = postgres();
        let line = format!("{}\t{postgres}\t{}\n", self.name, cells.join("\t"));
        let file = folder.join(format!("{}.{postgres}.tsv", self.name));
        std::fs::write(&file, line).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}
