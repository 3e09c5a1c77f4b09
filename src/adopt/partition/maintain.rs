//! One step of the maintenance of a table: a partition is made, or an old one dropped, with the rights of the table's owner.
//!
//! A step looks first without a lock. Where there is something to do, it waits for a vacuum of the tables concerned, in a
//! mode that no client waits behind, then locks the table against others that do the same, and looks again. So two runs at a time
//! make nothing twice, and a run that was canceled is taken up by the next one.

use crate::adopt::partition::bounds::Missing;
use crate::adopt::partition::error;
use crate::adopt::partition::moving;
use crate::adopt::partition::names::Names;
use crate::adopt::partition::parent::{Parent, Partition};
use crate::adopt::partition::rules::Rules;
use crate::adopt::partition::statements::{create, remove};
use crate::pg::backend::{deadline, transaction};
use crate::pg::catalog::access::{self, Owned};
use crate::pg::catalog::spi::Sees;
use crate::pg::catalog::{binding, foreign, relation};
use mint_core::Micros;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// What a step has done. Names are quoted, with their schemas.
pub enum Outcome {
    /// There was nothing to do.
    Nothing,
    Created(String),
    /// So many rows of the default partition are in that one now.
    Moved(String, i64),
    Dropped(String),
}

/// What is to be done next.
enum Task<'a> {
    Make(Missing),
    Drop(&'a Partition),
}

impl<'a> Task<'a> {
    fn next(rules: &Rules, parent: &'a Parent) -> Option<Self> {
        let missing = rules.missing(parent).into_iter().next();
        let expired = || rules.expired(parent).map(Self::Drop);
        missing.map(Self::Make).or_else(expired)
    }

    /// Returns the table that is locked against everything, besides the parent.
    fn leaf(&self, parent: &Parent) -> Option<pg_sys::Oid> {
        match self {
            Self::Make(_) => parent.default.as_ref().map(|part| part.oid),
            Self::Drop(part) => Some(part.oid),
        }
    }
}

/// Does what is to be done next for a table of that owner. Waits `millis` for all locks that others wait behind.
pub fn step(table: pg_sys::Oid, owner: pg_sys::Oid, rules: &Rules, millis: i32) -> Outcome {
    let own = owned(table, owner);
    let before = Parent::find(table, rules.layout, Sees::Commits);
    if before.is_distributed {
        error::distributed(&before.name);
    }
    let Some(leaf) = Task::next(rules, &before).map(|task| task.leaf(&before)) else {
        return Outcome::Nothing;
    };
    let leaf = leaf.filter(|&leaf| access::own(leaf).is_ok());
    if !before.lock_connected(&own, leaf.as_slice(), millis) {
        if let Some(leaf) = leaf {
            access::owned(leaf).lock_out_vacuum(millis);
        }
        own.lock_partitions(millis);
    }
    let own = owned(table, owner);
    let parent = Parent::find(table, rules.layout, Sees::Commits);
    // The locks that a statement takes one after another: of the parent, a partition, and the tables of foreign keys.
    let millis = (millis / parent.foreign_keys.saturating_add(2)).max(1);
    match Task::next(rules, &parent) {
        None => Outcome::Nothing,
        Some(Task::Drop(part)) => drop_old(&own, &parent, part, millis),
        Some(Task::Make(part)) => make(&own, &parent, rules, &part, millis),
    }
}

/// Returns the way to a table. Raises an error unless it has that owner still, whose privileges the caller has.
fn owned(table: pg_sys::Oid, owner: pg_sys::Oid) -> Owned {
    let own = access::owned(table);
    if relation::owner(table) != Some(owner) {
        error::changed_hands(table);
    }
    own
}

fn drop_old(own: &Owned, parent: &Parent, part: &Partition, millis: i32) -> Outcome {
    parent.refuse_foreign(&[part.oid]);
    parent.refuse_connected(own, &[part.oid], true, millis);
    // Nothing below it is detached from now on, whichever was to be dropped before the wait.
    access::owned(part.oid).lock_out_vacuum(millis);
    let counted = parent.counted_query(part);
    let refuse_rows = || {
        parent.refuse_detaching(part);
        let has = |query: &String| own.value_within(millis, query) == Some(true);
        if counted.as_ref().is_some_and(has) {
            error::counted_rows(&part.name);
        }
    };
    // First while clients write, which do not wait for a refusal.
    refuse_rows();
    foreign::refuse_moved(part.oid, own.owner());
    let statements = remove(parent, part, false);
    /// How long other statements can wait behind it, with the foreign keys that refer to the table, whose rows the server reads.
    const LIMIT: Micros = 800_000;
    deadline::within(
        LIMIT,
        || {
            if counted.is_some() {
                // What a client had inserted by then is committed now. The table first, as clients do.
                own.lock_one(millis);
                access::owned(part.oid).lock_alone(millis);
                refuse_rows();
            }
            own.run_within(millis, statements.iter().map(String::as_str));
        },
        || error::slow_detach(&part.name, LIMIT / 1_000),
    );
    if relation::kind(part.oid).is_some() {
        binding::refuse();
    }
    Outcome::Dropped(part.name.clone())
}

fn make(own: &Owned, parent: &Parent, rules: &Rules, part: &Missing, millis: i32) -> Outcome {
    if !own.can_create() {
        error::cannot_create(parent.oid);
    }
    // A new partition gets the indexes of the table.
    let grown = moving::grown(parent, part).filter(|_| rules.moves_rows);
    let default = parent.default.as_ref().map(|default| default.oid);
    let touched = default.into_iter().chain(grown.map(|part| part.oid));
    let touched = Vec::from_iter(touched);
    parent.refuse_foreign(&touched);
    parent.refuse_connected(own, &touched, false, millis);
    if grown.is_some() {
        return moved(moving::move_some(own, parent, part, grown, millis));
    }
    let name = Names::of(parent.namespace, Sees::Commits).next(&parent.relname, &part.suffix);
    let name = format!("{}.{name}", parent.schema);
    let command = create(parent, &name, part.from, part.until);
    let work = || own.run_within(millis, std::iter::once(command.as_str()));
    if parent.default.is_none() {
        work();
    } else if let Err(raised) = transaction::caught(work) {
        // Rows of the default partition belong there.
        let code = transaction::code(&raised);
        if code != Some(Code::ERRCODE_CHECK_VIOLATION) {
            raised.rethrow();
        }
        if !rules.moves_rows {
            error::rows_in_default(&name, &parent.name);
        }
        return moved(moving::move_some(own, parent, part, None, millis));
    }
    if !parent.has(&name) {
        binding::refuse();
    }
    Outcome::Created(name)
}

fn moved((name, rows): (String, i64)) -> Outcome {
    Outcome::Moved(name, rows)
}
