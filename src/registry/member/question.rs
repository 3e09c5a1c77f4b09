//! What a member asks the registry, and what that answers: calls of functions there, by their exact types.

use crate::pg::catalog::sql;
use crate::pg::datum::text::Words;
use crate::pg::machine::{clock, host, server};
use crate::pg::worker::dblink::value;
use crate::registry::member::leases;
use mint_core::{Identity, Lease, Micros, Seen, Span};
use pgrx::spi::SpiTupleTable;
use std::ops::RangeInclusive;

/// What the registry answered.
pub struct Answer {
    pub claim: i64,
    pub nodes: RangeInclusive<u64>,
    pub span: Span,
    pub length: Micros,
    pub denial: Option<String>,
}

/// The columns of the registry's answers.
pub const ANSWER: &str = "claim pg_catalog.int8, first_node pg_catalog.int8, last_node pg_catalog.int8,
    slice_from pg_catalog.int8, slice_until pg_catalog.int8, length pg_catalog.int8, system pg_catalog.int8,
    timeline pg_catalog.int8, start pg_catalog.int8, incarnation pg_catalog.int8, log_position pg_catalog.int8,
    denial pg_catalog.text";

/// Numbers as arguments of their exact type, or as many nulls. Another function of the name has other types.
fn numbers<const N: usize>(values: Option<[i64; N]>) -> String {
    let number = |place: usize| match values {
        Some(values) => format!("'{}'::pg_catalog.int8", values[place]),
        None => "NULL::pg_catalog.int8".to_owned(),
    };
    let all: Vec<String> = (0..N).map(number).collect();
    all.join(", ")
}

/// Asks for a slice of nodes, or of any node; or, for a claim, to have its slice go on. `mint` is the schema of the
/// registry's extension.
pub fn claim_query(
    mint: &str,
    claim: Option<(i64, &Lease)>,
    width: u32,
    wanted: Option<(u64, u64)>,
) -> String {
    let claim = numbers(claim.map(|(claim, slice)| [claim, slice.from(), slice.until()]));
    let nodes = wanted.map(|(first, last)| [first.cast_signed(), last.cast_signed()]);
    let seen = leases::seen().get().map(|seen| {
        let Identity {
            system,
            timeline,
            start,
            incarnation,
        } = seen.identity;
        [
            system.cast_signed(),
            timeline.into(),
            start,
            incarnation.into(),
            seen.position.cast_signed(),
        ]
    });
    let asker = [server::system_identifier().cast_signed(), clock::now()];
    let name = sql::escaped(&name());
    format!(
        "SELECT * FROM {mint}.snowflake_claim_nodes({claim}, {width}::pg_catalog.int4, {}, {name}, {}, {})",
        numbers(nodes),
        numbers(Some(asker)),
        numbers(seen)
    )
}

/// Tells the registry that a claim is given up, of which all ids are before `used`.
pub fn release_query(mint: &str, claim: i64, used: Micros) -> String {
    format!(
        "SELECT {mint}.snowflake_release_claim({})",
        numbers(Some([claim, used]))
    )
}

/// What people call this server: the setting `cluster_name`, or the machine and port.
fn name() -> String {
    server::cluster_name().unwrap_or_else(|| {
        let host = host::name();
        format!("{}:{}", String::from_utf8_lossy(&host), server::port())
    })
}

/// Reads a row of [`ANSWER`].
pub fn read(row: &SpiTupleTable<'_>) -> (Answer, Seen) {
    let number = |place: usize| value::<i64>(row, place).unwrap_or(0);
    let answer = Answer {
        claim: number(1),
        nodes: number(2).unsigned_abs()..=number(3).unsigned_abs(),
        span: Span {
            from: number(4),
            until: number(5),
        },
        length: number(6),
        denial: value::<Words>(row, 12).map(|why| why.0),
    };
    let seen = Seen {
        identity: Identity {
            system: number(7).cast_unsigned(),
            timeline: number(8) as u32,
            start: number(9),
            incarnation: number(10) as u32,
        },
        position: number(11).cast_unsigned(),
    };
    (answer, seen)
}
