//! The defaults of this database's columns that generate snowflakes: what the server is there for, as its owners have said. Any
//! role may generate ids of any layout; a default takes the privilege to create a table.

use crate::adopt::default::{Generator, Generators};
use crate::adopt::inventory::columns::LONGEST_DEFAULT;
use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
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
        format('column \"%s\" of table %s of role \"%s\"',
            g.attname, g.relation, pg_get_userbyid(g.owner))
    FROM (
    SELECT pg_get_expr(d.adbin, d.adrelid) AS expression, c.relowner AS owner, a.attname,
        c.oid::regclass AS relation, c.oid
    FROM pg_extension AS e
    JOIN pg_proc AS f ON f.pronamespace = e.extnamespace
        AND f.proname IN ('snowflake_next', 'snowflake_next_id')
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
    let text = |row: &Row<'_>, column| row.get::<DecodedText>(column).map(|text| text.0);
    let found = sql::rows(QUERY, &[LONGEST_DEFAULT.into()], |row| {
        text(row, 1).zip(text(row, 2))
    });
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
