//! The defaults of this database's columns that generate snowflakes: what the server is there for, as its owners have said. Any
//! role may generate ids of any layout; a default takes the privilege to create a table.

use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
use crate::pg::catalog::expression::stored_call;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::{function, sql};
use crate::pg::datum::text::DecodedText;
use mint_core::Layout;
use pgrx::pg_sys;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A default.
pub struct Default {
    pub layout: Layout,
    /// The shard, where the default says it.
    pub shard: Option<i64>,
    /// Whether it takes the node of the server.
    pub is_of_node: bool,
    /// Whether this server publishes the table and subscribes to it.
    pub is_exchanged: bool,
    pub owner: pg_sys::Oid,
    /// The column and its owner, for a message.
    pub column: String,
    /// The table, and the statement that makes a default without a shard.
    pub table: u32,
    pub alter: String,
}

/// The defaults of a database.
pub struct Defaults {
    /// First those of owners with few, and of tables before those of partitions.
    pub all: Vec<Default>,
    /// What could not be read, for a message.
    pub left_out: Option<String>,
}

/// The longest default that is read, in bytes of its tree: that of a generator has some hundred. The owner of a table can
/// write one of 1 GB.
const LONGEST: i32 = 32_768;

/// The most that is read, in bytes of trees: those of some thousands of generators.
const MOST: i64 = 4 << 20;

/// Those of a role with few are read before those of a role with many, and of tables before those of partitions. The length
/// of a tree is known without reading it, and no expression is planned or printed.
const QUERY: &str = "SELECT d.adbin::text, g.owner, format('column \"%s\" of table %s of role \"%s\"',
            g.attname, g.oid::regclass, pg_get_userbyid(g.owner)), g.found, g.oid,
        format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT', g.oid::regclass, g.attname),
        EXISTS (SELECT FROM pg_subscription_rel AS s WHERE s.srrelid = g.oid)
            AND (EXISTS (SELECT FROM pg_publication AS p WHERE p.puballtables)
                OR EXISTS (SELECT FROM pg_publication_rel AS p WHERE p.prrelid = g.oid)
                OR EXISTS (SELECT FROM pg_publication_namespace AS p WHERE p.pnnspid = g.schema))
    FROM (
    SELECT f.*, sum(f.length) OVER (ORDER BY f.own, f.id) AS length_of_all,
        count(*) OVER () AS found
    FROM (
    SELECT d.oid AS id, c.oid, c.relnamespace AS schema, c.relowner AS owner, a.attname, octet_length(d.adbin::text) AS length,
        sum(octet_length(d.adbin::text)) OVER (
            PARTITION BY c.relowner
            ORDER BY c.relispartition, octet_length(d.adbin::text), d.oid) AS own
    FROM pg_extension AS e
    JOIN pg_proc AS f ON f.pronamespace = e.extnamespace
        AND f.proname IN ('snowflake_next', 'snowflake_next_id', 'snowflake_next_in', 'snowflake_next_own_in')
    JOIN pg_depend AS u ON u.refclassid = f.tableoid
        AND u.refobjid = f.oid
        AND u.classid = 'pg_attrdef'::regclass
    JOIN pg_attrdef AS d ON d.oid = u.objid
        AND octet_length(d.adbin::text) <= $1
    JOIN pg_class AS c ON c.oid = d.adrelid
        AND c.relpersistence <> 't'
    JOIN pg_attribute AS a ON a.attrelid = d.adrelid
        AND a.attnum = d.adnum
    WHERE e.extname = 'pg_mint'
    ) AS f
    ) AS g
    JOIN pg_attrdef AS d ON d.oid = g.id
    WHERE g.length_of_all <= $2
    ORDER BY g.own, g.id";

impl Defaults {
    /// Reads the defaults, unless another transaction has locked one of the catalogs.
    pub fn read() -> Self {
        attempt(|| guc::with(&[(c"lock_timeout", c"1")], Self::select)).unwrap_or_else(|| Self {
            all: Vec::new(),
            left_out: Some(
                "The column defaults were not read: catalogs are locked by another transaction."
                    .to_owned(),
            ),
        })
    }

    fn select() -> Self {
        let rows = sql::rows(QUERY, &[LONGEST.into(), MOST.into()], |row| {
            Some((default_of(row), row.need::<i64>(4)))
        });
        let found = rows.first().map_or(0, |&(_, found)| found);
        let left = found - rows.len() as i64;
        Self {
            all: rows.into_iter().filter_map(|(default, _)| default).collect(),
            left_out: (left > 0).then(|| {
                format!(
                    "{left} of {found} column defaults were not read: together they have more than {} MB.",
                    MOST >> 20
                )
            }),
        }
    }
}

/// Returns a default; none if it is something else than one call of a generator, or computes its layout.
fn default_of(row: &Row<'_>) -> Option<Default> {
    let tree = row.need::<DecodedText>(1).0;
    let (generator, arguments) = stored_call(&tree, |called| {
        function::name(called).filter(|_| function::is_own(called))
    })?;
    let (shard, layout) = match generator.as_str() {
        "snowflake_next" => (None, 0),
        "snowflake_next_id" => (Some(0), 1),
        "snowflake_next_in" => (Some(0), 3),
        "snowflake_next_own_in" => (None, 2),
        _ => return None,
    };
    let layout = arguments
        .get(layout)
        .map_or(Some("instagram"), |passed| passed.constant.as_deref());
    let layout: Layout = layout?.parse().ok()?;
    let passed = shard.and_then(|place: usize| arguments.get(place));
    let shard = passed.and_then(|shard| shard.constant.as_deref());
    let [column, alter] = [3, 6].map(|place| row.need::<DecodedText>(place).0);
    let without_shard = match generator.ends_with("_in") {
        true => format!("snowflake_next_own_in(modulus, remainder, '{layout}')"),
        false => format!("snowflake_next('{layout}')"),
    };
    Some(Default {
        layout,
        shard: shard.and_then(|text| text.parse().ok()),
        is_of_node: passed.is_none(),
        is_exchanged: row.need(7),
        owner: row.need(2),
        column,
        table: row.need::<pg_sys::Oid>(5).to_u32(),
        alter: format!("{alter} {without_shard}"),
    })
}

/// Returns the first default of each owner, and how many more this owner has: so no owner hides the defaults of another.
pub fn by_owner<'a>(defaults: impl Iterator<Item = &'a Default>) -> Vec<(&'a Default, usize)> {
    let mut places: HashMap<pg_sys::Oid, usize> = HashMap::new();
    let mut owners: Vec<(&Default, usize)> = Vec::new();
    for default in defaults {
        match places.entry(default.owner) {
            Entry::Occupied(place) => owners[*place.get()].1 += 1,
            Entry::Vacant(place) => {
                place.insert(owners.len());
                owners.push((default, 0));
            }
        }
    }
    owners
}
