//! Medians, spreads and percentiles.

use crate::report::number;

/// What several rounds gave.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    pub median: f64,
    /// A quarter of the rounds was below, a quarter above.
    pub quartiles: (f64, f64),
}

impl Spread {
    pub fn of(rounds: &[f64]) -> Self {
        Self {
            median: percentile(rounds, 50.0),
            quartiles: (percentile(rounds, 25.0), percentile(rounds, 75.0)),
        }
    }

    /// Half of the distance between the quartiles.
    pub fn noise(&self) -> f64 {
        (self.quartiles.1 - self.quartiles.0) / 2.0
    }

    /// Whether a difference is told from nothing.
    pub fn stands_out(&self) -> bool {
        self.median >= 1.0 && self.quartiles.0 > 0.0
    }

    /// The largest that a difference can well be: the median, or what three quarters of the rounds are below where it
    /// does not stand out.
    pub fn at_most(&self) -> f64 {
        if self.stands_out() {
            self.median
        } else {
            self.quartiles.1.max(1.0)
        }
    }

    /// The median of a difference, or a bound where it does not stand out.
    pub fn shown(&self) -> String {
        if self.stands_out() {
            number(self.median)
        } else {
            format!("under {:.0}", self.at_most().ceil())
        }
    }
}

/// The value that `share` percent of the values do not exceed; of nothing, not a number.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share / 100.0 * (sorted.len().saturating_sub(1)) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
