//! Maintenance in SQL: of one table, of all that are registered, and the register.

use crate::adopt::partition::error;
use crate::adopt::partition::parent::Parent;
use crate::adopt::partition::register::{self, Registered, Registrant};
use crate::adopt::partition::rules::{self, Rules};
use crate::adopt::partition::run::{Manner, advance, is_locked, maintain, pause, tell, wait};
use crate::adopt::partition::zone::Zone;
use crate::pg::backend::transaction::{self, Raised, StepEnd};
use crate::pg::catalog::spi::Sees;
use crate::pg::catalog::{access, privilege, relation, sql};
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::to_micros;
use crate::pg::error::{OrReport, inform, required, sentence, warn};
use crate::pg::machine::clock;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use mint_core::Micros;
use mint_core::adopt::partition::Step;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys;
use pgrx::prelude::*;

/// Makes the partitions of a table that are missing, as `partition_plan` has them, and drops those older than `keep`. Each is one
/// step, which is committed, unless the procedure is called in a transaction block.
///
/// - **Rights**: those of the owner of the table, which the caller must have.
/// - **Locks**: a step waits for `lock_timeout` at most, is undone if it cannot have them, and repeated later.
/// - **Default partition**: rows in it that belong to a missing one are an error, or moved in batches.
#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, reason = "they are the arguments in SQL")]
fn partition_maintain(
    parent: Option<Regclass>,
    every: Option<Interval>,
    ahead: Option<i32>,
    keep: Option<Interval>,
    layout: Option<SnowflakeLayout>,
    zone: Option<DecodedText>,
    since: Option<TimestampWithTimeZone>,
    move_rows: Option<bool>,
    lock_timeout: Option<Interval>,
    retries: Option<i32>,
    call: pg_sys::FunctionCallInfo,
) {
    let manner = Manner::new(lock_timeout, retries, StepEnd::of(call));
    let table = required(parent, "parent").0;
    let every = required(every, "every");
    let rules = Rules {
        step: Step::new(every.months(), every.days(), every.micros()).or_report(),
        ahead: rules::ahead(ahead),
        keep: keep.map(rules::positive),
        layout: layout.map(|layout| *layout.layout()),
        zone: Zone(required(zone, "zone").0),
        since: since.map(to_micros),
        moves_rows: required(move_rows, "move_rows"),
    };
    let owner = owner_of(table);
    if let Err(raised) = maintain(table, owner, &rules, manner) {
        raised.rethrow();
    }
}

/// How long a step can take where other tables wait for it, and how many one of them can have.
const LONGEST_STEP: Micros = 60_000_000;
const MOST_STEPS: usize = 1_000;

/// A registered table, its oid and its owner.
type Entry = (Registered, pg_sys::Oid, pg_sys::Oid);

/// Does the same as [`partition_maintain`] for each table that is registered and whose owner's privileges the caller has. A table
/// that cannot be maintained keeps no other from it: it is a warning, and an error at the end.
#[pg_extern(sql = false)]
fn partition_maintain_all(
    lock_timeout: Option<Interval>,
    retries: Option<i32>,
    call: pg_sys::FunctionCallInfo,
) {
    let end = StepEnd::of(call);
    let manner = Manner::new(lock_timeout, retries, end);
    let mut all = Vec::new();
    for row in register::all() {
        let (table, owner) = match row.find() {
            Registrant::Counts(table, owner) => (table, owner),
            Registrant::Missing => {
                skip(&row, "The table does not exist.");
                continue;
            }
            Registrant::ChangedHands(owner) => {
                if privilege::is_member(owner) {
                    skip(&row, &row.has_changed(owner));
                }
                continue;
            }
        };
        if !privilege::is_member(owner) {
            continue;
        }
        all.push((row, table, owner));
    }
    let mut failed = 0;
    let number = all.len();
    in_turn(all, manner.with_limit(LONGEST_STEP), |entry, reason| {
        failed += 1;
        let name = entry.0.name();
        let message = format!("could not maintain partitions of table {name}");
        let texts = [message, sentence(reason)];
        tell(texts, |[message, reason]| warn(message, reason, None));
    });
    if failed > 0 {
        error::not_maintained(failed, number);
    }
}

/// A table that is not done yet.
struct Open {
    entry: Entry,
    steps: usize,
    /// How often it could not have its locks, and when it is tried again.
    attempts: i32,
    from: Micros,
}

/// Advances tables in turn, a step of each, so that one for which something is always left to do keeps none waiting, nor one whose
/// owner locks it for long, or pretends it. Those that do not end are given to `fail`, with the reason.
fn in_turn(all: Vec<Entry>, manner: Manner, mut fail: impl FnMut(&Entry, &str)) {
    let open = |entry| Open {
        entry,
        steps: 0,
        attempts: 0,
        from: 0,
    };
    let mut all = Vec::from_iter(all.into_iter().map(open));
    while let Some(from) = all.iter().map(|open| open.from).min() {
        wait(from);
        all.retain_mut(|open| {
            if clock::up() < open.from {
                return true;
            }
            open.steps += 1;
            match try_step(&open.entry, manner.without_retries()) {
                Ok(true) if open.steps >= MOST_STEPS => {
                    let reason = format!("it has more to do after {MOST_STEPS} steps");
                    fail(&open.entry, &reason);
                    false
                }
                Ok(is_left) => is_left,
                Err(raised) if is_locked(&raised) && open.attempts < manner.retries => {
                    open.from = clock::up() + pause(open.attempts);
                    open.attempts += 1;
                    true
                }
                Err(raised) => {
                    fail(&open.entry, &transaction::message(&raised));
                    false
                }
            }
        });
    }
}

/// Does a step for a table, in a transaction. Returns whether something can be left to do.
fn try_step((row, table, owner): &Entry, manner: Manner) -> Result<bool, Raised> {
    let answer = transaction::caught(|| row.rules());
    let answer = answer.and_then(|rules| advance(*table, *owner, &rules, manner));
    // Nothing is locked for longer, also after an error.
    let ended = manner.commit(*table);
    answer.and_then(|is_left| ended.map(|()| is_left))
}

fn skip(row: &Registered, detail: &str) {
    const HINT: &str = "Use mint.partition_unregister(), or register it again.";
    let message = format!("registered table {} is skipped", row.name());
    let texts = [message, detail.to_owned()];
    tell(texts, |[message, detail]| {
        warn(message, detail, Some(HINT));
    });
}

/// Registers a table for [`partition_maintain_all`], with the privileges of its owner, or changes how it is maintained.
#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, reason = "they are the arguments in SQL")]
fn partition_register(
    parent: Option<Regclass>,
    every: Option<Interval>,
    ahead: Option<i32>,
    keep: Option<Interval>,
    layout: Option<SnowflakeLayout>,
    zone: Option<DecodedText>,
    move_rows: Option<bool>,
) {
    let table = required(parent, "parent").0;
    let owner = owner_of(table);
    let schema = relation::schema_name(relation::schema(table));
    let row = Registered {
        schema,
        table: relation::name(table).unwrap_or_else(|| sql::missing(table)),
        owner: privilege::name_of(owner),
        every: required(every, "every"),
        ahead: rules::ahead(ahead),
        keep: keep.map(rules::positive),
        layout: layout.map(|layout| layout.layout().to_string()),
        zone: required(zone, "zone").0,
        moves_rows: required(move_rows, "move_rows"),
    };
    let rules = row.rules();
    let parent = Parent::find(table, rules.layout, Sees::Commits);
    if parent.is_distributed {
        error::distributed(&parent.name);
    }
    // The errors of an interval or a time zone that do not fit.
    rules.missing(&parent);
    rules.oldest(&parent);
    register::put(&row);
}

/// Removes a table from the register, also one that does not exist any more: by its name with its schema. Returns whether it was
/// registered.
#[pg_extern(sql = false)]
fn partition_unregister(parent: Option<DecodedText>) -> bool {
    let text = required(parent, "parent").0;
    let table = sql::relation_of(&text);
    let name = table.map_or(text, sql::exact_name_of);
    let row = register::all().into_iter().find(|row| row.name() == name);
    let Some(row) = row else {
        inform(format!("table {name} is not registered, skipping"));
        return false;
    };
    match table {
        Some(table) => drop(owner_of(table)),
        None => register::demand_owner(&row),
    }
    register::remove(&row)
}

/// Returns the register, and what of it is there.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn partitions() -> TableIterator<
    'static,
    (
        name!(parent, DecodedText),
        name!(owner, DecodedText),
        name!(every, Interval),
        name!(ahead, i32),
        name!(keep, Option<Interval>),
        name!(layout, Option<DecodedText>),
        name!(zone, DecodedText),
        name!(move_rows, bool),
        name!(made, Option<i64>),
        name!(missing_from, Option<TimestampWithTimeZone>),
        name!(problem, Option<DecodedText>),
    ),
> {
    let rows = register::all().into_iter().map(|row| {
        let (made, missing_from, problem) = match row.state() {
            Ok(Some(supply)) => (Some(supply.ahead), supply.missing_from, None),
            Ok(None) => (None, None, None),
            Err(problem) => (None, None, Some(DecodedText(problem))),
        };
        (
            DecodedText(row.name()),
            DecodedText(row.owner),
            row.every,
            row.ahead,
            row.keep,
            row.layout.map(DecodedText),
            DecodedText(row.zone),
            row.moves_rows,
            made,
            missing_from,
            problem,
        )
    });
    TableIterator::new(rows.collect::<Vec<_>>())
}

/// Returns the owner of a table, whose privileges the caller must have.
fn owner_of(table: pg_sys::Oid) -> pg_sys::Oid {
    access::owned(table).owner()
}
