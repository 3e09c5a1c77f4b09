//! The plans as SQL functions. They read the catalogs and change nothing.

use crate::adopt::partition::bounds::missing;
use crate::adopt::partition::names::Names;
use crate::adopt::partition::parent::{Parent, Partition};
use crate::adopt::partition::zone::Zone;
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{timestamp, to_micros};
use crate::pg::error::{OrReport, report, required};
use crate::pg::machine::clock;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use crate::snowflake::settings;
use mint_core::Micros;
use mint_core::adopt::keys::Key;
use mint_core::adopt::partition::{MOST, Step};
use pgrx::PgSqlErrorCode as Code;
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
    let ahead = required(ahead, "ahead");
    if !(1..=MOST).contains(&ahead) {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("ahead must be between 1 and {MOST}"),
        )
        .detail(format!("The value is {ahead}."))
        .hint("It is the number of partitions after the current one.")
        .raise();
    }
    let zone = Zone(required(zone, "zone").0);
    let now = clock::now().saturating_add(settings::policy().max_ahead);
    let since = since.map_or_else(clock::now, to_micros);
    let parent = Parent::find(table, layout.map(|layout| *layout.layout()));
    let found = missing(&parent, step, &zone, (since, now.max(since)), ahead);
    let mut names = Names::of(parent.namespace);
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

/// Returns the statements that make a partition. CREATE TABLE ... PARTITION OF would lock the parent against everything.
fn create(parent: &Parent, name: &str, from: Key, until: Option<Key>) -> String {
    let Parent {
        name: table,
        storage,
        keys,
        ..
    } = parent;
    let bound = |key| format!("'{}'", keys.text(key));
    let (from, until) = (
        bound(from),
        until.map_or_else(|| "MAXVALUE".to_owned(), bound),
    );
    // Citus takes one statement at a time, and distributes what is made so.
    if parent.is_distributed {
        return format!(
            "CREATE TABLE {name} PARTITION OF {table} FOR VALUES FROM ({from}) TO ({until});"
        );
    }
    format!(
        "CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED \
         INCLUDING STORAGE INCLUDING COMPRESSION){storage};\n\
         ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({from}) TO ({until});"
    )
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
    let keep = required(keep, "keep");
    let parts = [i64::from(keep.months()), keep.days().into(), keep.micros()];
    if parts.iter().any(|&part| part < 0) || parts == [0; 3] {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "interval to keep must be greater than zero",
        )
        .hint("Use an interval such as '12 months' or '90 days'.")
        .raise();
    }
    let zone = Zone(required(zone, "zone").0);
    let concurrently = required(concurrently, "concurrently");
    let parent = Parent::find(table, layout.map(|layout| *layout.layout()));
    let cutoff = zone.before_now(keep).unwrap_or(Micros::MIN);
    let rows = old(&parent, cutoff).into_iter().flat_map(|part| {
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

/// Returns the partitions whose ids are all of a time before `cutoff`, the oldest first.
fn old(parent: &Parent, cutoff: Micros) -> Vec<&Partition> {
    let first = parent.keys.first(cutoff).or_report();
    // Ids below it can be of a counter, of any time.
    let certain = parent.keys.first_certain();
    let is_old = |part: &&Partition| {
        let is_before = |key: Key| first.is_none_or(|first| key <= first) && Some(key) >= certain;
        part.range.until.is_some_and(is_before)
    };
    let mut found: Vec<&Partition> = parent.partitions.iter().filter(is_old).collect();
    found.sort_by_key(|part| part.range.from);
    found
}

fn remove(parent: &Parent, part: &Partition, concurrently: bool) -> [String; 2] {
    let how = match (part.is_detaching, concurrently) {
        (true, _) => " FINALIZE",
        (false, true) => " CONCURRENTLY",
        (false, false) => "",
    };
    let kind = if part.is_foreign {
        "FOREIGN TABLE"
    } else {
        "TABLE"
    };
    [
        format!(
            "ALTER TABLE {} DETACH PARTITION {}{how};",
            parent.name, part.name
        ),
        format!("DROP {kind} {};", part.name),
    ]
}

fn row(name: String, (since, until): (Option<Micros>, Option<Micros>), command: String) -> Row {
    (
        DecodedText(name),
        since.and_then(timestamp),
        until.and_then(timestamp),
        DecodedText(command),
    )
}
