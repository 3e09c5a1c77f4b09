//! Rules taken out: what the registry is asked, knows and keeps is changed as if it had not the rule.

use crate::small::{Small, Without};
use mint_core::registry::ring::{Refusal, RingDemand, RingLease, RingState};

impl Small {
    pub fn damaged(&self, demand: RingDemand, wall: i64) -> RingDemand {
        match demand {
            RingDemand::Renewal(lease) if self.without == Without::Revival => {
                let until = lease.until.max(wall + 1);
                RingDemand::Renewal(RingLease { until, ..lease })
            }
            _ => demand,
        }
    }

    pub fn damage_before(&self, state: &mut RingState, demand: RingDemand, wall: i64) {
        let rest = match self.without {
            Without::Rest => 0,
            Without::HalfRest => self.rules.skew,
            _ => i64::MAX / 2,
        };
        match demand {
            RingDemand::Grant(_) => state.rows.retain(|_, row| row.until >= wall - rest),
            RingDemand::Renewal(lease) if self.without == Without::TakenCheck => {
                let is_taken =
                    |other: RingLease| other.node == lease.node && other.number != lease.number;
                state.rows.retain(|_, row| !is_taken(*row));
            }
            _ => {}
        }
    }

    pub fn damage_after(
        &self,
        state: &mut RingState,
        demand: RingDemand,
        answer: &Result<RingLease, Refusal>,
        wall: i64,
    ) {
        let Ok(lease) = answer else { return };
        let Some(row) = state.rows.get_mut(&lease.node) else {
            return;
        };
        match (self.without, demand) {
            (Without::GreatestEnd, _) => row.until = row.until.min(wall + self.rules.lease),
            (Without::UsedEnd, RingDemand::End { .. }) => row.until = row.from.min(wall - 10),
            _ => {}
        }
    }
}
