//! Maintenance in SQL: of one table, of all that are registered, and the register.

use crate::adopt::partition::error;
use crate::adopt::partition::parent::Parent;
use crate::adopt::partition::register::{self, Registered, Registrant};
use crate::adopt::partition::rules::{self, Rules};
use crate::adopt::partition::run::{Manner, advance, is_locked, maintain, wait};
use crate::adopt::partition::zone::Zone;
use crate::pg::backend::transaction::{self, Raised, StepEnd};
use crate::pg::catalog::spi::Sees;
use crate::pg::catalog::{access, privilege, relation, sql};
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::to_micros;
use crate::pg::error::{OrReport, inform, required, sentence, warn};
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
    let (mut all, mut failed) = (Vec::new(), 0);
    for row in register::all() {
        let (table, owner) = match row.find() {
            Registrant::Counts(table, owner) => (table, owner),
            Registrant::Missing => {
                skip(&row, "The table does not exist.".to_owned());
                continue;
            }
            Registrant::ChangedHands(owner) => {
                if privilege::is_member(owner) {
                    skip(&row, row.has_changed(owner));
                }
                continue;
            }
        };
        if !privilege::is_member(owner) {
            continue;
        }
        all.push((row, table, owner));
    }
    let manner = manner.with_limit(LONGEST_STEP);
    let mut fail = |entry: &Entry, reason: &str| {
        failed += 1;
        let name = entry.0.name();
        let message = format!("could not maintain partitions of table {name}");
        warn(message, sentence(reason), None);
    };
    // An owner can lock tables for long, or pretend it: all tables have been tried before one of them is tried again.
    let mut open = all.iter().collect();
    for turn in 0..=manner.retries {
        let mut locked = Vec::new();
        in_turn(open, manner.without_retries(), end, |entry, raised| {
            if raised.is_some_and(is_locked) && turn < manner.retries {
                locked.push(entry);
            } else {
                fail(entry, &why(raised));
            }
        });
        if locked.is_empty() {
            break;
        }
        wait(turn);
        open = locked;
    }
    if failed > 0 {
        error::not_maintained(failed, all.len());
    }
}

/// Advances tables in turn, a step of each, so that one for which something is always left to do keeps none waiting. Those that have
/// not ended are given to `fail`, with the error if there is one.
fn in_turn<'a>(
    mut open: Vec<&'a Entry>,
    manner: Manner,
    end: StepEnd,
    mut fail: impl FnMut(&'a Entry, Option<&Raised>),
) {
    for _ in 0..MOST_STEPS {
        open.retain(|&entry| {
            let (row, table, owner) = entry;
            let answer = transaction::caught(|| row.rules());
            let answer = answer.and_then(|rules| advance(*table, *owner, &rules, manner));
            end.commit();
            answer.unwrap_or_else(|raised| {
                fail(entry, Some(&raised));
                false
            })
        });
    }
    for entry in open {
        fail(entry, None);
    }
}

/// Returns why a table has not ended.
fn why(raised: Option<&Raised>) -> String {
    let more = || format!("it has more to do after {MOST_STEPS} steps");
    raised.map_or_else(more, |raised| transaction::message(raised))
}

fn skip(row: &Registered, detail: String) {
    let message = format!("registered table {} is skipped", row.name());
    warn(
        message,
        detail,
        Some("Use mint.partition_unregister(), or register it again."),
    );
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
    rules.old(&parent);
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
