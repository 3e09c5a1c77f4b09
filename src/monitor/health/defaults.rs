//! The defaults of this database's columns that generate snowflakes: what the server is there for, as its owners have said. Any
//! role may generate ids of any layout; a default takes the privilege to create a table.

use crate::adopt::default::{Generator, Generators};
use crate::pg::backend::guc;
use crate::pg::backend::subtransaction::attempt;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use mint_core::Layout;

/// A default, and the table that has it first.
pub struct Default {
    pub layout: Layout,
    /// The shard, where the default says it.
    pub shard: Option<i64>,
    /// The column and its owner, for a message.
    pub column: String,
}

/// Each expression once for each owner, however many partitions have it. Expressions are shown and not planned.
const QUERY: &str = "SELECT DISTINCT ON (g.expression, g.owner) g.expression,
        pg_catalog.format('column \"%s\" of table %s of role \"%s\"'::pg_catalog.text,
            g.attname, g.relation, pg_catalog.pg_get_userbyid(g.owner))
    FROM (
    SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression, c.relowner AS owner, a.attname,
        c.oid::pg_catalog.regclass AS relation, c.oid
    FROM pg_catalog.pg_extension AS e
    JOIN pg_catalog.pg_proc AS f ON f.pronamespace OPERATOR(pg_catalog.=) e.extnamespace
        AND f.proname OPERATOR(pg_catalog.=) ANY ('{snowflake_next,snowflake_next_id}'::pg_catalog.name[])
    JOIN pg_catalog.pg_depend AS u ON u.refclassid OPERATOR(pg_catalog.=) f.tableoid
        AND u.refobjid OPERATOR(pg_catalog.=) f.oid
        AND u.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid
    JOIN pg_catalog.pg_attrdef AS d ON d.oid OPERATOR(pg_catalog.=) u.objid
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.adrelid
        AND c.relpersistence OPERATOR(pg_catalog.<>) 't'::pg_catalog.\"char\"
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid
        AND a.attnum OPERATOR(pg_catalog.=) d.adnum
    WHERE e.extname OPERATOR(pg_catalog.=) 'pg_mint'::pg_catalog.name
    ) AS g
    ORDER BY g.expression, g.owner, g.oid LIMIT 10000";

/// Reads the defaults; none when another transaction has locked one of the catalogs.
pub fn read() -> Option<Vec<Default>> {
    attempt(|| guc::with(&[(c"lock_timeout", c"1")], select))
}

fn select() -> Vec<Default> {
    let text = |row: &Row<'_>, column| row.get::<DecodedText>(column).map(|text| text.0);
    let found = sql::rows(QUERY, &[], |row| text(row, 1).zip(text(row, 2)));
    if found.is_empty() {
        return Vec::new();
    }
    let generators = Generators::find();
    let own = |(expression, column): (String, String)| match generators.of(&expression)? {
        Generator::Snowflake {
            layout: Some(layout),
            shard,
        } => Some(Default {
            layout,
            shard,
            column,
        }),
        _ => None,
    };
    found.into_iter().filter_map(own).collect()
}
