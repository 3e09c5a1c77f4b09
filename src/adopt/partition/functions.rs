//! The plans as SQL functions. They read the catalogs and change nothing.

use crate::adopt::partition::bounds::{missing, old, refuse_counted};
use crate::adopt::partition::error;
use crate::adopt::partition::names::Names;
use crate::adopt::partition::parent::Parent;
use crate::adopt::partition::rules;
use crate::adopt::partition::statements::{create, remove};
use crate::adopt::partition::zone::Zone;
use crate::pg::catalog::access;
use crate::pg::catalog::spi::Sees;
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{timestamp, to_micros};
use crate::pg::error::{OrReport, required};
use crate::pg::machine::clock;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use crate::snowflake::settings;
use mint_core::Micros;
use mint_core::adopt::partition::Step;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// A row of a plan: a partition's name, its times, and the statements.
type Row = (
    DecodedText,
    Option<TimestampWithTimeZone>,
    Option<TimestampWithTimeZone>,
    DecodedText,
);

/// Returns the statements that create the missing partitions of a table, one row for each: from `since`, or now, up to
/// `ahead` partitions after the current one. Nothing is changed, and nothing is missing twice.
///
/// - **No gap and no overlap**, also with the partitions that are there: their bounds are the first ids at the edges of
///   months, days or hours, which do not depend on when the plan is made.
/// - **Ahead of the clock**: ids can be up to `pg_mint.max_ahead` later than now; the current partition is that of the
///   latest of them.
/// - **Locks**: the table is made, then attached, in one row, which psql's `\gexec` runs as one transaction. Attaching
///   takes SHARE UPDATE EXCLUSIVE on the parent, so reads and writes continue.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn partition_plan(
    parent: Option<Regclass>,
    every: Option<Interval>,
    ahead: Option<i32>,
    layout: Option<SnowflakeLayout>,
    zone: Option<DecodedText>,
    since: Option<TimestampWithTimeZone>,
) -> TableIterator<
    'static,
    (
        name!(name, DecodedText),
        name!(since, Option<TimestampWithTimeZone>),
        name!(until, Option<TimestampWithTimeZone>),
        name!(command, DecodedText),
    ),
> {
    let table = required(parent, "parent").0;
    let every = required(every, "every");
    let step = Step::new(every.months(), every.days(), every.micros()).or_report();
    let ahead = rules::ahead(ahead);
    let zone = Zone(required(zone, "zone").0);
    let now = clock::now().saturating_add(settings::policy().max_ahead);
    let since = since.map_or_else(clock::now, to_micros);
    let parent = Parent::find(
        table,
        layout.map(|layout| *layout.layout()),
        Sees::Statement,
    );
    let found = missing(&parent, step, &zone, (since, now.max(since)), ahead);
    let mut names = Names::of(parent.namespace, Sees::Statement);
    let rows: Vec<Row> = found
        .iter()
        .map(|part| {
            let name = names.next(&parent.relname, &part.suffix);
            let name = format!("{}.{name}", parent.schema);
            let command = create(&parent, &name, part.from, part.until);
            row(name, part.times, command)
        })
        .collect();
    TableIterator::new(rows)
}

/// Returns the statements that drop the partitions of a table whose ids are all older than `keep`, the oldest first.
/// Nothing is changed. With `concurrently`, detaching and dropping are two rows, as the former runs in no transaction block.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn partition_drop_plan(
    parent: Option<Regclass>,
    keep: Option<Interval>,
    layout: Option<SnowflakeLayout>,
    zone: Option<DecodedText>,
    concurrently: Option<bool>,
) -> TableIterator<
    'static,
    (
        name!(name, DecodedText),
        name!(since, Option<TimestampWithTimeZone>),
        name!(until, Option<TimestampWithTimeZone>),
        name!(command, DecodedText),
    ),
> {
    let table = required(parent, "parent").0;
    let keep = rules::positive(required(keep, "keep"));
    let zone = Zone(required(zone, "zone").0);
    let concurrently = required(concurrently, "concurrently");
    let parent = Parent::find(
        table,
        layout.map(|layout| *layout.layout()),
        Sees::Statement,
    );
    let cutoff = zone.before_now(keep).unwrap_or(Micros::MIN);
    let rows = old(&parent, cutoff).into_iter().flat_map(|part| {
        refuse_counted(&parent, part);
        parent.refuse_detaching(part);
        let counted = parent.counted_query(part);
        let own = access::owned(table);
        if counted.is_some() {
            parent.refuse_foreign(&[part.oid]);
        }
        if counted.and_then(|query| own.ask(&[part.oid], |_| query)) == Some(true) {
            error::counted_rows(&part.name);
        }
        let times = (
            part.range.from.and_then(|key| parent.keys.time(key)),
            part.range.until.and_then(|key| parent.keys.time(key)),
        );
        let command = |text: String| row(part.name.clone(), times, text);
        let [detach, drop] = remove(&parent, part, concurrently);
        if concurrently {
            vec![command(detach), command(drop)]
        } else {
            vec![command(format!("{detach}\n{drop}"))]
        }
    });
    TableIterator::new(rows.collect::<Vec<Row>>())
}

fn row(name: String, (since, until): (Option<Micros>, Option<Micros>), command: String) -> Row {
    (
        DecodedText(name),
        since.and_then(timestamp),
        until.and_then(timestamp),
        DecodedText(command),
    )
}
