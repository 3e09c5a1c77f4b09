//! Messages that are late.

use crate::small::term::{NO_TERM, Term};
use mint_core::registry::ring::{Refusal, RingDemand, RingLease};

/// A message that is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    Grant {
        number: u8,
        clock: i16,
    },
    Renewal {
        node: u8,
        lease: Term,
        clock: i16,
    },
    End {
        node: u8,
        lease: Term,
        used: i16,
        clock: i16,
    },
    Granted {
        node: u8,
        lease: Term,
    },
    Renewed {
        node: u8,
        lease: Term,
    },
    Dropped {
        number: u8,
    },
}

impl Held {
    pub fn number(mut self) -> u8 {
        match self {
            Self::Grant { number, .. } | Self::Dropped { number } => number,
            _ => self.lease().map_or(0, |lease| lease.number),
        }
    }

    pub fn node(&mut self) -> Option<&mut u8> {
        match self {
            Self::Renewal { node, .. }
            | Self::End { node, .. }
            | Self::Granted { node, .. }
            | Self::Renewed { node, .. } => Some(node),
            Self::Grant { .. } | Self::Dropped { .. } => None,
        }
    }

    pub fn lease(&mut self) -> Option<&mut Term> {
        match self {
            Self::Renewal { lease, .. }
            | Self::End { lease, .. }
            | Self::Granted { lease, .. }
            | Self::Renewed { lease, .. } => Some(lease),
            Self::Grant { .. } | Self::Dropped { .. } => None,
        }
    }

    pub fn request(demand: RingDemand, clock: i64) -> Self {
        let clock = i16::try_from(clock).unwrap();
        match demand {
            RingDemand::Grant(number) => Self::Grant {
                number: u8::try_from(number).unwrap(),
                clock,
            },
            RingDemand::Renewal(lease) => {
                let (node, lease) = Term::of(&lease);
                Self::Renewal { node, lease, clock }
            }
            RingDemand::End { lease, used } => {
                let (node, lease) = Term::of(&lease);
                Self::End {
                    node,
                    lease,
                    used: i16::try_from(used).unwrap(),
                    clock,
                }
            }
        }
    }

    pub fn answer(demand: RingDemand, answer: &Result<RingLease, Refusal>) -> Option<Self> {
        match (demand, answer) {
            (RingDemand::Grant(_), Ok(lease)) => {
                let (node, lease) = Term::of(lease);
                Some(Self::Granted { node, lease })
            }
            (RingDemand::Renewal(_), Ok(lease)) => {
                let (node, lease) = Term::of(lease);
                Some(Self::Renewed { node, lease })
            }
            (RingDemand::Renewal(lease), Err(_)) => {
                let number = u8::try_from(lease.number).unwrap();
                Some(Self::Dropped { number })
            }
            _ => None,
        }
    }

    /// Returns the demand of a request, and the time when it was sent.
    pub fn demand(self) -> Option<(RingDemand, i64)> {
        Some(match self {
            Self::Grant { number, clock } => (RingDemand::Grant(number.into()), clock.into()),
            Self::Renewal { node, lease, clock } => {
                (RingDemand::Renewal(lease.lease(node)), clock.into())
            }
            Self::End {
                node,
                lease,
                used,
                clock,
            } => {
                let lease = lease.lease(node);
                (
                    RingDemand::End {
                        lease,
                        used: used.into(),
                    },
                    clock.into(),
                )
            }
            _ => return None,
        })
    }

    /// Returns an answer, and the demand that it answers.
    pub fn demand_and_answer(self) -> (RingDemand, Result<RingLease, Refusal>) {
        match self {
            Self::Granted { node, lease } => (
                RingDemand::Grant(lease.number.into()),
                Ok(lease.lease(node)),
            ),
            Self::Renewed { node, lease } => {
                let lease = lease.lease(node);
                (RingDemand::Renewal(lease), Ok(lease))
            }
            _ => {
                let lease = Term {
                    number: self.number(),
                    ..NO_TERM
                }
                .lease(0);
                (RingDemand::Renewal(lease), Err(Refusal::Over))
            }
        }
    }
}
