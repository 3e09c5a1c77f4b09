//! What members ask of the registry, and its answers.

use mint_core::{Denial, LeaseTerm, LogPoint, Micros};
use std::ops::RangeInclusive;

pub type Nodes = RangeInclusive<u64>;

/// A kind of request to the registry.
#[derive(Debug, Clone)]
pub enum RequestKind {
    /// Any free node.
    Auto,
    /// These nodes.
    Fixed(Nodes),
    /// A renewal of this lease.
    Renew(RegistryLease),
    /// An earlier end of this lease.
    Release(RegistryLease),
}

impl RequestKind {
    pub fn is_auto(&self) -> bool {
        matches!(self, RequestKind::Auto)
    }
}

#[derive(Debug, Clone)]
pub struct Request {
    pub kind: RequestKind,
    /// The reading of the asking server's clock.
    pub clock: Micros,
    pub seen: Option<LogPoint>,
}

/// A lease as the registry grants it.
#[derive(Debug, Clone)]
pub struct RegistryLease {
    pub number: u64,
    pub nodes: Nodes,
    pub term: LeaseTerm,
}

#[derive(Debug, Clone, Copy)]
pub enum RequestError {
    Denied(Denial),
    /// All nodes are in use.
    Full,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub lease: Result<RegistryLease, RequestError>,
    /// The length of leases.
    pub length: Micros,
    /// Nothing where the registry has not looked at its own state.
    pub seen: Option<LogPoint>,
}
