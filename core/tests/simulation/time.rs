//! Units of time, and the times that members and the registry have in common.

use mint_core::Micros;

pub const MS: Micros = 1_000;
pub const SECOND: Micros = 1_000 * MS;
/// The true time at which a simulation starts.
pub const START: Micros = 1_700_000_000 * SECOND;
pub const LEASE_LENGTH: Micros = 30 * SECOND;
pub const MAX_SKEW: Micros = SECOND;
