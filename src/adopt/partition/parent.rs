//! A partitioned table, its key and its partitions, as the catalogs have them.

use crate::adopt::catalog::casts;
use crate::adopt::catalog::column::IdColumn;
use crate::adopt::catalog::default::IdKind;
use crate::adopt::catalog::ends;
use crate::adopt::catalog::home::Home;
use crate::adopt::partition::error;
use crate::pg::catalog::access::Owned;
use crate::pg::catalog::foreign::{self, Held};
use crate::pg::catalog::spi::Sees;
use crate::pg::catalog::{relation, sql};
use crate::pg::citus;
use crate::pg::datum::json::{self, JsonText, list};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::OrReport;
use mint_core::Layout;
use mint_core::adopt::keys::{Key, Keys};
use mint_core::adopt::partition::Range;
use pgrx::pg_sys;
use serde::Deserialize;
use std::iter;

/// A table that is partitioned by range of one column of ids.
pub struct Parent {
    pub oid: pg_sys::Oid,
    /// The quoted name with its schema.
    pub name: String,
    /// The schema, quoted.
    pub schema: String,
    /// The oid of the schema.
    pub namespace: pg_sys::Oid,
    /// The name itself.
    pub relname: String,
    /// The ids of the column.
    pub keys: Keys,
    /// What a new table takes from it besides its columns, as `USING heap TABLESPACE fast`.
    pub storage: String,
    /// Citus has distributed it.
    pub is_distributed: bool,
    /// The partitions, without the default one.
    pub partitions: Vec<Partition>,
    /// The default partition.
    pub default: Option<Named>,
    /// The name of the key.
    pub key: String,
    /// New rows get their ids from a counter, which contain no time.
    pub is_counted: bool,
    /// A counter could, as nothing says what generates them.
    pub is_unclear: bool,
    /// The columns that are not generated, quoted.
    pub columns: Vec<String>,
    /// How many foreign keys it has, and refer to it.
    pub foreign_keys: i32,
}

/// A table by its quoted name with its schema.
#[derive(Debug, Clone)]
pub struct Named {
    pub oid: pg_sys::Oid,
    pub name: String,
}

/// A partition.
pub struct Partition {
    pub oid: pg_sys::Oid,
    /// The quoted name with its schema.
    pub name: String,
    /// Its keys.
    pub range: Range<Key>,
    /// It is a foreign table.
    pub is_foreign: bool,
    /// Another session began to detach it concurrently.
    pub is_detaching: bool,
}

/// What the catalogs say of a table.
#[derive(Deserialize)]
struct Partitioned {
    /// `relkind`, `relpersistence` and `partstrat`.
    kind: String,
    persistence: String,
    strategy: Option<String>,
    /// How many the key has.
    columns: Option<i32>,
    /// The first of them; none if it is an expression.
    column: Option<String>,
    schema: String,
    namespace: pg_sys::Oid,
    name: String,
    storage: String,
    #[serde(deserialize_with = "list")]
    row: Vec<String>,
    foreign_keys: i32,
    #[serde(deserialize_with = "list")]
    partitions: Vec<AttachedTable>,
}

/// A partition, with the text of its bound.
#[derive(Deserialize)]
struct AttachedTable {
    oid: pg_sys::Oid,
    name: String,
    /// None of a child that is not a partition.
    bound: Option<String>,
    is_foreign: bool,
    is_detaching: bool,
}

impl Parent {
    /// Reads a partitioned table. The layout of a bigint is the given one, or that of its default.
    pub fn find(table: pg_sys::Oid, layout: Option<Layout>, sees: Sees) -> Self {
        let query = include_str!("../../../sql/adopt/partitioned.sql");
        let found = sql::rows_seen(sees, query, &[table.into()], |row| {
            Some(json::read::<Partitioned>(&row.get::<JsonText>(1)?.0))
        });
        let found = found.into_iter().next();
        let found = found.unwrap_or_else(|| sql::missing(table));
        // The query sees what the statement sees, also of a table that was dropped meanwhile.
        let name = sql::exact_name_of(table);
        let (keys, column) = found.keys(table, layout);
        refuse_foreign_key(table, column.type_oid);
        let is_snowflake = matches!(keys, Keys::Snowflake(_));
        let mut partitions = found.partitions;
        let default = partitions
            .iter()
            .position(|part| part.bound.as_deref() == Some("DEFAULT"));
        let default = default.map(|place| partitions.swap_remove(place));
        Self {
            oid: table,
            name,
            schema: sql::quoted_exactly(&found.schema),
            namespace: found.namespace,
            relname: found.name,
            storage: found.storage,
            is_distributed: citus::distributed_tables().contains(&table.to_u32()),
            default: default.map(|part| Named {
                oid: part.oid,
                name: part.name,
            }),
            key: found.column.unwrap_or_default(),
            is_counted: is_snowflake && column.is_counted(),
            is_unclear: column.is_unclear(),
            columns: found.row,
            foreign_keys: found.foreign_keys,
            partitions: partitions
                .into_iter()
                .filter_map(|part| part.with_range(&keys))
                .collect(),
            keys,
        }
    }
}

/// Raises an error if the key is of a type of another role: the server casts each bound to it.
fn refuse_foreign_key(table: pg_sys::Oid, key_type: pg_sys::Oid) {
    let owner = relation::owner(table).unwrap_or_else(|| sql::missing(table));
    if let Err(of) = foreign::refuse(&foreign::types(vec![key_type]), Held::ByName, owner) {
        let what = format!("partition key of table \"{}\"", sql::name_of(table));
        foreign::raise(&what, of);
    }
}

impl Parent {
    /// Returns the query that tells whether a partition has ids that can be values of a counter, and so rows of any time; none if
    /// it cannot have such. Ids of a generator beside them prove nothing: they can be imported.
    pub fn counted_query(&self, part: &Partition) -> Option<String> {
        let is_snowflake = matches!(self.keys, Keys::Snowflake(_));
        let certain = self.keys.first_certain().filter(|_| is_snowflake)?;
        let can_have = part.range.from.is_none_or(|from| from < certain);
        // Of a generator, they can be of a counter of before. The rows of a foreign table stay where they are.
        let is_of_interest = self.is_unclear || !part.is_foreign;
        (can_have && is_of_interest).then(|| {
            let (column, certain) = (sql::quoted_exactly(&self.key), self.keys.text(certain));
            let name = &part.name;
            format!("SELECT EXISTS (SELECT FROM {name} WHERE {column} < {certain}::int8)")
        })
    }

    /// Returns the oids of the table, of partitions, and of all below these.
    fn with(&self, partitions: &[pg_sys::Oid]) -> Vec<pg_sys::Oid> {
        let query = "WITH RECURSIVE tree AS (
                SELECT unnest($1::oid[]) AS oid
                UNION SELECT i.inhrelid FROM tree AS t JOIN pg_inherits AS i ON i.inhparent = t.oid
            )
            SELECT jsonb_agg(c.oid::int8) FROM tree AS t JOIN pg_class AS c ON c.oid = t.oid";
        let tree: Option<Vec<u32>> = sql::read_now(query, &[partitions.to_vec().into()]);
        let tree = tree.into_iter().flatten().map(Into::into);
        iter::once(self.oid).chain(tree).collect()
    }

    /// Locks the table, partitions, and what foreign keys connect with these of other roles. Returns false if they connect nothing.
    pub fn lock_connected(&self, own: &Owned, partitions: &[pg_sys::Oid], millis: i32) -> bool {
        self.foreign_keys > 0 && ends::lock(own, self.oid, &self.with(partitions), millis)
    }

    /// Raises an error if attaching partitions, or detaching one, would plan, as the owner of the table, what another role has
    /// written.
    pub fn refuse_connected(
        &self,
        own: &Owned,
        partitions: &[pg_sys::Oid],
        detaches: bool,
        millis: i32,
    ) {
        ends::refuse_connected(own, self.oid, &self.with(partitions), detaches, millis);
    }

    /// Raises an error if a query of the table and of partitions would plan, as the owner of the table, what another role
    /// has written.
    pub fn refuse_foreign(&self, partitions: &[pg_sys::Oid]) {
        let tables = self.with(partitions);
        let owner = relation::owner(self.oid).unwrap_or_else(|| sql::missing(self.oid));
        if let Some(&other) = tables
            .iter()
            .find(|&&of| relation::owner(of) != Some(owner))
        {
            error::other_owner(&sql::name_of(other), &sql::name_of(self.oid));
        }
        if let Some((object, of)) = casts::foreign(&tables, owner).into_iter().next() {
            foreign::raise(&object, of);
        }
        ends::refuse_keys(owner, self.oid);
    }

    /// Raises an error if DROP TABLE of a partition would drop a table that is being detached from it: queries of the partition
    /// do not see its rows.
    pub fn refuse_detaching(&self, part: &Partition) {
        let query = "SELECT to_jsonb(min(inhrelid::int8)) FROM pg_inherits
            WHERE inhdetachpending AND inhparent = ANY ($1::oid[]) AND inhparent <> $2::oid";
        let arguments = [self.with(&[part.oid]).into(), self.oid.into()];
        if let Some(detaching) = sql::read_now::<u32>(query, &arguments) {
            error::detaching(&sql::name_of(detaching.into()), &part.name);
        }
    }

    /// Returns whether it has a partition of that name now.
    pub fn has(&self, name: &str) -> bool {
        let query = "SELECT EXISTS (
            SELECT FROM pg_inherits AS i
            JOIN pg_class AS c ON c.oid = i.inhrelid
            JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE i.inhparent = $1::oid AND format('%I.%I', n.nspname, c.relname) = $2::text
        )";
        let name = DecodedText(name.to_owned());
        sql::ask_with(query, &[self.oid.into(), name.into()]) == Some(true)
    }
}

impl Partitioned {
    /// Returns the ids of the partition key, and its column. Raises the error of a table that has none.
    fn keys(&self, table: pg_sys::Oid, layout: Option<Layout>) -> (Keys, IdColumn) {
        let name = &sql::name_of(table);
        if self.kind != "p" {
            error::not_partitioned(name);
        }
        if self.persistence == "t" {
            error::temporary(name);
        }
        let strategy = match self.strategy.as_deref() {
            Some("r") => "range",
            Some("l") => "list",
            _ => "hash",
        };
        if strategy != "range" {
            let detail = format!("The table is partitioned by {strategy}.");
            let message = format!("table \"{name}\" is not partitioned by range");
            error::other_key(message, detail);
        }
        let columns = self.columns.unwrap_or(0);
        if columns != 1 {
            let detail = format!("The partition key has {columns} columns.");
            let message = format!("table \"{name}\" is not partitioned by one column");
            error::other_key(message, detail);
        }
        let column = self.column.as_deref();
        let Some(column) = column.and_then(|column| IdColumn::find(table, column)) else {
            let detail = "The partition key is an expression.".to_owned();
            let message = format!("table \"{name}\" is not partitioned by a column");
            error::other_key(message, detail);
        };
        let generated = column.generated();
        let keys = match column.base_type {
            pg_sys::INT8OID => {
                let its = generated.and_then(|generated| generated.layout);
                let layout = match (layout, its) {
                    (Some(given), Some(its)) if !have_equal_times(&given, &its) => {
                        error::other_layout(name, &column.name, &given, &its)
                    }
                    (Some(layout), _) | (None, Some(layout)) => layout,
                    (None, None) => {
                        let default = column.default.as_ref();
                        let default = default.map(|default| default.text.as_str());
                        error::unknown_layout(name, &column.name, default)
                    }
                };
                // The error of a layout whose ids do not sort by time.
                layout.min_id(0).or_report();
                return (Keys::Snowflake(layout), column);
            }
            pg_sys::UUIDOID => Keys::UuidV7,
            other if other == Home::find().objectid => Keys::ObjectId,
            _ => error::not_ids(name, &column.name, column.type_oid),
        };
        if layout.is_some() {
            error::no_layout(&column.name, column.type_oid);
        }
        if let Some(IdKind::Uuid(version)) = generated.map(|generated| generated.kind)
            && version != 7
        {
            error::not_in_time(name, &column.name, version);
        }
        (keys, column)
    }
}

/// Returns whether ids of two layouts have the same times.
fn have_equal_times(one: &Layout, other: &Layout) -> bool {
    let times = |layout: &Layout| (layout.epoch(), layout.unit(), layout.time.shift);
    times(one) == times(other)
}

impl AttachedTable {
    /// Reads the range; none of the default partition, which has none.
    fn with_range(self, keys: &Keys) -> Option<Partition> {
        let bound = self.bound?;
        let (from, until) = bound
            .strip_prefix("FOR VALUES FROM (")?
            .split_once(") TO (")?;
        Some(Partition {
            range: Range {
                from: bound_of(from, keys),
                until: bound_of(until.strip_suffix(')')?, keys),
            },
            oid: self.oid,
            name: self.name,
            is_foreign: self.is_foreign,
            is_detaching: self.is_detaching,
        })
    }
}

/// Reads the bound of a partition; none for MINVALUE and MAXVALUE.
fn bound_of(text: &str, keys: &Keys) -> Option<Key> {
    keys.parse(text.trim_matches('\''))
}
