//! The formats that an unknown id can have.

use crate::objectid::sql_type::ObjectIdValue;
use crate::pg::datum::text::Text;
use crate::pg::datum::timestamp::timestamp;
use crate::pg::datum::uuid::UuidValue;
use crate::pg::error::report;
use crate::pg::machine::clock;
use mint_core::ObjectId;
use mint_core::inspect::{Context, Input, Part, Reading, inspect};
use pgrx::JsonB;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

/// A row of the result: format, version, time, node, sequence, parts, canonical text and likelihood.
type Row = (
    &'static str,
    Option<String>,
    Option<TimestampWithTimeZone>,
    Option<String>,
    Option<i64>,
    JsonB,
    String,
    f64,
);

/// Declares `id_inspect` of one type: one row for each format that the id can have, the most likely one first. `nodes`
/// are those of the caller's snowflakes. Stable, because the likelihood depends on the clock.
macro_rules! id_inspect {
    ($function:ident, $type:ty, $id:ident => $input:expr) => {
        #[pg_extern(sql = false)]
        #[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
        fn $function(
            id: $type,
            nodes: Array<'_, i32>,
        ) -> TableIterator<
            'static,
            (
                name!(format, &'static str),
                name!(version, Option<String>),
                name!(time, Option<TimestampWithTimeZone>),
                name!(node, Option<String>),
                name!(sequence, Option<i64>),
                name!(parts, JsonB),
                name!(canonical, String),
                name!(likelihood, f64),
            ),
        > {
            let $id = id;
            TableIterator::new(rows(&$input, &nodes))
        }
    };
}

id_inspect!(id_inspect_text, Text<'_>, id => Input::Text(id.0));
id_inspect!(id_inspect_bigint, i64, id => Input::Number(id));
id_inspect!(id_inspect_uuid, UuidValue, id => Input::Uuid(id.into()));
id_inspect!(id_inspect_objectid, ObjectIdValue, id => Input::ObjectId(ObjectId(id.0)));

/// The most nodes, as each reading looks for its own among them.
const MOST_NODES: usize = 100_000;

fn rows(id: &Input<'_>, nodes: &Array<'_, i32>) -> impl Iterator<Item = Row> + use<> {
    if nodes.len() > MOST_NODES {
        report(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            "too many nodes",
        )
        .detail(format!(
            "There are {}, but at most {MOST_NODES} are allowed.",
            nodes.len()
        ))
        .raise();
    }
    let nodes: Vec<i64> = nodes.iter().flatten().map(i64::from).collect();
    let now = clock::now();
    let nodes = &nodes;
    inspect(id, &Context { now, nodes }).into_iter().map(row)
}

fn row(reading: Reading) -> Row {
    let parts = reading.parts.into_iter().map(|(name, part)| {
        let value: serde_json::Value = match part {
            Part::Text(text) => text.into(),
            Part::Number(number) => number.into(),
            Part::Numbers(numbers) => numbers.into(),
        };
        (name.to_owned(), value)
    });
    (
        reading.format,
        reading.version,
        reading.time.and_then(timestamp),
        reading.node,
        reading.sequence,
        JsonB(parts.collect()),
        reading.canonical,
        // More digits would claim more precision than there is.
        (reading.likelihood * 1_000.0).round() / 1_000.0,
    )
}
