//! Medians, spreads and percentiles.

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

    /// Half of the distance between the quartiles, as a share of the median.
    pub fn noise(&self) -> f64 {
        (self.quartiles.1 - self.quartiles.0) / 2.0 / self.median
    }
}

/// The value that `share` percent of the values do not exceed; of nothing, not a number.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share / 100.0 * (sorted.len().saturating_sub(1)) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
