//! The register: which tables are maintained, and how. A dump contains it, so tables and owners are in it by name.
//!
//! A row is made by the owner of a table alone. It counts as long as the table has the owner that the row names: nobody can have
//! done in the name of another role by giving a table away, or by taking the name of one that was dropped.

use crate::adopt::partition::error;
use crate::adopt::partition::parent::Parent;
use crate::adopt::partition::rules::{self, Rules};
use crate::adopt::partition::zone::Zone;
use crate::pg::backend::{guc, transaction};
use crate::pg::catalog::spi::{self, Row, Sees};
use crate::pg::catalog::tables::OwnedTables;
use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::timestamp;
use crate::pg::error::{OrReport, impossible, sentence};
use crate::snowflake::error::bad_layout_text;
use mint_core::Layout;
use mint_core::adopt::partition::Step;
use pgrx::datum::{DatumWithOid, Interval, TimestampWithTimeZone};
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// The most tables of one owner.
const MOST: i64 = 1_000;

/// The most partitions to come of a registered table: mint.health() looks for each.
const MOST_AHEAD: i32 = 400;

/// A row.
pub struct Registered {
    pub schema: String,
    pub table: String,
    pub owner: String,
    pub every: Interval,
    pub ahead: i32,
    pub keep: Option<Interval>,
    pub layout: Option<String>,
    pub zone: String,
    pub moves_rows: bool,
}

/// What a row refers to now.
pub enum Registrant {
    /// The table, and its owner.
    Counts(pg_sys::Oid, pg_sys::Oid),
    Missing,
    /// The table has another owner.
    ChangedHands(pg_sys::Oid),
}

/// How many of the partitions to come are there.
pub struct Supply {
    /// After the current one; -1 if that is missing.
    pub ahead: i64,
    /// The time of the first id without a partition, if one of the next ones is missing.
    pub missing_from: Option<TimestampWithTimeZone>,
}

impl Registered {
    /// Returns what the row refers to now.
    pub fn find(&self) -> Registrant {
        let schema = relation::schema_and_owner(&self.schema);
        let table =
            schema.and_then(|(schema, _)| relation::find(schema, &charset::c_string(&self.table)));
        let Some((table, owner)) = table.and_then(|table| Some((table, relation::owner(table)?)))
        else {
            return Registrant::Missing;
        };
        if privilege::name_of(owner) == self.owner {
            Registrant::Counts(table, owner)
        } else {
            Registrant::ChangedHands(owner)
        }
    }

    /// Returns the rules. Raises the error of a row that has none.
    pub fn rules(&self) -> Rules {
        let parse = |text: &String| match text.parse::<Layout>() {
            Ok(layout) => layout,
            Err(error) => bad_layout_text(text.as_bytes(), &error).raise(),
        };
        if self.ahead > MOST_AHEAD {
            error::too_far_ahead(self.ahead, MOST_AHEAD);
        }
        Rules {
            step: Step::new(self.every.months(), self.every.days(), self.every.micros())
                .or_report(),
            ahead: rules::ahead(Some(self.ahead)),
            keep: self.keep.map(rules::positive),
            layout: self.layout.as_ref().map(parse),
            zone: Zone(self.zone.clone()),
            since: None,
            moves_rows: self.moves_rows,
        }
    }

    /// Returns how many of the partitions to come are there; none while another transaction has locked the table.
    ///
    /// # Errors
    /// Why that cannot be told, in a full sentence.
    pub fn state(&self) -> Result<Option<Supply>, String> {
        match self.find() {
            Registrant::Counts(table, _) => self.supply(table),
            Registrant::Missing => Err("The table does not exist.".to_owned()),
            Registrant::ChangedHands(owner) => Err(self.has_changed(owner)),
        }
    }

    /// Returns what happened to a table that has another owner now, in a full sentence.
    pub fn has_changed(&self, owner: pg_sys::Oid) -> String {
        let owner = privilege::name_of(owner);
        format!(
            "Role \"{}\" registered the table, and its owner is role \"{owner}\" now.",
            self.owner
        )
    }

    fn supply(&self, table: pg_sys::Oid) -> Result<Option<Supply>, String> {
        let look = || {
            let rules = self.rules();
            let parent = Parent::find(table, rules.layout, Sees::Statement);
            let missing = rules.missing(&parent);
            // The error of a table of which nothing can be dropped.
            rules.oldest(&parent);
            let first = missing.first();
            Supply {
                ahead: first.map_or(i64::from(rules.ahead), |part| part.edge as i64 - 1),
                missing_from: first.and_then(|part| timestamp(part.times.0?)),
            }
        };
        // A superuser or the owner of the table can have locked it for long.
        let answer = guc::with(&[(c"lock_timeout", c"1")], || transaction::caught(look));
        match answer {
            Ok(supply) => Ok(Some(supply)),
            Err(raised) if transaction::code(&raised) == Some(Code::ERRCODE_LOCK_NOT_AVAILABLE) => {
                Ok(None)
            }
            Err(raised) => Err(sentence(&transaction::message(&raised))),
        }
    }

    /// Returns the name of the table, quoted, with its schema.
    pub fn name(&self) -> String {
        let [schema, table] = [&self.schema, &self.table].map(|name| sql::quoted_exactly(name));
        format!("{schema}.{table}")
    }
}

/// Returns all rows, in the order of their names, of each owner as many as it can register: the owner of the database writes any.
pub fn all() -> Vec<Registered> {
    let query =
        "SELECT schema_name, table_name, owner_name, every, ahead, keep, layout, zone, move_rows
        FROM (SELECT *, row_number() OVER (PARTITION BY owner_name ORDER BY schema_name, table_name) AS place FROM mint.partitioned) AS p
        WHERE place <= $1 ORDER BY 1, 2";
    in_table(|client| {
        let rows = client.select(query, None, &[MOST.into()]).or_report();
        spi::read(rows, read)
    })
}

fn read(row: &Row<'_>) -> Registered {
    let text = |column| row.need::<DecodedText>(column).0;
    Registered {
        schema: text(1),
        table: text(2),
        owner: text(3),
        every: row.need(4),
        ahead: row.need(5),
        keep: row.get(6),
        layout: row.get::<DecodedText>(7).map(|layout| layout.0),
        zone: text(8),
        moves_rows: row.need(9),
    }
}

/// Writes a row, in place of one of the same table.
pub fn put(row: &Registered) {
    let statement = "INSERT INTO mint.partitioned AS p (schema_name, table_name, owner_name, every, ahead, keep, layout, zone, move_rows)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (schema_name, table_name) DO UPDATE SET owner_name = excluded.owner_name, every = excluded.every,
            ahead = excluded.ahead, keep = excluded.keep, layout = excluded.layout, zone = excluded.zone,
            move_rows = excluded.move_rows";
    let text = |text: &String| DatumWithOid::from(DecodedText(text.clone()));
    in_table(|client| {
        let arguments = [
            text(&row.schema),
            text(&row.table),
            text(&row.owner),
            row.every.into(),
            row.ahead.into(),
            row.keep.into(),
            row.layout.clone().map(DecodedText).into(),
            text(&row.zone),
            row.moves_rows.into(),
        ];
        spi::update(client, statement, &arguments);
        let count = "SELECT count(*) FROM mint.partitioned WHERE owner_name = $1";
        let rows = spi::update(client, count, &[text(&row.owner)]);
        let count = spi::read_first(rows, |row| row.need::<i64>(1));
        if count.is_some_and(|count| count > MOST) {
            error::too_many_registered(&row.owner, MOST);
        }
    });
}

/// Removes the row of a table. Returns whether there was one.
pub fn remove(row: &Registered) -> bool {
    let statement =
        "DELETE FROM mint.partitioned WHERE schema_name = $1 AND table_name = $2 RETURNING 1";
    let text = |text: &String| DatumWithOid::from(DecodedText(text.clone()));
    in_table(|client| {
        let rows = spi::update(client, statement, &[text(&row.schema), text(&row.table)]);
        spi::read_first(rows, |_| ()).is_some()
    })
}

/// Raises an error unless the caller has the privileges of the role that registered a table.
pub fn demand_owner(row: &Registered) {
    if !privilege::role_of(&row.owner).is_some_and(privilege::is_member)
        && !privilege::is_superuser()
    {
        error::not_its_owner(&row.name(), &row.owner);
    }
}

fn in_table<T>(work: impl FnOnce(&mut SpiClient<'_>) -> T) -> T {
    let Some(tables) = OwnedTables::find("mint", ["partitioned"]) else {
        impossible("schema mint");
    };
    tables.as_owner(work)
}
