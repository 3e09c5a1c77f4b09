//! The requests of a member, and the registry's answers: calls of a function there, by its exact type.

use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::machine::{clock, host, server};
use crate::registry::protocol::{self, MemberRequest, RegistryAnswer, RegistryReply};
use mint_core::registry::ring::{RingDemand, RingLease, RingRequest, RingRules};

/// The only column of the registry's answers.
pub const ANSWER: &str = "answer pg_catalog.text";

/// Writes the query for a request, with the present time, as the connection might have taken long.
pub fn query(width: u32, demand: RingDemand) -> String {
    let request = MemberRequest {
        holder: name(),
        ring: RingRequest {
            width,
            clock: clock::now(),
            demand,
        },
    };
    let request = sql::escaped(&protocol::write(&request));
    format!("SELECT mint.registry_request({request}::pg_catalog.jsonb)::pg_catalog.text")
}

/// Returns the name by which the registry shows this server: the setting `cluster_name`, or the machine and port.
fn name() -> String {
    server::cluster_name().unwrap_or_else(|| {
        let host = host::name();
        format!("{}:{}", String::from_utf8_lossy(&host), server::port())
    })
}

/// Reads a row of [`ANSWER`].
pub fn read(row: &Row<'_>) -> String {
    row.get::<DecodedText>(1)
        .map_or_else(String::new, |text| text.0)
}

/// Parses the answer to a demand. A member trusts no lease that a registry cannot have granted: another server can
/// answer in its place, and a lease that lasts for years could not be corrected.
///
/// # Errors
/// The text is not an answer to this demand.
pub fn understand(width: u32, demand: RingDemand, text: &str) -> Result<RegistryAnswer, String> {
    let RegistryReply { answer } =
        protocol::read(text).map_err(|_| "invalid response from the registry")?;
    let is_possible = |lease: RingLease| {
        let rules = RingRules::STANDARD;
        let is_its_own = match demand {
            RingDemand::Grant(number) => {
                let ring = rules.ring(width);
                lease.number == number && ring.is_ok_and(|ring| ring.contains(&lease.node))
            }
            RingDemand::Renewal(told) => lease.is_same(told) && lease.until >= told.until,
            RingDemand::End { .. } => return true,
        };
        is_its_own && lease.from <= lease.until && lease.is_credible(&rules, clock::now())
    };
    match answer {
        RegistryAnswer::Lease(lease) if !is_possible(lease) => {
            Err("response of the registry is a lease that was not requested".to_owned())
        }
        answer => Ok(answer),
    }
}
