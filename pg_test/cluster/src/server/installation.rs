//! The server tree under test, and its programs, run as a user that the server accepts.

use crate::report::short_form;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// Environment variables that would redirect the server's programs or put a backtrace into every DETAIL.
const UNWANTED: [&str; 8] = [
    "RUST_BACKTRACE", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGDATA", "PGOPTIONS",
    "PGSERVICE",
];

/// Returns the folder of the programs of the tree of `PG_CONFIG`.
pub fn programs() -> &'static Path {
    static PLACE: LazyLock<PathBuf> = LazyLock::new(|| directory(&pg_config(), "--bindir"));
    &PLACE
}

/// Returns the same for `PG_CONFIG_NEW`, the tree to upgrade to, if it is set.
pub fn newer_programs() -> Option<PathBuf> {
    let pg_config = std::env::var_os("PG_CONFIG_NEW").filter(|path| !path.is_empty())?;
    Some(directory(&pg_config, "--bindir"))
}

fn pg_config() -> OsString {
    std::env::var_os("PG_CONFIG").unwrap_or_else(|| {
        panic!("set PG_CONFIG to the pg_config of a server tree that has pg_mint installed; these tests start whole servers")
    })
}

/// Returns a directory of a tree by pg_config's option for it.
fn directory(pg_config: &OsStr, option: &str) -> PathBuf {
    let answer = Command::new(pg_config)
        .arg(option)
        .output()
        .unwrap_or_else(|error| {
            panic!("{} cannot be run: {error}", Path::new(pg_config).display())
        });
    PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim())
}

/// Reads the extension's library as installed in the tree.
pub fn library() -> Vec<u8> {
    let place = directory(&pg_config(), "--pkglibdir").join("pg_mint.so");
    std::fs::read(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()))
}

/// Returns the folder of the extensions' scripts in the tree.
#[must_use]
pub fn extension_folder() -> PathBuf {
    directory(&pg_config(), "--sharedir").join("extension")
}

/// Returns whether the tree has an extension of this name.
pub fn has_extension(name: &str) -> bool {
    extension_folder().join(format!("{name}.control")).exists()
}

/// Returns whether this is root. PostgreSQL refuses to run as root, so root runs servers as the user `postgres`.
fn is_root() -> bool {
    static ROOT: LazyLock<bool> =
        LazyLock::new(|| std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0));
    *ROOT
}

/// Returns a command that runs a program of a tree as the server's user, in `directory`, with extra environment.
///
/// The environment is set by `env`, so that only the server preloads a library and not `runuser` before it.
pub fn program(
    programs: &Path,
    name: &str,
    directory: &Path,
    environment: &[(String, String)],
) -> Command {
    let mut command = if is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", "env"]);
        command
    } else {
        Command::new("env")
    };
    for variable in UNWANTED {
        command.args(["-u", variable]);
    }
    command.arg("LC_ALL=C");
    command.args(
        environment
            .iter()
            .map(|(name, value)| format!("{name}={value}")),
    );
    command
        .arg(programs.join(name))
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

/// Runs a command and returns its output; panics with all its output if it fails.
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    outcome(command, &output)
}

/// Runs a command like [`run`], with input.
pub fn run_with_input(command: &mut Command, input: &str) -> String {
    let running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut running = running.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    // A program that ends before it has read its input says why.
    let _ = running
        .stdin
        .take()
        .expect("a pipe to the program")
        .write_all(input.as_bytes());
    let output = running
        .wait_with_output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    outcome(command, &output)
}

fn outcome(command: &Command, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}\nended with {}:\n{said}{complaints}",
        output.status
    );
    said
}

/// Makes the server's user the owner of a path.
pub fn give_to_server(path: &Path) {
    if is_root() {
        run(Command::new("chown").arg("-R").arg("postgres:").arg(path));
    }
}

/// Signals a process by its id.
pub fn signal(signal: &str, pid: impl AsRef<OsStr>) {
    run(Command::new("kill").arg(signal).arg(pid));
}

/// Signals a process that can be gone already.
pub fn try_signal(signal: &str, pid: impl AsRef<OsStr>) {
    let signaled = Command::new("kill").arg(signal).arg(pid).output();
    drop(signaled);
}

/// Returns the folder for servers: a file system in memory with enough room, as creating and removing files takes much of
/// the time, or else the directory for temporary files. `TMPDIR` overrides both.
pub fn temporary_directory() -> PathBuf {
    const GB_IN_KB: u64 = 1 << 20;
    let enough = if short_form() { GB_IN_KB } else { 8 * GB_IN_KB };
    let memory = Path::new("/dev/shm");
    let room = || -> Option<u64> {
        let answer = Command::new("df")
            .args(["-k", "--output=avail"])
            .arg(memory)
            .output()
            .ok()?;
        String::from_utf8_lossy(&answer.stdout)
            .lines()
            .nth(1)?
            .trim()
            .parse()
            .ok()
    };
    if std::env::var_os("TMPDIR").is_none() && room().is_some_and(|room| room > enough) {
        return memory.to_owned();
    }
    std::env::temp_dir()
}
