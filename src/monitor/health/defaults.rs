//! The defaults of this database's columns that generate snowflakes: what the server is there for, as its owners have said. Any
//! role may generate ids of any layout; a default takes the privilege to create a table.

use crate::adopt::catalog::default::{LONGEST, StoredDefault, without_shard};
use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
use crate::pg::catalog::sql;
use mint_core::Layout;
use serde::Deserialize;

/// A default, and the table that has it first.
pub struct Default {
    pub layout: Layout,
    /// The shard, where the default says it.
    pub shard: Option<i64>,
    /// The column and its owner, for a message.
    pub column: String,
    /// The table, and the statement that makes a default without a shard.
    pub table: u32,
    pub alter: String,
}

/// Each expression once for each owner, however many partitions have it. Expressions are shown and not planned.
const QUERY: &str = "SELECT DISTINCT ON (g.expression, g.owner) jsonb_build_object(
        'default', jsonb_build_object('text', g.expression, 'tree', g.tree),
        'column', format('column \"%s\" of table %s of role \"%s\"',
            g.attname, g.relation, pg_get_userbyid(g.owner)),
        'table', g.oid::bigint,
        'alter', format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT', g.relation, g.attname))
    FROM (
    SELECT pg_get_expr(d.adbin, d.adrelid) AS expression, d.adbin::text AS tree,
        c.relowner AS owner, a.attname,
        c.oid::regclass AS relation, c.oid
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
    ) AS g
    ORDER BY g.expression, g.owner, g.oid LIMIT 10000";

/// Reads the defaults; none when another transaction has locked one of the catalogs.
pub fn read() -> Option<Vec<Default>> {
    attempt(|| guc::with(&[(c"lock_timeout", c"1")], select))
}

fn select() -> Vec<Default> {
    let own = |found: FoundDefault| {
        let generated = found.default.generated()?;
        Some(Default {
            layout: generated.layout?,
            shard: generated.shard,
            column: found.column,
            table: found.table,
            alter: format!(
                "{} {}",
                found.alter,
                without_shard(&found.default.text, &generated.layout?)
            ),
        })
    };
    sql::read(QUERY, &[LONGEST.into()])
        .into_iter()
        .filter_map(own)
        .collect()
}

#[derive(Deserialize)]
struct FoundDefault {
    default: StoredDefault,
    column: String,
    table: u32,
    alter: String,
}
