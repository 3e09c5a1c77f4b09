//! Columns, by the catalogs.

use crate::adopt::catalog::default::{Generated, IdKind, LONGEST, StoredDefault};
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use mint_core::bytes::excerpt::excerpt;
use pgrx::datum::DatumWithOid;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use serde::Deserialize;

/// The most defaults of a role that are read, in bytes of their trees: those of a hundred thousand columns.
const MOST: i64 = 32 << 20;

/// A column by its table and its number.
pub type Place = (pg_sys::Oid, i16);

/// A column that can be of ids.
#[derive(Debug, Deserialize)]
pub struct IdColumn {
    pub table: pg_sys::Oid,
    pub number: i16,
    pub name: String,
    #[serde(rename = "type")]
    pub type_oid: pg_sys::Oid,
    pub type_name: String,
    /// The type, or the type at the bottom of its domains.
    pub base_type: pg_sys::Oid,
    /// `attidentity`.
    pub identity: String,
    pub is_key: bool,
    pub default: Option<StoredDefault>,
    pub source: Option<Source>,
}

/// A sequence that a column draws from.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Source {
    pub sequence: pg_sys::Oid,
    /// The sequence belongs to the column: it is a serial or an identity.
    pub is_owned: bool,
    pub max: i64,
    pub increment: i64,
}

/// Raises the error of a column that a table does not have.
#[track_caller]
pub fn missing_column(column: &str, table: &str) -> ! {
    let column = excerpt(column);
    let message = format!("column \"{column}\" of relation \"{table}\" does not exist");
    report(Code::ERRCODE_UNDEFINED_COLUMN, message).raise()
}

const QUERY: &str = include_str!("../../../sql/adopt/columns.sql");

fn arguments<'a>(
    table: DatumWithOid<'a>,
    name: DatumWithOid<'a>,
    types: Vec<pg_sys::Oid>,
) -> [DatumWithOid<'a>; 5] {
    [table, name, types.into(), LONGEST.into(), MOST.into()]
}

impl IdColumn {
    /// Reads a column of a table; none if there is none of this name. Sees a table that the statement itself does not see yet, as
    /// the lookup of its name does.
    pub fn find(table: pg_sys::Oid, name: &str) -> Option<Self> {
        let name = DecodedText(name.to_owned());
        let types: Vec<pg_sys::Oid> = Vec::new();
        sql::read_now(QUERY, &arguments(Some(table).into(), name.into(), types))
    }

    /// Reads all columns of the database that are of these types and can be of ids, in the order of their names.
    pub fn all(types: Vec<pg_sys::Oid>) -> Vec<Self> {
        let none: Option<pg_sys::Oid> = None;
        sql::read(
            QUERY,
            &arguments(none.into(), None::<DecodedText>.into(), types),
        )
    }

    pub fn place(&self) -> Place {
        (self.table, self.number)
    }

    pub fn quoted(&self) -> String {
        sql::quoted_exactly(&self.name)
    }

    /// Returns whether new values are those of a counter: of an identity, a sequence, or a counter of this extension.
    pub fn is_counted(&self) -> bool {
        let is_counter = |generated: Generated| generated.kind == IdKind::Sequence;
        !self.identity.is_empty() || self.generated().is_some_and(is_counter)
    }

    /// Returns whether new values can be those of a counter, as nothing says what generates them: the default of the column or of its
    /// domain, or a program that gives them itself.
    pub fn is_unclear(&self) -> bool {
        self.generated().is_none()
    }

    /// Returns what the default generates.
    pub fn generated(&self) -> Option<Generated> {
        self.default.as_ref()?.generated()
    }
}
