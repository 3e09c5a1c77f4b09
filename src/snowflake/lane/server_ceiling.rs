//! The ceiling of the server: above the ids of all its databases, in a file of the data directory.
//!
//! Lanes belong to the server, and each database has a ceiling on a page of its own, which no other database reads.
//! With these alone, a database could repeat after a restart ids that another one issued for the same shard ahead of
//! the clock, or before the clock was set back. So the file's time at the server's start is a floor of every database.
//!
//! The log does not contain the file: a standby has it as it was when the standby was made.

use crate::pg::backend::orphan;
use crate::pg::error::report;
use crate::pg::machine::{clock, state_file};
use crate::snowflake::lane::slots;
use crate::snowflake::settings;
use mint_core::{Micros, clock::timestamp_text};
use pgrx::PgSqlErrorCode as Code;
use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicI64, Ordering, fence};

/// The file, in the data directory.
const FILE: &str = "pg_mint.ceiling";
/// The head of the file. A time of 20 digits follows, so the length is always the same.
const HEAD: &str = "pg_mint ceiling, format 1: ";

/// Returns a time after all ids of earlier runs of the server, in Unix microseconds.
pub(super) fn floor() -> Micros {
    let server = slots::server();
    if server.floor.load(Ordering::Acquire) == 0 {
        let known = slots::locked(|| {
            if server.floor.load(Ordering::Relaxed) == 0 {
                let found = read()?.max(1);
                server.covered.store(found, Ordering::Release);
                server.floor.store(found, Ordering::Release);
            }
            Ok(())
        });
        known.unwrap_or_else(|error| refuse_unreadable(&error));
    }
    server.floor.load(Ordering::Acquire)
}

/// Returns the floor for showing: takes no lock, and makes no memory.
pub(super) fn floor_for_showing() -> Micros {
    let known = slots::server_if_made().map(|server| server.floor.load(Ordering::Acquire));
    known
        .filter(|&known| known != 0)
        .unwrap_or_else(|| read().unwrap_or(0))
}

/// Raises the time in the file to `value` at least, before ids are issued up to that.
pub(super) fn cover(value: Micros) {
    let covered = &slots::server().covered;
    // The caller has noted the value as written. Either this sees that a reset lowers the file, or the reset sees the note.
    fence(Ordering::SeqCst);
    if covered.load(Ordering::SeqCst) < value {
        // Then the file belongs to a server that was started since.
        orphan::refuse();
        slots::locked(|| raise(covered, value)).unwrap_or_else(|error| refuse_unwritable(&error));
    }
}

fn raise(covered: &AtomicI64, value: Micros) -> Result<(), Error> {
    let known = covered.load(Ordering::Relaxed);
    if known >= value {
        return Ok(());
    }
    // With many databases, a raise that comes soon after another writes a little more, so that not each of them writes.
    let step = settings::window() / 4;
    let more = if value - known < step { step } else { 0 };
    let value = value.saturating_add(more);
    write(value)?;
    covered.store(value, Ordering::SeqCst);
    Ok(())
}

/// Lowers the ceiling of the server, and the floor of all databases that it has raised, to `value`, where one of them
/// continues. No ids above that were issued since the server started.
pub(super) fn reset(value: Micros) {
    let known = floor();
    let server = slots::server();
    // Sessions of other databases can issue ids up to their reach, without writing the file again: bounds that were
    // published since the start of the server, and values that are on a page or will be.
    let nearest = clock::now() + settings::most_ahead() + settings::most_window();
    let reach = |slot: &slots::Slot| {
        let (value, written) = (slot.bounds.value(), slot.bounds.written());
        let published = if value > slot.bounds.floor() {
            value
        } else {
            0
        };
        let coming = if written > value {
            written.min(nearest)
        } else {
            0
        };
        published.max(coming)
    };
    let written = slots::locked(|| {
        // This is first, so that a session that has not written its ceiling to a page yet waits for the lock.
        let before = server.covered.swap(value, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let most = slots::used().map(reach).fold(value, Micros::max);
        if before > most {
            write(most)?;
        }
        server.covered.store(before.min(most), Ordering::SeqCst);
        server.floor.fetch_min(value, Ordering::AcqRel);
        Ok(())
    });
    written.unwrap_or_else(|error| refuse_unwritable(&error));
    slots::used().for_each(|slot| slot.bounds.lower_floor(known, value));
}

/// Returns the time in the file; 0 if there is none.
fn read() -> Result<Micros, Error> {
    let Some(text) = state_file::read(FILE)? else {
        return Ok(0);
    };
    let time = text
        .strip_prefix(HEAD)
        .and_then(|rest| rest.strip_suffix('\n'));
    let is_number = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let time = time
        .filter(is_number)
        .and_then(|digits| digits.parse().ok());
    time.ok_or_else(|| Error::new(ErrorKind::InvalidData, "its content is not valid"))
}

fn write(value: Micros) -> Result<(), Error> {
    let written = state_file::overwrite(FILE, &format!("{HEAD}{value:020}\n"));
    let failure = written.as_ref().err().and_then(Error::raw_os_error);
    // A failure that the file shows by itself can be corrected before it is written again.
    let failure = failure.filter(|_| state_file::write_error(FILE).is_none());
    let known = &slots::server().failure;
    known.store(failure.unwrap_or(0), Ordering::Relaxed);
    written
}

/// Returns why no ids can be generated, and what to do, if the file cannot be read or written or the last attempt to
/// write it has failed; or that it lacks what was written to it. It takes no lock, and makes no memory.
pub(super) fn trouble() -> Option<(String, &'static str)> {
    let server = slots::server_if_made();
    // Before the file is read: it is written first.
    let covered = server.map_or(0, |server| server.covered.load(Ordering::SeqCst));
    let found = match read() {
        Err(error) => return Some((message("read", &error), remedy(&error))),
        Ok(found) => found,
    };
    let failure = || {
        let failure = server?.failure.load(Ordering::Relaxed);
        (failure != 0).then(|| Error::from_raw_os_error(failure))
    };
    if let Some(error) = state_file::write_error(FILE).or_else(failure) {
        return Some((message("write", &error), remedy(&error)));
    }
    let written = timestamp_text(covered);
    let detail = format!("File \"{FILE}\" was removed or set back: {written} was written.");
    let hint = "Generate an id, which writes the file again, before the server is stopped.";
    (found < covered).then_some((detail, hint))
}

#[cold]
#[track_caller]
fn refuse_unreadable(error: &Error) -> ! {
    refuse("read", error)
}

#[cold]
#[track_caller]
fn refuse_unwritable(error: &Error) -> ! {
    refuse("write", error)
}

#[track_caller]
fn refuse(what: &str, error: &Error) -> ! {
    report(code(error), message(what, error))
        .hint(remedy(error))
        .raise()
}

/// Returns the failure, without the number that the library adds to the text of the system.
fn message(what: &str, error: &Error) -> String {
    let error = error.to_string();
    let error = error.split(" (os error ").next().unwrap_or(&error);
    match what {
        "read" => format!("could not read file \"{FILE}\": {error}"),
        _ => format!("could not write file \"{FILE}\": {error}"),
    }
}

/// Returns the remedy for an error.
fn remedy(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::InvalidData => {
            "Restore the file, or remove it if no ids of this server are ahead of the clock."
        }
        ErrorKind::StorageFull => "Free space on the disk of the data directory.",
        _ => {
            "Let the operating system user of the server read and write the file, in the data directory."
        }
    }
}

/// Returns the server's SQLSTATE for an error.
fn code(error: &Error) -> Code {
    match error.kind() {
        ErrorKind::InvalidData => Code::ERRCODE_DATA_CORRUPTED,
        ErrorKind::StorageFull => Code::ERRCODE_DISK_FULL,
        ErrorKind::PermissionDenied => Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
        _ => Code::ERRCODE_IO_ERROR,
    }
}
