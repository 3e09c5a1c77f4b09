//! Rows of a default partition, moved to the partition where they belong.
//!
//! A row is always in one of the two, and seen: a batch is moved and its range attached in one transaction. The first batch makes a
//! partition that ends at its last row; each of the next ones detaches that partition, fills it, and attaches it with a
//! later end, until it is as long as it was to be.

use crate::adopt::catalog::home::Home;
use crate::adopt::partition::bounds::Missing;
use crate::adopt::partition::error;
use crate::adopt::partition::names::{Names, joined};
use crate::adopt::partition::parent::{Named, Parent, Partition};
use crate::adopt::partition::statements::{attach, create_alone, detach};
use crate::pg::catalog::access::Owned;
use crate::pg::catalog::foreign::{self, Held};
use crate::pg::catalog::spi::Sees;
use crate::pg::catalog::{binding, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::impossible;
use mint_core::adopt::keys::{Key, Keys};
use pgrx::pg_sys;
use std::iter;

/// The most rows of a batch: they take about a tenth of a second.
const BATCH: u32 = 10_000;

/// Returns the partition that an earlier batch has begun, if a missing range is what is left of it.
pub fn grown<'a>(parent: &'a Parent, part: &Missing) -> Option<&'a Partition> {
    parent.default.as_ref()?;
    let (from, suffix) = &part.interval;
    let name = sql::quoted_exactly(&joined(&parent.relname, suffix));
    let name = format!("{}.{name}", parent.schema);
    parent.partitions.iter().find(|other| {
        let is_begun = other.range.from == *from && other.range.until == Some(part.from);
        is_begun && other.name == name && !other.is_foreign && !other.is_detaching
    })
}

/// Moves a batch of rows to a missing partition, or to one that was begun. Returns its name, and how many rows.
pub fn move_some(
    own: &Owned,
    parent: &Parent,
    part: &Missing,
    begun: Option<&Partition>,
    millis: i32,
) -> (String, i64) {
    let Some(default) = &parent.default else {
        binding::refuse();
    };
    // First while clients write, which do not wait for a refusal.
    refuse_unmovable(parent, default, begun);
    // The table first, as readers do. One that had looked up its partitions before would not see the rows in the new one.
    let lock = |what: &str| format!("LOCK TABLE {what} IN ACCESS EXCLUSIVE MODE");
    let mut locks = vec![lock(&format!("ONLY {}", parent.name)), lock(&default.name)];
    locks.extend(begun.map(|part| lock(&part.name)));
    own.run_within(millis, locks.iter().map(String::as_str));
    refuse_unmovable(parent, default, begun);
    refuse_types(parent, own.owner());
    let rows = Rows::of(own, parent, default, part, millis);
    let until = rows.end_of_batch();
    let (name, from) = match begun {
        Some(begun) => (begun.name.clone(), begun.range.from.unwrap_or(part.from)),
        None => {
            let mut names = Names::of(parent.namespace, Sees::Commits);
            let name = names.next(&parent.relname, &part.suffix);
            (format!("{}.{name}", parent.schema), part.from)
        }
    };
    let first = match begun {
        Some(_) => detach(parent, &name, ""),
        None => create_alone(parent, &name),
    };
    own.run_within(millis, iter::once(first.as_str()));
    let columns = parent.columns.join(", ");
    let moves = format!(
        "WITH moved AS (DELETE FROM {} WHERE {} RETURNING {columns}),
         stored AS (INSERT INTO {name} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM moved RETURNING 1)
         SELECT n FROM (SELECT count(*) AS n FROM stored) AS s WHERE n = (SELECT count(*) FROM moved)",
        default.name,
        rows.below(until),
    );
    let rows = own.value_within::<i64>(millis, &moves);
    let rows = rows.unwrap_or_else(|| impossible("partition that does not keep its rows"));
    let attach = attach(parent, &name, from, until);
    own.run_within(millis, iter::once(attach.as_str()));
    if !parent.has(&name) {
        binding::refuse();
    }
    (name, rows)
}

/// The rows of a default partition from the lower end of a missing range on.
struct Rows<'a> {
    own: &'a Owned,
    keys: &'a Keys,
    default: &'a Named,
    part: &'a Missing,
    /// The key, cast to the type itself: a user can make operators of a domain over it.
    column: String,
    /// The operators of keys that are at least another one, and below it.
    least: String,
    less: String,
    its_type: String,
    millis: i32,
}

impl<'a> Rows<'a> {
    fn of(
        own: &'a Owned,
        parent: &'a Parent,
        default: &'a Named,
        part: &'a Missing,
        millis: i32,
    ) -> Self {
        let [least, less, its_type] = words(&parent.keys);
        Self {
            own,
            keys: &parent.keys,
            default,
            part,
            column: format!("{}::{its_type}", sql::quoted_exactly(&parent.key)),
            least,
            less,
            its_type,
            millis,
        }
    }

    fn literal(&self, key: Key) -> String {
        format!("'{}'::{}", self.keys.text(key), self.its_type)
    }

    /// Returns the condition that a row is below the end of a range.
    fn below(&self, until: Option<Key>) -> String {
        let Self {
            column,
            least,
            less,
            ..
        } = self;
        let from = format!("{column} {least} {}", self.literal(self.part.from));
        match until {
            None => from,
            Some(until) => format!("{from} AND {column} {less} {}", self.literal(until)),
        }
    }

    /// Returns the key at which a batch ends: of the first row that is not in it.
    fn end_of_batch(&self) -> Option<Key> {
        let (column, name, rows) = (
            &self.column,
            &self.default.name,
            self.below(self.part.until),
        );
        let query = format!(
            "SELECT {column}::text FROM {name} WHERE {rows} ORDER BY {column} OFFSET {BATCH} LIMIT 1"
        );
        let found = self.own.value_within::<DecodedText>(self.millis, &query);
        let until = match found {
            None => self.part.until,
            Some(text) => self.keys.parse(&text.0),
        };
        if until == Some(self.part.from) {
            let first = self.literal(self.part.from);
            let reason = format!("More than {BATCH} rows have the key {first}.");
            error::cannot_move(&self.default.name, reason);
        }
        until
    }
}

/// Raises an error if rows cannot leave the default partition, or enter one that was begun, without an effect that is not asked
/// for.
fn refuse_unmovable(parent: &Parent, default: &Named, begun: Option<&Partition>) {
    let query = include_str!("../../../sql/adopt/partition_default.sql");
    let begun = begun.map_or(pg_sys::InvalidOid, |part| part.oid);
    let arguments = [parent.oid.into(), default.oid.into(), begun.into()];
    let reasons = sql::rows_now(query, &arguments, |row| row.get::<DecodedText>(1));
    if let Some(reason) = reasons.into_iter().next() {
        error::cannot_move(&default.name, reason.0);
    }
}

/// Raises an error for a column of a type of another role, which checks, indexes and generated columns of new rows evaluate.
fn refuse_types(parent: &Parent, owner: pg_sys::Oid) {
    let query = "SELECT jsonb_agg(DISTINCT atttypid::int8) FROM pg_attribute
        WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped";
    let types: Option<Vec<u32>> = sql::read_now(query, &[parent.oid.into()]);
    let types = types.into_iter().flatten().map(Into::into).collect();
    if let Err(of) = foreign::refuse(&foreign::types(types), Held::ByOid, owner) {
        foreign::raise(&format!("table {}", parent.name), of);
    }
}

/// Returns the operators of keys that are at least another one, and below it, and their type.
fn words(keys: &Keys) -> [String; 3] {
    let builtin = |name: &str| [">=", "<", name].map(str::to_owned);
    match keys {
        Keys::Snowflake(_) => builtin("int8"),
        Keys::UuidV7 => builtin("uuid"),
        Keys::ObjectId => {
            let schema = Home::find().schema;
            [
                format!("OPERATOR({schema}.>=)"),
                format!("OPERATOR({schema}.<)"),
                format!("{schema}.objectid"),
            ]
        }
    }
}
