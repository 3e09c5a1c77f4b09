//! Names of new partitions.

use crate::pg::catalog::spi::Sees;
use crate::pg::catalog::sql;
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;
use std::collections::BTreeSet;

/// The longest name, in bytes of the server's encoding.
const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1;

/// The names that are left in a schema.
pub struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// Reads the names of a schema that begin as those of the partitions do.
    pub fn of(namespace: pg_sys::Oid, sees: Sees) -> Self {
        let query = "SELECT c.relname::text FROM pg_class AS c
            WHERE c.relnamespace = $1::oid
            UNION ALL
            SELECT t.typname::text FROM pg_type AS t
            WHERE t.typnamespace = $1::oid";
        let taken = sql::rows_seen(sees, query, &[namespace.into()], |row| {
            row.get::<DecodedText>(1)
        });
        Self {
            taken: taken.into_iter().map(|name| name.0).collect(),
        }
    }

    /// Returns an unused name of a table and a suffix, quoted. Where it is too long, the table's name is cut.
    pub fn next(&mut self, table: &str, suffix: &str) -> String {
        let mut name = joined(table, suffix);
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = joined(table, &format!("{suffix}_{count}"));
        }
        sql::quoted_exactly(&name)
    }
}

/// Returns the name of a table and a suffix. Where it is too long, the table's name is cut.
pub fn joined(table: &str, suffix: &str) -> String {
    let mut table = table.to_owned();
    let length = |text: &str| charset::encode(text).len();
    while length(&table) + 1 + suffix.len() > LONGEST && table.pop().is_some() {}
    format!("{table}_{suffix}")
}
