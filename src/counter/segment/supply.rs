//! The background worker that takes the next segment of one sequence from another server, and ends.

use crate::counter::segment::slots::Segments;
use crate::counter::segment::source::{self, LOCKED, SET_BACK, SegmentSource};
use crate::pg::backend::callbacks::on_exit;
use crate::pg::backend::local::Local;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::error;
use crate::pg::machine::clock;
use crate::pg::sequence::{Lock, Sequence, flush_soon};
use crate::pg::worker::dblink::Remote;
use crate::pg::worker::transaction::attempt;
use crate::pg::worker::{deadline, lifecycle};
use mint_core::Values;
use pgrx::bgworkers::BackgroundWorker;
use pgrx::{pg_guard, pg_sys};

/// The segments whose request this process serves.
static SERVED: Local<Option<Segments>> = Local::new(None);

/// Runs the worker: its entry point, by the name in [`crate::counter::segment::source`].
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_supply(argument: pg_sys::Datum) {
    lifecycle::attach();
    let Some((segments, database, sequence)) = Segments::of_number(argument.value() as u64) else {
        return;
    };
    SERVED.set(Some(segments));
    on_exit(|| {
        if let Some(served) = SERVED.get()
            && served.slot.request.is_running()
        {
            served.note_failure("the background worker has ended, see the server log");
        }
    });
    BackgroundWorker::connect_worker_to_spi_by_oid(Some(database.into()), None);
    if lifecycle::begin_once()
        && let Err(why) = supply(sequence, segments)
    {
        segments.note_failure(&why);
        let oid = sequence.to_u32();
        error::log(format!(
            "could not obtain segment of sequence with OID {oid}: {why}"
        ));
    }
}

fn open(sequence: pg_sys::Oid) -> Option<Sequence> {
    Sequence::open_at_once(sequence, Lock::Write)
}

fn supply(sequence: pg_sys::Oid, segments: Segments) -> Result<(), String> {
    let find = || Some((source::of(sequence)?, source::end_of(open(sequence)?.row())));
    let found = attempt(deadline::REQUEST, find).map_err(|failure| failure.why)?;
    let (source, end) = found.ok_or(LOCKED)?;
    // The time is that of the beginning of the request: a source that is away does not make the step grow.
    let now = clock::now();
    let step = segments.next_step(now, source.steps()).ok_or(LOCKED)?;
    let (values, cycles) = request(&source, step, end)?;
    // Under the lock of the page: if another request has taken later values meanwhile, these are lost. Values of a
    // sequence that begins again can be earlier. The end is remembered before any value can be drawn.
    let fill = || {
        let (_, position) = open(sequence)?.update_then(
            |found, _| {
                let is_next = |end| cycles || values.are_beyond(end);
                let end = source::row_of(values.last());
                source::end_of(found).is_none_or(is_next).then_some(end)
            },
            |position| {
                // From then on, a request is the next one, of another process.
                if segments.fill(values, step, position, now) {
                    SERVED.set(None);
                }
            },
        );
        flush_soon(position);
        Some(())
    };
    let filled = attempt(deadline::REQUEST, fill).map_err(|failure| failure.why)?;
    filled.ok_or_else(|| LOCKED.to_owned())
}

/// Takes up to `step` values from the source, of which this server has taken those up to `end` before. Returns them, and
/// whether the sequence begins again at its end.
fn request(source: &SegmentSource, step: u64, end: Option<i64>) -> Result<(Values, bool), String> {
    let name = sql::escaped(&source.sequence);
    let before = end.map_or_else(|| "NULL".to_owned(), |end| format!("'{end}'"));
    // The query has a transaction id, so that the commit waits for synchronous standbys: after a failover, the other
    // server would issue forgotten values again.
    let query = |_: &str| {
        format!(
            "SELECT r.first, r.last, r.step, r.cycle, pg_catalog.pg_current_xact_id()::pg_catalog.text
             FROM mint.segment_request(
                 {name}::pg_catalog.regclass, {step}::pg_catalog.int8, {before}::pg_catalog.int8) AS r"
        )
    };
    let columns = "first pg_catalog.int8, last pg_catalog.int8, step pg_catalog.int8,
        cycle pg_catalog.bool, xid pg_catalog.text";
    let read = |row: &Row<'_>| -> Option<(i64, i64, i64, bool)> {
        Some((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    };
    let mut remote = Remote::new("pg_mint".to_owned(), Some(source.owner.clone()));
    let answer = remote.ask(&source.server, &query, columns, read);
    let answer = answer.map_err(|failure| failure.why)?;
    let (first, last, increment, cycles) = answer.ok_or("foreign server returned nulls")?;
    if increment == 0 || last.cmp(&first) == 0.cmp(&increment) {
        return Err("foreign server returned no values".to_owned());
    }
    let values = Values {
        first,
        increment,
        count: (last.abs_diff(first) / increment.unsigned_abs()).saturating_add(1),
    };
    // The values of a sequence that begins again at its end repeat, as they do on the other server.
    match end {
        Some(end) if !cycles && !values.are_beyond(end) => Err(format!(
            "sequence {SET_BACK}: this server has taken values up to {end}, and was given {first} to {last}"
        )),
        _ if values.count > step => Err(format!("foreign server returned more than {step} values")),
        _ => Ok((values, cycles)),
    }
}
