//! What a member requests of the registry, and what that answers: calls of functions there, by their exact types.

use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::machine::{clock, host, server};
use crate::pg::worker::dblink::value;
use crate::registry::identity;
use crate::registry::member::leases;
use mint_core::{Lease, LeaseTerm, LogPoint, Micros};
use pgrx::spi::SpiTupleTable;
use std::ops::RangeInclusive;

/// The registry's answer.
pub struct Answer {
    /// The number of the lease; 0 when there is none.
    pub id: i64,
    pub nodes: RangeInclusive<u64>,
    pub span: LeaseTerm,
    /// The length of leases.
    pub length: Micros,
    /// The reason why nothing was granted.
    pub denial: Option<String>,
}

/// The columns of the registry's answers.
pub const ANSWER: &str = "claim pg_catalog.int8, first_node pg_catalog.int8, last_node pg_catalog.int8,
    lease_from pg_catalog.int8, lease_until pg_catalog.int8, length pg_catalog.int8, system pg_catalog.int8,
    timeline pg_catalog.int8, start pg_catalog.int8, incarnation pg_catalog.int8, log_position pg_catalog.int8,
    denial pg_catalog.text";

/// Writes numbers as arguments of their exact type, or as many nulls. Another function of the name has other types.
fn numbers<const N: usize>(values: Option<[i64; N]>) -> String {
    let number = |index: usize| match values {
        Some(values) => format!("'{}'::pg_catalog.int8", values[index]),
        None => "NULL::pg_catalog.int8".to_owned(),
    };
    let all: Vec<String> = (0..N).map(number).collect();
    all.join(", ")
}

/// Writes the query for a new lease of these nodes, or of any node; or for the renewal of a lease.
pub fn lease_query(
    renewed: Option<(i64, &Lease)>,
    width: u32,
    wanted: Option<(u64, u64)>,
) -> String {
    let renewed = renewed.map(|(id, lease)| [id, lease.from(), lease.until()]);
    let nodes = wanted.map(|(first, last)| [first.cast_signed(), last.cast_signed()]);
    let seen = leases::seen().get().map(|seen| {
        let [system, timeline, start, incarnation] = identity::to_numbers(seen.identity);
        let position = seen.position.cast_signed();
        [system, timeline, start, incarnation, position]
    });
    let member = [server::system_identifier().cast_signed(), clock::now()];
    format!(
        "SELECT * FROM mint.snowflake_claim_nodes({}, {width}::pg_catalog.int4, {}, {}, {}, {})",
        numbers(renewed),
        numbers(nodes),
        sql::escaped(&name()),
        numbers(Some(member)),
        numbers(seen)
    )
}

/// Writes the query that releases a lease, under which all ids are before `used`.
pub fn release_query(id: i64, used: Micros) -> String {
    format!(
        "SELECT mint.snowflake_release_claim({})",
        numbers(Some([id, used]))
    )
}

/// Returns the name of this server that views show: the setting `cluster_name`, or the machine and port.
fn name() -> String {
    server::cluster_name().unwrap_or_else(|| {
        let host = host::name();
        format!("{}:{}", String::from_utf8_lossy(&host), server::port())
    })
}

/// Reads a row of [`ANSWER`].
pub fn read(row: &SpiTupleTable<'_>) -> (Answer, LogPoint) {
    let number = |column: usize| value::<i64>(row, column).unwrap_or(0);
    let answer = Answer {
        id: number(1),
        nodes: number(2).unsigned_abs()..=number(3).unsigned_abs(),
        span: LeaseTerm {
            from: number(4),
            until: number(5),
        },
        length: number(6),
        denial: value::<DecodedText>(row, 12).map(|denial| denial.0),
    };
    let seen = LogPoint {
        identity: identity::from_numbers([7, 8, 9, 10].map(number)),
        position: number(11).cast_unsigned(),
    };
    (answer, seen)
}
