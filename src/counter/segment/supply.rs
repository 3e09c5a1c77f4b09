//! The background worker of a database that takes segments from the sequences of other servers.

use crate::counter::segment::slots::{Segments, SegmentsSlot};
use crate::counter::segment::source::{SET_BACK, SegmentSource, requests};
use crate::counter::segment::{slots, source};
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::error;
use crate::pg::machine::clock;
use crate::pg::sequence::flush_soon;
use crate::pg::worker::dblink::Remote;
use crate::pg::worker::mailbox::NOTE;
use crate::pg::worker::transaction::attempt;
use crate::pg::worker::{deadline, lifecycle};
use crate::statistics;
use mint_core::counter::reasons;
use mint_core::counter::sequence::steps;
use mint_core::{Micros, Values};
use pgrx::bgworkers::BackgroundWorker;
use pgrx::{pg_guard, pg_sys};
use std::collections::{BTreeMap, BTreeSet};

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
        let Round {
            is_supplied,
            is_cut,
        } = worker.take_ordered();
        if is_supplied || requested != before {
            busy = clock::up();
            idle = if is_supplied { IDLE } else { idle };
        }
        if !worker.failures.is_empty() {
            idle = AFTER_FAILURE;
        }
        if !is_cut && !lifecycle::must_leave() {
            lifecycle::idle(1_000_000, requests(), requested);
        }
        lifecycle::reload();
    }
}

/// How long orders of other owners wait for those of one, and then for the request that is running.
const PATIENCE: Micros = 500_000;

#[derive(Default)]
struct SupplyWorker {
    /// A connection for each server and owner.
    remotes: BTreeMap<(String, String), Remote>,
    /// By sequences.
    failures: BTreeMap<u32, SupplyFailure>,
    /// When orders of an owner have made others wait last.
    slow: BTreeMap<u32, Micros>,
}

/// A segment that could not be obtained.
struct SupplyFailure {
    at: Micros,
    /// The owner of the sequence.
    role: u32,
    /// Why, as it was logged.
    why: String,
}

/// What a round over the orders has come to.
struct Round {
    /// Whether a segment was obtained.
    is_supplied: bool,
    /// Whether it has ended early, to see what others have ordered meanwhile.
    is_cut: bool,
}

impl SupplyWorker {
    /// Takes the segments that are ordered. The servers of an owner can be slow, all of them, and for ever: then the other
    /// owners come first, and within an owner the sequences that have not failed, or longest ago.
    fn take_ordered(&mut self) -> Round {
        let (requests, began) = (requests(), clock::up());
        let requested = requests.last();
        let mut orders = slots::orders();
        orders.sort_by_key(|order| {
            let failure = self.failures.get(&order.sequence.to_u32());
            let slow = self.slow.get(&order.role).copied();
            (slow, failure.map(|failure| failure.at))
        });
        let (mut is_supplied, mut is_cut) = (false, false);
        for order in &orders {
            is_cut = clock::up() - began > PATIENCE;
            if is_cut || lifecycle::must_leave() {
                break;
            }
            let oid = order.sequence.to_u32();
            match self.take(order.sequence, order.segments) {
                Ok(()) => {
                    self.failures.remove(&oid);
                    is_supplied = true;
                }
                Err(why) => self.note_failure(oid, order.role, why),
            }
            if clock::up() - began > PATIENCE {
                self.slow.insert(order.role, clock::up());
            }
        }
        // Without orders the note stays, as a session that was answered can still read it.
        if !orders.is_empty() {
            let ordered: BTreeSet<u32> =
                orders.iter().map(|order| order.sequence.to_u32()).collect();
            self.failures.retain(|oid, _| ordered.contains(oid));
            let all = self.failures.iter();
            let all = all.map(|(&oid, failure)| (failure.role, oid, failure.why.as_str()));
            requests.set_note(&reasons::write(all, NOTE));
        }
        if !is_cut {
            requests.answer(requested);
        }
        Round {
            is_supplied,
            is_cut,
        }
    }

    fn note_failure(&mut self, oid: u32, role: u32, why: String) {
        let known = self.failures.get(&oid);
        if known.is_none_or(|known| known.why != why) {
            error::log(format!(
                "could not obtain segment of sequence with OID {oid}: {why}"
            ));
        }
        let at = clock::up();
        self.failures.insert(oid, SupplyFailure { at, role, why });
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
        let Some(count) = segments.next_step(now, steps(source.place.step, u64::MAX)) else {
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
