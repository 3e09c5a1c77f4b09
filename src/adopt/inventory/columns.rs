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
        SELECT t.oid, t.oid AS base FROM pg_catalog.pg_type AS t
        WHERE t.typtype OPERATOR(pg_catalog.<>) 'd'::pg_catalog.\"char\"
        UNION ALL
        SELECT t.oid, b.base FROM base AS b JOIN pg_catalog.pg_type AS t ON t.typbasetype OPERATOR(pg_catalog.=) b.oid
            AND t.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog.\"char\"
    )";

/// The longest default that is read, in bytes of its tree: that of a generator has some hundred. The owner of a table can
/// write one of 1 GB.
pub const LONGEST_DEFAULT: i32 = 32_768;

/// Columns that are keys or have a default, and all columns of tables that others refer to, of the types that ids have.
const COLUMNS: &str = "SELECT c.oid, a.attnum, a.attname::pg_catalog.text, pg_catalog.format_type(a.atttypid, a.atttypmod),
        b.base, a.attidentity, CASE WHEN pg_catalog.octet_length(d.adbin::pg_catalog.text) OPERATOR(pg_catalog.<=) $3::pg_catalog.int4
            THEN pg_catalog.pg_get_expr(d.adbin, 0::pg_catalog.oid) END, k.oid IS NOT NULL
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
    JOIN base AS b ON b.oid OPERATOR(pg_catalog.=) a.atttypid
    LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) c.oid
        AND d.adnum OPERATOR(pg_catalog.=) a.attnum
    LEFT JOIN pg_catalog.pg_constraint AS k ON k.conrelid OPERATOR(pg_catalog.=) c.oid
        AND k.contype OPERATOR(pg_catalog.=) 'p'::pg_catalog.\"char\"
        AND a.attnum OPERATOR(pg_catalog.=) ANY (k.conkey)
    WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}'::pg_catalog.\"char\"[])
        AND NOT c.relispartition
        AND c.relpersistence OPERATOR(pg_catalog.<>) 't'::pg_catalog.\"char\"
        AND n.nspname OPERATOR(pg_catalog.<>) ALL ('{pg_catalog,information_schema,pg_toast}'::pg_catalog.name[])
        AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2
        AND NOT a.attisdropped
        AND a.attgenerated OPERATOR(pg_catalog.=) ''::pg_catalog.\"char\"
        AND b.base OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[])
        AND (d.oid IS NOT NULL OR k.oid IS NOT NULL OR a.attidentity OPERATOR(pg_catalog.<>) ''::pg_catalog.\"char\"
            OR c.oid OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.oid[]))
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS e WHERE e.objid OPERATOR(pg_catalog.=) c.oid
            AND e.classid OPERATOR(pg_catalog.=) c.tableoid AND e.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog.\"char\")
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
        pg_catalog.format('%I.%I(%I)'::pg_catalog.text, n.nspname, c.relname, a.attname)
    FROM pg_catalog.pg_constraint AS f
    CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(f.conkey), pg_catalog.unnest(f.confkey)) AS one(near, far)
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) f.conrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) f.conrelid
        AND a.attnum OPERATOR(pg_catalog.=) one.near
    WHERE f.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog.\"char\"
        AND f.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
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
            SELECT FROM pg_catalog.pg_depend AS o WHERE o.objid OPERATOR(pg_catalog.=) q.seqrelid
                AND o.classid OPERATOR(pg_catalog.=) e.refclassid AND o.refclassid OPERATOR(pg_catalog.=) e.refclassid
                AND o.refobjid OPERATOR(pg_catalog.=) d.adrelid
                AND o.refobjsubid OPERATOR(pg_catalog.=) d.adnum::pg_catalog.int4
                AND o.deptype OPERATOR(pg_catalog.=) 'a'::pg_catalog.\"char\")
    FROM pg_catalog.pg_attrdef AS d
    JOIN pg_catalog.pg_depend AS e ON e.classid OPERATOR(pg_catalog.=) d.tableoid
        AND e.objid OPERATOR(pg_catalog.=) d.oid
        AND e.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
    JOIN pg_catalog.pg_sequence AS q ON q.seqrelid OPERATOR(pg_catalog.=) e.refobjid
    UNION ALL
    SELECT e.refobjid, e.refobjsubid::pg_catalog.int2, q.seqrelid, q.seqmax, q.seqincrement, true
    FROM pg_catalog.pg_depend AS e
    JOIN pg_catalog.pg_sequence AS q ON q.seqrelid OPERATOR(pg_catalog.=) e.objid
    WHERE e.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
        AND e.refclassid OPERATOR(pg_catalog.=) e.classid
        AND e.deptype OPERATOR(pg_catalog.=) 'i'::pg_catalog.\"char\"";

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
