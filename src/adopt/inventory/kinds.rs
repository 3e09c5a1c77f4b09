//! The kind of a column's ids: by what makes them, or else by what they look like.

use crate::adopt::catalog::column::IdColumn;
use crate::adopt::catalog::default::IdKind;
use crate::adopt::catalog::table::Leaf;
use crate::pg::catalog::access;
use crate::pg::catalog::scan::sample::{Limit, Sample, Value};
use crate::pg::machine::clock;
use mint_core::adopt::evidence::{Numbers, commonest, of_numbers, of_text, of_uuid};
use mint_core::{Layout, Uuid};

/// The kind of ids, and the layout of snowflakes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct IdsKind {
    pub name: Option<String>,
    pub layout: Option<Layout>,
}

impl IdsKind {
    fn new(name: impl Into<String>, layout: Option<Layout>) -> Self {
        Self {
            name: Some(name.into()),
            layout,
        }
    }
}

/// Returns the kind of ids that a column's default or identity generates; none if nothing says so.
pub fn by_default(column: &IdColumn) -> Option<IdsKind> {
    match column.identity.as_str() {
        "a" => return Some(IdsKind::new("identity always", None)),
        "d" => return Some(IdsKind::new("identity by default", None)),
        _ => {}
    }
    let generated = column.generated()?;
    let is_serial = column.source.is_some_and(|source| source.is_owned);
    let name = match generated.kind {
        IdKind::Sequence if is_serial => "serial".to_owned(),
        IdKind::Sequence => "sequence".to_owned(),
        IdKind::Snowflake => "snowflake".to_owned(),
        IdKind::Uuid(version) => format!("uuid_v{version}"),
        IdKind::Other(family) => family.to_owned(),
    };
    Some(IdsKind::new(name, generated.layout))
}

/// How many rows of a column are read.
const LIMIT: Limit = Limit {
    values: 100,
    blocks: 10,
};
/// Of how many partitions, the newest first.
const PARTITIONS: usize = 5;

/// Reads about a hundred ids of a column. Empty if the user may not read them, or another session has locked the table.
pub fn values(column: &IdColumn, leaves: &[Leaf]) -> Vec<Value> {
    let Ok(readable) = access::read(column.table, column.number) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for leaf in leaves.iter().rev().take(PARTITIONS) {
        let limit = Limit {
            values: LIMIT.values.saturating_sub(found.len()),
            ..LIMIT
        };
        if limit.values == 0 {
            break;
        }
        let sample = readable.sample(leaf.table, column.base_type, limit);
        let Sample { values, .. } = sample.unwrap_or_default();
        found.extend(values);
    }
    found
}

/// Returns what ids look like.
pub fn by_values(values: &[Value]) -> IdsKind {
    let numbers: Vec<i64> = values.iter().filter_map(Value::number).collect();
    if !numbers.is_empty() {
        return match of_numbers(&numbers, clock::now()) {
            Some(Numbers::Small) => IdsKind::new("integer", None),
            Some(Numbers::Snowflake(layout)) => IdsKind::new("snowflake", Some(*layout)),
            Some(Numbers::Mixed) => IdsKind::new("integer, snowflake", None),
            Some(Numbers::Large) | None => IdsKind::default(),
        };
    }
    let now = clock::now();
    let kind = |value: &Value| match value {
        Value::Uuid(bytes) => Some(of_uuid(&Uuid::from_bytes(*bytes))),
        Value::Bytes(_) => Some("objectid".to_owned()),
        Value::Text(text) => of_text(text, now),
        Value::Number(_) => None,
    };
    IdsKind {
        name: commonest(values.iter().map(kind)),
        layout: None,
    }
}
