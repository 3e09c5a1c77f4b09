//! The record of a conversion: the comment of the sequence that the column drew from before.
//!
//! The owner of any sequence can write its comment. So a record counts only on a sequence of the table's owner, nothing of it is
//! ever run, and all that is done with it is done with the rights of that owner.

use crate::adopt::convert::table::{SequenceRules, TargetTable};
use crate::pg::catalog::sql;
use crate::pg::datum::json::{JsonText, read};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use serde::{Deserialize, Serialize};

/// The form of records that this version writes and reads.
const FORM: u32 = 1;

/// The words for people that the comment begins with. A [`ConversionRecord`] as JSON follows.
const WORDS: &str = "the sequence that a column drew from before mint.convert(): it has no values until mint.convert_revert(), which reads: ";

/// The field that the JSON begins with.
const KEY: &str = "pg_mint_conversion";

/// How the column drew from the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CounterKind {
    #[serde(rename = "serial")]
    Serial,
    #[serde(rename = "identity always")]
    Always,
    #[serde(rename = "identity by default")]
    ByDefault,
}

impl CounterKind {
    pub const fn text(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Always => "identity always",
            Self::ByDefault => "identity by default",
        }
    }
}

/// What the column and the sequence were before, but for what the sequence still says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversionRecord {
    /// First, so that records are found by how they begin.
    pg_mint_conversion: u32,
    pub schema: String,
    pub table: String,
    pub column: String,
    pub kind: CounterKind,
    /// Whether the column owned the sequence.
    pub is_owned: bool,
    pub cycle: bool,
    pub last_value: i64,
    pub is_called: bool,
    pub comment: Option<String>,
    /// The tables below that had no default, by schema and name.
    bare: Vec<(String, String)>,
}

/// A sequence with a valid record. The record counts only if the owner of the sequence owns the table.
#[derive(Debug)]
pub struct FoundRecord {
    pub rules: SequenceRules,
    pub record: ConversionRecord,
}

impl ConversionRecord {
    /// Describes a column and its sequence before the conversion; none if it draws from none.
    pub fn of(table: &TargetTable) -> Option<Self> {
        let sequence = table.sequence()?;
        let (last_value, is_called) = sequence.rules.state();
        let column = table.column();
        let bare = table.below.iter().filter(|below| below.default.is_none());
        Some(Self {
            pg_mint_conversion: FORM,
            schema: table.schema.clone(),
            table: table.name.clone(),
            column: column.name.clone(),
            kind: match column.identity.as_str() {
                "a" => CounterKind::Always,
                "d" => CounterKind::ByDefault,
                _ => CounterKind::Serial,
            },
            is_owned: sequence.is_owned,
            cycle: sequence.rules.cycle,
            last_value,
            is_called,
            comment: sequence.rules.comment.clone(),
            bare: bare
                .map(|below| (below.schema.clone(), below.name.clone()))
                .collect(),
        })
    }

    /// Returns the comment that is the record.
    pub fn to_text(&self) -> String {
        let fields = serde_json::to_string(self).unwrap_or_default();
        format!("{WORDS}{fields}")
    }

    /// Returns what makes a record too long to be read again; none of one that can be read.
    pub fn excess(&self) -> Option<String> {
        let length = self.to_text().len();
        (length > LONGEST).then(|| {
            format!(
                "The record would have {length} bytes, but at most {LONGEST} are read: for the comment of the sequence, and the names of {} partitions without a default.",
                self.bare.len()
            )
        })
    }

    pub fn is_bare(&self, schema: &str, name: &str) -> bool {
        self.bare
            .iter()
            .any(|(of, bare)| of == schema && bare == name)
    }

    /// Returns whether the sequence could have had that last value.
    fn fits(&self, rules: &SequenceRules) -> bool {
        (rules.min..=rules.max).contains(&self.last_value)
    }
}

/// The longest record that is written and read, in bytes. The owner of any sequence can write a comment of 1 GB.
const LONGEST: usize = 256 * 1024;

/// Returns all sequences with a record, but for comments that only look like one.
pub fn all() -> Vec<FoundRecord> {
    found(format!("{WORDS}{{\"{KEY}\":"), None)
}

/// Returns the sequences of an owner, or of all, with a comment that begins like this and is a record.
fn found(start: String, owner: Option<pg_sys::Oid>) -> Vec<FoundRecord> {
    let longest = LONGEST as i32;
    let arguments = [DecodedText(start).into(), owner.into(), longest.into()];
    let query = include_str!("../../../sql/adopt/convert_records.sql");
    sql::rows_now(query, &arguments, |row| {
        let rules: SequenceRules = read(&row.get::<JsonText>(1)?.0);
        let fields = rules.comment.as_deref()?.strip_prefix(WORDS)?;
        let record: ConversionRecord = serde_json::from_str(fields).ok()?;
        let is_valid = record.pg_mint_conversion == FORM && record.fits(&rules);
        is_valid.then_some(FoundRecord { rules, record })
    })
}

/// Returns the record of a table's column, if there is one that counts: on a sequence of the table's owner.
pub fn find(table: &TargetTable) -> Option<FoundRecord> {
    // In the order of the fields of a record. Sequences of others, and other records, are not even read.
    let names = [&table.schema, &table.name, &table.column().name]
        .map(|name| serde_json::to_string(name).unwrap_or_default());
    let [schema, name, column] = names;
    let start = format!(
        "{WORDS}{{\"{KEY}\":{FORM},\"schema\":{schema},\"table\":{name},\"column\":{column},"
    );
    let mut found = found(start, Some(table.owner.into())).into_iter();
    let first = found.next();
    if let (Some(first), Some(second)) = (&first, found.next()) {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("two sequences have the record of {}", table.what()),
        )
        .detail(format!(
            "They are {} and {}.",
            first.rules.quoted(),
            second.rules.quoted()
        ))
        .hint("Remove the comment of the one that the column has not drawn from.")
        .raise();
    }
    first
}

/// Returns the table of a record, if it has the column and the same owner as the sequence.
pub fn table_of(found: &FoundRecord) -> Option<pg_sys::Oid> {
    let ConversionRecord {
        schema,
        table,
        column,
        ..
    } = &found.record;
    let query = "SELECT c.oid FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped
        WHERE n.nspname = $1::name AND c.relname = $2::name
            AND a.attname = $3::name AND c.relowner = $4::oid
            AND c.relkind IN ('r', 'p')";
    let text = |text: &String| DecodedText(text.clone()).into();
    let owner = pg_sys::Oid::from_u32(found.rules.owner);
    sql::ask_with::<pg_sys::Oid>(
        query,
        &[text(schema), text(table), text(column), owner.into()],
    )
}
