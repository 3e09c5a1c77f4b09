//! The background worker of a database that takes segments from the sequences of other servers.

use crate::counter::segment::slots::{Segments, SegmentsSlot};
use crate::counter::segment::source::{SET_BACK, SegmentSource, requests};
use crate::counter::segment::{slots, source};
use crate::counter::settings;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::error;
use crate::pg::machine::clock;
use crate::pg::sequence::flush_soon;
use crate::pg::worker::dblink::Remote;
use crate::pg::worker::transaction::attempt;
use crate::pg::worker::{deadline, lifecycle};
use crate::statistics;
use mint_core::{Micros, Values};
use pgrx::bgworkers::BackgroundWorker;
use pgrx::{pg_guard, pg_sys};
use std::collections::BTreeMap;

/// Runs the worker: its entry point, by the name in [`crate::counter::segment::source`].
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_supply(argument: pg_sys::Datum) {
    /// How long a worker stays without requests.
    const IDLE: Micros = 30_000_000;
    /// The same, after a failure.
    const AFTER_FAILURE: Micros = 1_000_000;
    lifecycle::attach();
    let database = pg_sys::Oid::from_u32(argument.value() as u32);
    BackgroundWorker::connect_worker_to_spi_by_oid(Some(database), None);
    if !lifecycle::begin(requests()) {
        return;
    }
    let mut worker = SupplyWorker::default();
    let (mut busy, mut requested, mut idle) = (clock::up(), 0, IDLE);
    while !lifecycle::must_leave() && clock::up() - busy < idle {
        // Orders that fail keep the worker only while sessions make requests; a later session starts the next worker.
        let before = std::mem::replace(&mut requested, requests().last());
        let is_supplied = worker.take_ordered();
        if is_supplied || requested != before {
            busy = clock::up();
            idle = if is_supplied { IDLE } else { idle };
        }
        if !worker.failures.is_empty() {
            idle = AFTER_FAILURE;
        }
        if !lifecycle::must_leave() {
            lifecycle::idle(1_000_000, requests(), requested);
        }
        lifecycle::reload();
    }
}

#[derive(Default)]
struct SupplyWorker {
    /// A connection for each server and owner.
    remotes: BTreeMap<(String, String), Remote>,
    /// Why there is no segment of a sequence, as it was logged.
    failures: BTreeMap<u32, String>,
}

impl SupplyWorker {
    /// Takes the segments that are ordered. Returns whether it got any.
    fn take_ordered(&mut self) -> bool {
        let requests = requests();
        let requested = requests.last();
        let orders = slots::orders();
        let mut failures = BTreeMap::new();
        for &(sequence, segments) in orders.iter().take_while(|_| !lifecycle::must_leave()) {
            let oid = sequence.to_u32();
            if let Err(why) = self.take(sequence, segments) {
                if self.failures.get(&oid) != Some(&why) {
                    error::log(format!(
                        "could not obtain segment of sequence with OID {oid}: {why}"
                    ));
                }
                failures.insert(oid, why);
            }
        }
        // Without orders the note stays, as a session that was answered can still read it.
        if !orders.is_empty() {
            let line = |(oid, why): (&u32, &String)| format!("{oid} {}", why.replace('\n', " "));
            let note: Vec<String> = failures.iter().map(line).collect();
            requests.set_note(&note.join("\n"));
        }
        requests.answer(requested);
        let is_any = failures.len() < orders.len();
        self.failures = failures;
        is_any
    }

    fn take(&mut self, sequence: pg_sys::Oid, segments: Segments) -> Result<(), String> {
        let read = || source::of(sequence).map(|source| (source, source::end(sequence)));
        let Some((source, end)) =
            attempt(deadline::REQUEST, read).map_err(|failure| failure.why)?
        else {
            segments.held(SegmentsSlot::cancel);
            return Err("sequence was dropped, or is not committed yet".to_owned());
        };
        let now = clock::now();
        let (own, most) = (source.place.step, settings::segment_max_step());
        let Some(count) = segments.next_step(now, own, most) else {
            return Ok(());
        };
        let values = self.request(&source, count, end)?;
        let position = attempt(deadline::REQUEST, || {
            source::set_end(sequence, values.last())
        })
        .map_err(|failure| failure.why)?;
        // A source that is away does not make the step grow.
        if segments.fill(values, count, position, now) {
            statistics::note_refill(values.count);
        }
        flush_soon(position);
        Ok(())
    }

    /// Takes up to `count` values from the source, of which this server has taken those up to `end` before.
    fn request(
        &mut self,
        source: &SegmentSource,
        count: u64,
        end: Option<i64>,
    ) -> Result<Values, String> {
        let name = sql::escaped(&source.place.sequence);
        let taken = end.map_or_else(|| "NULL".to_owned(), |end| format!("'{end}'"));
        // With a transaction id, so that the commit waits for synchronous standbys: after a failover, the other server
        // would issue again what it has forgotten.
        let query = |_: &str| {
            format!(
                "SELECT r.first, r.last, r.step, r.cycle, pg_catalog.pg_current_xact_id()::pg_catalog.text
                 FROM mint.segment_request(
                     {name}::pg_catalog.regclass, {count}::pg_catalog.int8, {taken}::pg_catalog.int8) AS r"
            )
        };
        let key = (source.place.server.clone(), source.owner.clone());
        let number = self.remotes.len();
        let remote = self.remotes.entry(key).or_insert_with(|| {
            Remote::new(format!("pg_mint {number}"), Some(source.owner.clone()))
        });
        let columns = "first pg_catalog.int8, last pg_catalog.int8, step pg_catalog.int8,
            cycle pg_catalog.bool, xid pg_catalog.text";
        let read = |row: &Row<'_>| -> Option<(i64, i64, i64, bool)> {
            Some((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        };
        let answer = remote.ask(&source.place.server, &query, columns, read);
        let answer = answer.map_err(|failure| failure.why)?;
        let (first, last, increment, cycle) = answer.ok_or("foreign server returned nulls")?;
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
            Some(end) if !cycle && !values.are_beyond(end) => Err(format!(
                "sequence {SET_BACK}: this server has taken values up to {end}, and was given {first} to {last}"
            )),
            _ if values.count > count => {
                Err(format!("foreign server returned more than {count} values"))
            }
            _ => Ok(values),
        }
    }
}
