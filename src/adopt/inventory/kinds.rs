//! The kind of a column's ids: by what makes them, or else by what they look like.

use crate::adopt::default::{Generator, Generators};
use crate::adopt::inventory::columns::{Column, Source};
use crate::pg::catalog::access;
use crate::pg::catalog::scan::sample::{Limit, Sample, Value};
use crate::pg::machine::clock;
use mint_core::adopt::evidence::{Numbers, commonest, of_numbers, of_text, of_uuid};
use mint_core::{Layout, Uuid};
use pgrx::pg_sys;

/// The kind of ids, and the layout of snowflakes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kind {
    pub name: Option<String>,
    pub layout: Option<Layout>,
}

impl Kind {
    fn new(name: impl Into<String>, layout: Option<Layout>) -> Self {
        Self {
            name: Some(name.into()),
            layout,
        }
    }
}

/// Returns the kind of ids that a column's default or identity makes; none if nothing says so.
pub fn made(column: &Column, source: Option<&Source>, generators: &Generators) -> Option<Kind> {
    match column.identity {
        Some(b'a') => return Some(Kind::new("identity always", None)),
        Some(_) => return Some(Kind::new("identity by default", None)),
        None => {}
    }
    let generator = generators.of(column.default.as_deref()?)?;
    Some(match generator {
        Generator::Sequence if source.is_some_and(|source| source.is_owned) => {
            Kind::new("serial", None)
        }
        Generator::Sequence => Kind::new("sequence", None),
        Generator::Snowflake { layout, .. } => Kind::new("snowflake", layout),
        Generator::Uuid(version) => Kind::new(format!("uuid_v{version}"), None),
        Generator::Other(family) => Kind::new(family.name, None),
    })
}

/// How many rows of a column are read.
const LIMIT: Limit = Limit {
    values: 100,
    blocks: 10,
};
/// Of how many partitions, the newest first.
const PARTITIONS: usize = 5;

/// Reads about a hundred ids of a column. Empty if the user may not read them, or another session has locked the table.
pub fn values(column: &Column, leaves: &[pg_sys::Oid]) -> Vec<Value> {
    let (table, number) = column.place;
    let Ok(readable) = access::read(table, number) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for &table in leaves.iter().rev().take(PARTITIONS) {
        let limit = Limit {
            values: LIMIT.values.saturating_sub(found.len()),
            ..LIMIT
        };
        if limit.values == 0 {
            break;
        }
        let sample = readable.sample(table, column.base_type, limit);
        let Sample { values, .. } = sample.unwrap_or_default();
        found.extend(values);
    }
    found
}

/// Returns what ids look like.
pub fn seen(values: &[Value]) -> Kind {
    let numbers: Vec<i64> = values.iter().filter_map(Value::number).collect();
    if !numbers.is_empty() {
        return match of_numbers(&numbers, clock::now()) {
            Some(Numbers::Small) => Kind::new("integer", None),
            Some(Numbers::Snowflake(layout)) => Kind::new("snowflake", Some(*layout)),
            Some(Numbers::Mixed) => Kind::new("integer, snowflake", None),
            Some(Numbers::Large) | None => Kind::default(),
        };
    }
    let kind = |value: &Value| match value {
        Value::Uuid(bytes) => Some(of_uuid(&Uuid::from_bytes(*bytes))),
        Value::Bytes(_) => Some("objectid".to_owned()),
        Value::Text(text) => of_text(text),
        Value::Number(_) => None,
    };
    Kind {
        name: commonest(values.iter().map(kind)),
        layout: None,
    }
}
