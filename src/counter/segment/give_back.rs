//! The background worker of the server that gives values back when the server is shut down: what was taken from a sequence
//! and not drawn is there again after the next start, as with `nextval`.
//!
//! It is safe at any time. Under the lock of the sequence's page, which a refill needs, the segments are closed first: that
//! tells what was drawn, and nobody draws any more. Only then the page is written. A crash before that is on disk leaves the
//! page as it was, above all that was drawn. The next refill writes after it in the log, and is flushed before a draw.
//!
//! Only at a shutdown, because values that are taken ahead are those that a standby can lag behind.
//!
//! The worker is connected to no database, as it serves all of them. It finds pages by their files, and takes a page for
//! that of a segment only if it was changed last where the segment has noted. It writes when no process draws any more,
//! so nothing alters or drops a sequence then.

use crate::counter::segment::left_page::{LeftPage, left_pages};
use crate::counter::segment::slots;
use crate::pg::backend::{orphan, recovery};
use crate::pg::error;
use crate::pg::machine::{clock, server};
use crate::pg::sequence::Sequence;
use crate::pg::worker::deadline::TimeLimit;
use crate::pg::worker::mailbox::WorkerKind;
use crate::pg::worker::transaction::attempt;
use crate::pg::worker::{deadline, lifecycle};
use mint_core::Micros;
use pgrx::bgworkers::BackgroundWorker;
use pgrx::{pg_guard, pg_sys};

static KIND: WorkerKind = WorkerKind {
    name: "pg_mint give-back",
    function: "pg_mint_give_back",
    argument: 0,
    event: &lifecycle::IDLE,
};

/// Starts the worker, if this server has none. Without a free background worker, a shutdown skips values as a crash does.
pub fn keep() {
    slots::memory().head.keeper.start_if_possible(&KIND);
}

/// Runs the worker: its entry point.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_give_back(_argument: pg_sys::Datum) {
    // Before it connects, which waits for nothing: from now on a shutdown does not end it at once.
    if !lifecycle::begin_for_server(&slots::memory().head.keeper) {
        return;
    }
    BackgroundWorker::connect_worker_to_spi(None, None);
    while !deadline::is_asked_to_end() {
        clock::pause(1_000_000, &lifecycle::IDLE);
    }
    // A superuser can end it, too.
    if server::is_stopping() {
        await_drawers();
        give_all_back();
    }
}

/// Waits until no process draws any more. Not for ever: one that replicates ends after this worker.
fn await_drawers() {
    const LONGEST: Micros = 10_000_000;
    const POLL: Micros = 10_000;
    let began = clock::up();
    while slots::drawers() > 0 && clock::up() - began < LONGEST {
        clock::pause(POLL, &lifecycle::IDLE);
    }
}

/// Gives back what was not drawn from the segments of all sequences.
fn give_all_back() {
    const LIMIT: TimeLimit = TimeLimit {
        usual: 3_000_000,
        ending: 30_000_000,
    };
    if recovery::is_in_progress() || orphan::is_orphan() {
        return;
    }
    for page in left_pages() {
        if let Err(failure) = attempt(LIMIT, || give_back(&page)) {
            error::log(format!(
                "could not give back values of a sequence in file {}: {}",
                page.file.number, failure.why
            ));
        }
    }
}

fn give_back(page: &LeftPage) {
    if let Some(mut sequence) = Sequence::of_file(page.file, page.position) {
        sequence.update_then(|found, logged| page.without_unissued(found, logged), |_| ());
    }
}
