//! Segments from another server: Leaf's central database, from which many servers draw.
//!
//! Such a sequence has no values of its own; it is a name with privileges. A background worker takes the next segment
//! ([`crate::counter::segment::supply`]). The page of the name remembers the end of the values taken: if the other
//! server has lost its last ones, as a restored one has, they are refused rather than issued again.

use crate::counter::segment::request::Fate;
use crate::counter::segment::slots::Segments;
use crate::pg::backend::guc::max_wait;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{impossible, report};
use crate::pg::machine::clock;
use crate::pg::machine::server::max_worker_processes;
use crate::pg::sequence::{Lock, Sequence, SequenceRow};
use crate::pg::worker::mailbox::{POLL, WorkerKind, last_failure};
use crate::statistics::Wait;
use mint_core::Rules;
use mint_core::counter::sequence::steps;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The clauses of a sequence that is only a name. Both of its values are drawn when it is created, so `nextval` fails.
pub const NAME_ONLY: &str = "MINVALUE 1 MAXVALUE 2";

/// The words for people that begin the comment of such a sequence. The last line is a [`SegmentSource`] as JSON. The
/// comment belongs to the owner of the sequence, who could as well create another one by `segment_create`: it leads
/// only to what dblink lets the owner use. It is dumped and restored with the sequence, and ends with it.
const COMMENT: &str = "name of a sequence on a foreign server: segment_next() draws values of that sequence, and nextval() has none\n";

/// The source of a sequence's segments.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SegmentSource {
    /// The foreign server, and the name of the sequence there.
    pub server: String,
    pub sequence: String,
    /// The number of values of a segment: 1 stands for a number that adapts to the load.
    step: u64,
    /// The owner of the sequence here, which has the user mapping.
    #[serde(skip)]
    pub owner: String,
}

impl SegmentSource {
    /// Returns the least and the most values to take at once. Each segment takes a process and a connection, so even
    /// the first ones are not small.
    pub fn steps(&self) -> (u64, u64) {
        let (least, most) = steps(self.step, u64::MAX);
        (if self.step > 1 { least } else { 1_000 }, most)
    }
}

/// Returns the source of a sequence with these rules, if it has one. Hardly any other sequence has the bounds of a
/// name, so hardly any is looked up.
pub fn find(sequence: pg_sys::Oid, rules: &Rules) -> Option<SegmentSource> {
    let may_be_name = (rules.min, rules.max) == (1, 2);
    may_be_name.then(|| of(sequence)).flatten()
}

/// Returns the source of a sequence, if it has one.
pub fn of(sequence: pg_sys::Oid) -> Option<SegmentSource> {
    /// The longest comment that is read, in bytes: the owner of a sequence can write one of 1 GB.
    const MAX_COMMENT_BYTES: i32 = 65_536;
    let select = "SELECT d.description, pg_get_userbyid(c.relowner)::text
         FROM pg_class AS c
         JOIN pg_sequence AS q ON q.seqrelid = c.oid
         JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = c.tableoid AND d.objsubid = 0
             AND octet_length(d.description) <= $2
         WHERE c.oid = $1";
    let read = |row: &Row<'_>| {
        let DecodedText(comment) = row.get(1)?;
        let DecodedText(owner) = row.get(2)?;
        let place = serde_json::from_str(comment.strip_prefix(COMMENT)?).ok()?;
        Some(SegmentSource { owner, ..place })
    };
    sql::rows(select, &[sequence.into(), MAX_COMMENT_BYTES.into()], read).pop()
}

/// Raises an error if the values of a sequence come from a foreign server, as only that server can change the next one.
#[track_caller]
pub fn refuse_change(verb: &str, oid: pg_sys::Oid, sequence: &Sequence, rules: &Rules) {
    if find(oid, rules).is_some() {
        let message = format!("cannot {verb} sequence \"{}\"", sequence.name());
        report(Code::ERRCODE_WRONG_OBJECT_TYPE, message)
            .detail("Values of the sequence come from a foreign server.")
            .hint("Do so on the foreign server.")
            .raise();
    }
}

/// Returns the end of the values that this server has taken from the source, by the row of the name; none at first, and
/// after it was forgotten, as by a dump or by `setval`.
pub fn end_of(row: SequenceRow) -> Option<i64> {
    (row.log_count != 0).then_some(row.log_count ^ i64::MIN)
}

/// Returns the row of a name with this end.
///
/// Its value needs to be 2, so that `nextval` fails. It fails before it uses the number of values logged ahead, so this
/// number holds the end, but for the lowest bigint: `setval` and a dump leave 0.
pub fn row_of(end: i64) -> SequenceRow {
    SequenceRow {
        last_value: 2,
        log_count: end ^ i64::MIN,
        is_called: true,
    }
}

/// Returns these ends by the oids of the sequences that the role may see, without those that a session is altering.
pub fn ends(may_see: impl Fn(pg_sys::Oid) -> bool) -> BTreeMap<u32, i64> {
    let select = "SELECT c.oid
         FROM pg_sequence AS q
         JOIN pg_class AS c ON c.oid = q.seqrelid
         WHERE q.seqmin = 1 AND q.seqmax = 2 AND c.relpersistence = 'p'";
    let candidates = sql::rows(select, &[], |row| row.get(1).filter(|&oid| may_see(oid)));
    let names = candidates.into_iter().filter(|&oid| of(oid).is_some());
    let end = |oid: pg_sys::Oid| {
        let sequence = Sequence::open_at_once(oid, Lock::Write)?;
        Some((oid.to_u32(), end_of(sequence.row())?))
    };
    names.filter_map(end).collect()
}

/// The text of the source's error for a sequence that was set back.
pub const SET_BACK: &str = "was set back";
/// The reason of a failure while another session has locked the sequence here.
pub const LOCKED: &str = "sequence was dropped, is being altered, or is not committed yet";
/// The hint for a sequence that was set back.
pub const SET_BEYOND: &str = "Set the sequence to the furthest \"segment_end\" in mint.segments of all servers that draw from it.";

/// Raises an error unless the role may use the foreign server.
pub fn check(server: &str) {
    let query = "SELECT has_server_privilege($1, 'USAGE')";
    if sql::ask(query, DecodedText(server.to_owned()).into()) != Some(true) {
        let message = format!("permission denied for foreign server {server}");
        report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, message).raise();
    }
}

/// Records the source of a new sequence.
pub fn record(sequence: pg_sys::Oid, server: &str, source: &str, step: i64) {
    // Both values are drawn, so that nextval fails.
    sql::set_sequence(sequence, 2, true);
    let place = serde_json::to_string(&SegmentSource {
        server: server.to_owned(),
        sequence: source.to_owned(),
        step: step.unsigned_abs(),
        owner: String::new(),
    });
    let place = place.unwrap_or_else(|_| impossible("source that is not JSON"));
    let comment = sql::literal(&format!("{COMMENT}{place}"));
    let name = sql::exact_name_of(sequence);
    sql::run(&format!("COMMENT ON SEQUENCE {name} IS {comment}"));
}

/// Lets a background worker take the next segment. Waits for it when it is `needed` now: at most for `pg_mint.max_wait`, and
/// not soon after a failure. A session does not connect itself: the owner of the sequence, whose connection it
/// would be, and the role that draws do not need to trust each other.
#[cold]
pub fn fetch(sequence: pg_sys::Oid, segments: Segments, needed: bool) {
    let (request, began) = (&segments.slot.request, clock::up());
    // The other workers of the server are left free.
    let most = (max_worker_processes() / 2).saturating_sub(1).max(1);
    while segments.slot.segment.lacks_next() && segments.is_current() {
        let rests = request.rests(needed);
        if !rests && !request.is_running() {
            let worker = WorkerKind {
                name: "pg_mint segments",
                function: "pg_mint_supply",
                argument: segments.number(),
                event: Wait::Segment.event(),
            };
            if segments.begin_request(most) && !worker.start() {
                request.set(Fate::NoWorker);
            }
        }
        if !needed {
            return;
        }
        if rests || clock::up() - began > max_wait() {
            refuse(sequence, segments, rests);
        }
        clock::pause(POLL, Wait::Segment.event());
    }
}

#[cold]
fn refuse(sequence: pg_sys::Oid, segments: Segments, has_failed: bool) -> ! {
    const UNREACHABLE: &str = "Check the foreign server, the sequence there, and the user mapping of the owner of the sequence here.";
    let (detail, hint) = match segments.failure() {
        Some(why) if has_failed => {
            let hint = match &why {
                why if why.contains(SET_BACK) => SET_BEYOND,
                why if why == LOCKED => "Retry when no other transaction locks it.",
                _ => UNREACHABLE,
            };
            (last_failure(&why), hint)
        }
        _ if segments.slot.request.is_running() => (
            "The foreign server has not responded yet.".to_owned(),
            "Retry when the foreign server responds.",
        ),
        _ => (
            "No background worker was free, as one of each owner of sequences can be.".to_owned(),
            "Retry, or increase \"max_worker_processes\" if the owner draws from no other foreign sequence.",
        ),
    };
    let name = sql::name_of(sequence);
    let message = format!("could not obtain segment of sequence \"{name}\"");
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(detail)
        .hint(hint)
        .raise()
}
