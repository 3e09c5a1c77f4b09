//! The check of sequences that are drawn from in segments.

use crate::counter::segment::usage::{Drawn, drawn};
use crate::monitor::health::finding::{Finding, Status};
use crate::pg::catalog::{privilege, sql};
use pgrx::pg_sys;
use std::fmt::Write;

const NEARLY: u8 = 90;
const FULL: u8 = 99;

/// Fewer values than those of a smallint are a test or a toy, which a role with a schema of its own makes in a statement.
const SERIOUS: u64 = 32_767;

/// The most owners that the check names.
const SHOWN: usize = 5;

fn status(drawn: &Drawn) -> Status {
    match drawn.percent {
        FULL.. if drawn.values >= SERIOUS => Status::Critical,
        NEARLY.. => Status::Warning,
        _ => Status::Ok,
    }
}

/// Returns whether sequences of this database are near their ends, of those that are drawn from in segments. It names one of each
/// owner, so that no owner hides the sequences of another.
pub fn sequences() -> Finding {
    let mut all = drawn(NEARLY);
    all.sort_by_key(|drawn| std::cmp::Reverse((status(drawn), drawn.percent)));
    let Some(worst) = all.first() else {
        return Finding::ok("No sequence of this database was drawn from in segments.");
    };
    let (status, percent) = (status(worst), worst.percent);
    let finding = Finding::ok(describe(&all));
    let finding = finding.measured(percent.into(), NEARLY.into(), "percent");
    finding.with(
        status,
        "Increase MAXVALUE of the sequence, or change the column to bigint: see mint.id_columns.",
    )
}

fn describe(all: &[Drawn]) -> String {
    let mut owners: Vec<pg_sys::Oid> = Vec::new();
    for drawn in all {
        if !owners.contains(&drawn.owner) {
            owners.push(drawn.owner);
        }
    }
    let mut text = String::new();
    for owner in owners.iter().take(SHOWN) {
        let mut own = all.iter().filter(|drawn| drawn.owner == *owner);
        let Some(worst) = own.next() else {
            continue;
        };
        let space = if text.is_empty() { "" } else { " " };
        let (sequence, role) = (sql::name_of(worst.sequence), privilege::name_of(*owner));
        let _ = write!(
            text,
            "{space}Of the values of sequence \"{sequence}\" of role \"{role}\", {} percent were taken",
            worst.percent
        );
        let _ = match own.count() {
            0 => write!(text, "."),
            further => write!(
                text,
                ", and of {further} more of this role at least {NEARLY}."
            ),
        };
    }
    if let Some(further) = owners.len().checked_sub(SHOWN).filter(|&count| count > 0) {
        let _ = write!(text, " {further} more roles have such sequences.");
    }
    text
}
