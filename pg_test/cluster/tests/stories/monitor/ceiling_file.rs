//! `mint.health()` while no id can be generated: the file with the ceiling of the server cannot be read or written.

use mint_cluster::{Server, Session};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

const FILE: &str = "pg_mint.ceiling";
const NEXT: &str = "SELECT snowflake_next_id(5)";

fn permit(file: &Path, mode: u32) {
    fs::set_permissions(file, Permissions::from_mode(mode)).expect("the mode can be set");
}

/// Asserts that the check tells what the call fails with, in another database, too, and that the system's number of the error is
/// in neither.
fn assert_told(server: &Server, code: &str, words: &str, remedy: &str) {
    for database in ["postgres", "other"] {
        let mut session = server.connect(database);
        for told in [words, remedy] {
            session.assert_health(&format!("ceiling is critical: {told}"));
        }
        let refusal = session.refused(NEXT, code);
        refusal.assert_message(words);
        refusal.assert_hint(remedy);
        assert!(!refusal.message.contains("os error"), "{refusal}");
        let detail: String =
            session.one("SELECT detail FROM mint.health() WHERE check_name = 'ceiling'");
        assert!(detail.contains(&refusal.message), "{detail}, {refusal}");
    }
}

fn start(name: &str) -> (Server, Session) {
    let server = Server::start(name);
    server.create_database("other");
    let mut session = server.connect("postgres");
    session.run(NEXT);
    session.assert_health("ceiling is ok");
    (server, session)
}

/// A file that is not understood is not overwritten; one that is removed is made again.
#[test]
fn a_damaged_file_is_noticed() {
    let (server, _) = start("damaged file");
    let file = server.file(FILE);
    let read = || fs::read(&file).expect("the file can be read");
    let whole = read();
    for damage in [
        &b"hello\n"[..],
        &[0xff; 48],
        b"",
        &whole[..whole.len() - 2],
        b"pg_mint ceiling, format 2: 17",
    ] {
        server.stop_fast();
        fs::write(&file, damage).expect("the file can be written");
        server.start_again();
        assert_told(&server, "XX001", "could not read file", "remove it");
        assert_eq!(read(), damage);
    }
    fs::remove_file(&file).expect("the file can be removed");
    let mut session = server.connect("postgres");
    session.run(NEXT);
    session.assert_health("ceiling is ok");
    assert_eq!(read().len(), whole.len());
}

#[test]
fn a_file_that_cannot_be_read_is_noticed() {
    let (server, _) = start("unreadable file");
    server.stop_fast();
    permit(&server.file(FILE), 0o000);
    server.start_again();
    let words = "could not read file \"pg_mint.ceiling\": Permission denied";
    assert_told(&server, "42501", words, "read and write the file");
    permit(&server.file(FILE), 0o600);
    let mut session = server.connect("postgres");
    session.run(NEXT);
    session.assert_health("ceiling is ok");
}

/// The check tells it before the first call fails.
#[test]
fn a_file_that_cannot_be_written_is_noticed() {
    let (server, mut session) = start("unwritable file");
    permit(&server.file(FILE), 0o444);
    let words = "could not write file \"pg_mint.ceiling\": Permission denied";
    session.assert_health(&format!("ceiling is critical: {words}"));
    server.until("a refusal", || {
        let calls = ["postgres", "other"].map(|name| server.connect(name).try_run(NEXT));
        calls.iter().all(Result::is_err)
    });
    // A session that raises the ceiling early fails before it is reached.
    sleep(Duration::from_secs(1));
    assert_told(&server, "42501", words, "read and write the file");
    permit(&server.file(FILE), 0o600);
    session.assert_health("ceiling is ok");
    session.run(NEXT);
    // A stop would lose what it had.
    let time = "pg_mint ceiling, format 1: 00000000000000000005\n";
    for damage in [None, Some(time)] {
        match damage {
            None => fs::remove_file(server.file(FILE)),
            Some(time) => fs::write(server.file(FILE), time),
        }
        .expect("the file can be changed");
        session.assert_health("ceiling is critical: removed or set back");
        sleep(Duration::from_secs(1));
        session.run(NEXT);
        session.assert_health("ceiling is ok");
    }
}

/// The first id of a server makes the file, where a later one needs no room. Writes to the device fail as on a full disk.
#[test]
fn a_disk_that_is_full_at_the_first_id_is_noticed() {
    let server = Server::start("full at the first id");
    server.create_database("other");
    let (file, new) = (server.file(FILE), server.file("pg_mint.ceiling.tmp"));
    assert!(!file.exists());
    symlink("/dev/full", &new).expect("a link to the device");
    let mut session = server.connect("postgres");
    session.refused(NEXT, "53100");
    let words = "could not write file \"pg_mint.ceiling\": No space left on device";
    assert_told(&server, "53100", words, "Free space");
    fs::remove_file(&new).expect("the link can be removed");
    session.run(NEXT);
    session.assert_health("ceiling is ok");
}
