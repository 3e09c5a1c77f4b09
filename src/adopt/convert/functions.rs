//! Conversions in SQL.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::generator::NewDefault;
use crate::adopt::convert::online::closure::Closure;
use crate::adopt::convert::online::{script, texts};
use crate::adopt::convert::plan::PlanRow;
use crate::adopt::convert::run::Patience;
use crate::adopt::convert::table::TargetTable;
use crate::adopt::convert::{checks, plan, record, revert, run};
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{inform, report, required, warn};
use mint_core::adopt::rename::portable;
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::Interval;
use pgrx::prelude::*;

/// Shows every statement that makes a generator the default of a column, in order, with its lock and what it takes. Rows of
/// the phase `check` say something: blockers, which raise their errors, come first, and where there is one there is nothing else.
///
/// A column of type bigint or uuid is converted by one call of [`convert`]. For one of type integer the statements are a script
/// for psql's `\gexec`, which makes it a bigint while it is in use; after a failure or a break, the plan is what is left. With a
/// new default of NULL it is the way back, until the cleanup. Nothing is changed.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn convert_plan(
    table_name: Option<Regclass>,
    column_name: Option<DecodedText>,
    new_default: Option<DecodedText>,
) -> TableIterator<
    'static,
    (
        name!(step, i32),
        name!(phase, &'static str),
        name!(command, Option<DecodedText>),
        name!(object, Option<DecodedText>),
        name!(lock, Option<DecodedText>),
        name!(rewrites, bool),
        name!(bytes, i64),
        name!(estimate, Option<Interval>),
        name!(note, Option<DecodedText>),
    ),
> {
    let rows = texts::fixed(|| {
        let table = find(table_name, column_name);
        plan_of(&table, new_default.map(|text| text.0).as_deref())
    });
    TableIterator::new((1..).zip(rows).map(|(number, row)| {
        (
            number,
            row.phase,
            row.command.map(|text| DecodedText(portable(&text))),
            row.object.map(DecodedText),
            row.lock.map(DecodedText),
            row.rewrites,
            row.bytes,
            span(row.estimate),
            row.note.map(DecodedText),
        )
    }))
}

/// Plans a conversion, or without a new default the way back. For a script one id is minted, and lost: its last step would fail long after the first one.
fn plan_of(table: &TargetTable, new_default: Option<&str>) -> Vec<PlanRow> {
    let closure = Closure::of(table);
    match new_default {
        None if closure.is_needed() => script::back(table, &closure),
        None => plan::revert(table),
        Some(text) => {
            if let Some(blocker) = checks::of_type(table) {
                return plan::blocked(&[blocker]);
            }
            let generator = NewDefault::parse(text, table);
            if closure.is_needed() {
                script::there(table, &closure, &generator)
            } else {
                plan::convert(table, &generator)
            }
        }
    }
}

fn span(micros: i64) -> Option<Interval> {
    Interval::new(0, 0, micros).ok()
}

/// Makes a generator the default of a column of type bigint or uuid, in place of a sequence, an identity or another default.
/// Returns the statement that reverts it; nothing if the column is converted already.
///
/// - **Locks**: the table, all below and the sequence, for milliseconds. An attempt waits for autovacuum, then for each
///   no longer than `lock_timeout`, and is then undone and repeated, with a pause in between; after all `retries`, 55P03.
/// - **Ids**: the largest of the table is below all new ones, as read under the lock; else 55000.
/// - **The sequence** stays, at its end: nextval() of it is an error. Its comment is the record for [`convert_revert`].
/// - **Transaction block**: allowed, at READ COMMITTED; the locks last until its end.
/// - **Standby**: refused during recovery (25006).
#[pg_extern(sql = false)]
fn convert(
    table_name: Option<Regclass>,
    column_name: Option<DecodedText>,
    new_default: Option<DecodedText>,
    lock_timeout: Option<Interval>,
    retries: Option<i32>,
) -> Option<DecodedText> {
    run::refuse_unless_possible();
    let patience = patience(lock_timeout, retries);
    // As in the plan: the statement that is returned has the default of before as the server prints it.
    let way_back = texts::fixed(|| {
        let table = find(table_name, column_name);
        let new_default = required(new_default, "new_default").0;
        run::refuse_blocked(&table);
        run::refuse(before_cleanup(&table));
        let generator = NewDefault::parse(&new_default, &table);
        let way_back = run::convert(&table, &generator, patience);
        if way_back.is_none() {
            inform(format!(
                "{} has this default already, skipping",
                table.what()
            ));
        }
        way_back
    });
    way_back.map(|text| DecodedText(portable(&text)))
}

/// Returns what prevents the last step of a script before the end of its cleanup: a check of a way back that was begun would refuse
/// new ids, and a program that continues after errors comes here without a cleanup.
fn before_cleanup(table: &TargetTable) -> Option<Blocker> {
    Closure::of(table).is_swapped().then(|| {
        Blocker::state(
            format!("cleanup of the conversion of {} is left", table.what()),
            "The columns of before cannot hold new ids.",
            "Run the statements of the phase cleanup that mint.convert_plan() prints.",
        )
    })
}

/// Puts back the sequence or identity that a column drew from before its conversion, with its last value, options,
/// privileges and comment. Ids minted since stay in the table. Returns whether the column was converted.
///
/// - **Locks**, **transaction block**, **standby**: as for [`convert`].
/// - **The record** is trusted if the table's owner owns the sequence, and all is done with that owner's rights.
#[pg_extern(sql = false)]
fn convert_revert(
    table_name: Option<Regclass>,
    column_name: Option<DecodedText>,
    lock_timeout: Option<Interval>,
    retries: Option<i32>,
) -> bool {
    run::refuse_unless_possible();
    let patience = patience(lock_timeout, retries);
    let (table, was_converted) = texts::fixed(|| {
        let table = find(table_name, column_name);
        let was_converted = revert::revert(&table, patience);
        (table, was_converted)
    });
    if !was_converted {
        inform(format!("{} is not converted, skipping", table.what()));
    } else if table.fixed_by.as_deref() == Some("key") {
        let message = format!(
            "new rows of table {} will not be in partitions of their time",
            table.quoted()
        );
        let detail =
            "The table is partitioned by this column, and the values of a counter contain no time.";
        let hint = "Do not drop partitions by their age. If the table is registered, use mint.partition_unregister().";
        warn(message, detail.to_owned(), Some(hint));
    }
    was_converted
}

/// Returns the conversions that can be reverted, from the comments of the sequences of before.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn conversions() -> TableIterator<
    'static,
    (
        name!(table_name, Regclass),
        name!(column_name, DecodedText),
        name!(sequence, Regclass),
        name!(kind, &'static str),
        name!(last_value, i64),
        name!(is_called, bool),
    ),
> {
    let rows = record::all().into_iter().filter_map(|found| {
        let table = record::table_of(&found)?;
        Some((
            Regclass(table),
            DecodedText(found.record.column),
            Regclass(found.rules.oid.into()),
            found.record.kind.text(),
            found.record.last_value,
            found.record.is_called,
        ))
    });
    TableIterator::new(rows.collect::<Vec<_>>())
}

fn find(table_name: Option<Regclass>, column_name: Option<DecodedText>) -> TargetTable {
    let table = required(table_name, "table_name");
    TargetTable::find(table.0, &required(column_name, "column_name").0)
}

fn patience(lock_timeout: Option<Interval>, retries: Option<i32>) -> Patience {
    let refuse =
        |message: &str| -> ! { report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message).raise() };
    let micros = required(lock_timeout, "lock_timeout").as_micros();
    let lock_timeout = i32::try_from(micros / 1_000).unwrap_or(-1);
    if micros < 0 || lock_timeout < 0 {
        refuse("lock_timeout must be between 0 and 24 days");
    }
    if micros > 0 && lock_timeout == 0 {
        refuse("lock_timeout must be at least 1 ms, or 0 to wait without a limit");
    }
    let retries = required(retries, "retries");
    if !(0..=1000).contains(&retries) {
        refuse("retries must be between 0 and 1000");
    }
    Patience {
        lock_timeout,
        retries,
    }
}
