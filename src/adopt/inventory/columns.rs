//! The columns that can be of ids, and what the catalogs say of them.

use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;
use std::collections::HashMap;

/// A column by its table and its number.
pub type Place = (pg_sys::Oid, i16);

/// A column of a table that is no partition.
pub struct Column {
    pub place: Place,
    pub name: String,
    /// The name of its type.
    pub type_name: String,
    /// The type, or the type at the bottom of its domains.
    pub base_type: pg_sys::Oid,
    /// `a` or `d` of an identity column.
    pub identity: Option<u8>,
    pub default: Option<String>,
    pub is_key: bool,
}

/// Types, and what a domain is of at the bottom.
pub const BASE: &str = "base AS (
        SELECT t.oid, t.oid AS base FROM pg_type AS t
        WHERE t.typtype <> 'd'
        UNION ALL
        SELECT t.oid, b.base FROM base AS b JOIN pg_type AS t ON t.typbasetype = b.oid
            AND t.typtype = 'd'
    )";

/// The longest default that is read, in bytes of its tree: that of a generator has some hundred. The owner of a table can
/// write one of 1 GB.
pub const LONGEST_DEFAULT: i32 = 32_768;

/// Columns that are keys or have a default, and all columns of tables that others refer to, of the types that ids have.
const COLUMNS: &str =
    "SELECT c.oid, a.attnum, a.attname::text, format_type(a.atttypid, a.atttypmod),
        b.base, a.attidentity, CASE WHEN octet_length(d.adbin::text) <= $3::int4
            THEN pg_get_expr(d.adbin, 0) END, k.oid IS NOT NULL
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = c.oid
    JOIN base AS b ON b.oid = a.atttypid
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid
        AND d.adnum = a.attnum
    LEFT JOIN pg_constraint AS k ON k.conrelid = c.oid
        AND k.contype = 'p'
        AND a.attnum = ANY (k.conkey)
    WHERE c.relkind IN ('r', 'p')
        AND NOT c.relispartition
        AND c.relpersistence <> 't'
        AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
        AND a.attnum > 0
        AND NOT a.attisdropped
        AND a.attgenerated = ''
        AND b.base = ANY ($1::oid[])
        AND (d.oid IS NOT NULL OR k.oid IS NOT NULL OR a.attidentity <> ''
            OR c.oid = ANY ($2::oid[]))
        AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.objid = c.oid
            AND e.classid = c.tableoid AND e.deptype = 'e')
    ORDER BY n.nspname, c.relname, a.attnum";

/// Reads the columns of the whole database, in the order of their names.
pub fn columns(types: Vec<pg_sys::Oid>, references: &References) -> Vec<Column> {
    let referred: Vec<pg_sys::Oid> = references.to.keys().map(|place| place.0).collect();
    sql::rows(
        &format!("WITH RECURSIVE {BASE} {COLUMNS}"),
        &[types.into(), referred.into(), LONGEST_DEFAULT.into()],
        |row| {
            let text = |column| row.get::<DecodedText>(column).map(|text| text.0);
            let sign = row.get::<i8>(6).unwrap_or(0).cast_unsigned();
            Some(Column {
                place: (row.get(1)?, row.get(2)?),
                name: text(3)?,
                type_name: text(4)?,
                base_type: row.get(5)?,
                identity: Some(sign).filter(|&sign| sign != 0),
                default: text(7),
                is_key: row.get(8).unwrap_or(false),
            })
        },
    )
}

/// Foreign keys between columns.
#[derive(Default)]
pub struct References {
    /// The columns that refer to a column, like `public.item(order_id)`.
    pub to: HashMap<Place, Vec<String>>,
    /// The columns that refer to others.
    pub from: HashMap<Place, ()>,
}

const REFERENCES: &str = "SELECT f.confrelid, one.far, f.conrelid, one.near,
        format('%I.%I(%I)', n.nspname, c.relname, a.attname)
    FROM pg_constraint AS f
    CROSS JOIN LATERAL ROWS FROM (unnest(f.conkey), unnest(f.confkey)) AS one(near, far)
    JOIN pg_class AS c ON c.oid = f.conrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = f.conrelid
        AND a.attnum = one.near
    WHERE f.contype = 'f'
        AND f.conparentid = 0
    ORDER BY n.nspname, c.relname, a.attnum, f.conname";

/// Reads the foreign keys of the whole database.
pub fn references() -> References {
    let mut all = References::default();
    let found: Vec<(Place, Place, DecodedText)> = sql::rows(REFERENCES, &[], |row| {
        Some((
            (row.get(1)?, row.get(2)?),
            (row.get(3)?, row.get(4)?),
            row.get(5)?,
        ))
    });
    for (to, from, DecodedText(name)) in found {
        let names: &mut Vec<String> = all.to.entry(to).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
        all.from.insert(from, ());
    }
    all
}

/// A sequence that a column draws from.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub sequence: pg_sys::Oid,
    /// The sequence belongs to the column: it is a serial or an identity.
    pub is_owned: bool,
    pub max: i64,
    pub increment: i64,
}

const SEQUENCES: &str = "SELECT d.adrelid, d.adnum, q.seqrelid, q.seqmax, q.seqincrement, EXISTS (
            SELECT FROM pg_depend AS o WHERE o.objid = q.seqrelid
                AND o.classid = e.refclassid AND o.refclassid = e.refclassid
                AND o.refobjid = d.adrelid
                AND o.refobjsubid = d.adnum::int4
                AND o.deptype = 'a')
    FROM pg_attrdef AS d
    JOIN pg_depend AS e ON e.classid = d.tableoid
        AND e.objid = d.oid
        AND e.refclassid = 'pg_class'::regclass
    JOIN pg_sequence AS q ON q.seqrelid = e.refobjid
    UNION ALL
    SELECT e.refobjid, e.refobjsubid::int2, q.seqrelid, q.seqmax, q.seqincrement, true
    FROM pg_depend AS e
    JOIN pg_sequence AS q ON q.seqrelid = e.objid
    WHERE e.classid = 'pg_class'::regclass
        AND e.refclassid = e.classid
        AND e.deptype = 'i'";

/// Reads which columns draw from which sequences: by their defaults, or as identities.
pub fn sources() -> HashMap<Place, Source> {
    let found = sql::rows(SEQUENCES, &[], |row| {
        let source = Source {
            sequence: row.get(3)?,
            max: row.get(4)?,
            increment: row.get(5)?,
            is_owned: row.get(6)?,
        };
        Some(((row.get(1)?, row.get(2)?), source))
    });
    found.into_iter().collect()
}
