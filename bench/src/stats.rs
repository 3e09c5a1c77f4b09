//! Medians, spreads and percentiles.

/// Median and quartiles of several rounds.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    pub median: f64,
    /// A quarter of the rounds is below the first, a quarter above the second.
    pub quartiles: (f64, f64),
}

impl Spread {
    pub fn of(rounds: &[f64]) -> Self {
        Self {
            median: percentile(rounds, 50.0),
            quartiles: (percentile(rounds, 25.0), percentile(rounds, 75.0)),
        }
    }

    /// Returns half the distance between the quartiles.
    pub fn noise(&self) -> f64 {
        (self.quartiles.1 - self.quartiles.0) / 2.0
    }

    /// Formats the median with the digits that the spread lets stand.
    pub fn rounded(&self) -> String {
        if self.noise() == 0.0 {
            return format!("{}", self.median);
        }
        let place = |value: f64| value.max(1e-9).log10().floor() as i32;
        let last = place(self.noise().max(self.median.abs() * 1e-2)).min(place(self.median.abs()));
        let step = 10_f64.powi(last);
        let decimals = (-last).max(0) as usize;
        format!("{:.decimals$}", (self.median / step).round() * step)
    }

    /// Returns whether the difference stands out of the noise.
    pub fn stands_out(&self) -> bool {
        self.median >= 1.0 && self.quartiles.0 > 0.0
    }

    /// Returns an upper bound of the difference: the median, or the upper quartile where it does not stand out.
    pub fn at_most(&self) -> f64 {
        if self.stands_out() {
            self.median
        } else {
            self.quartiles.1.max(1.0)
        }
    }

    /// Formats the median of the difference, or a bound where it does not stand out.
    pub fn shown(&self) -> String {
        if self.stands_out() {
            self.rounded()
        } else {
            format!("under {:.0}", self.at_most().ceil())
        }
    }
}

/// Returns the ratios of two measures, round by round.
pub fn ratio(of: &[f64], to: &[f64]) -> Spread {
    let ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| of / to).collect();
    Spread::of(&ratios)
}

/// Returns the value that `share` percent of the values do not exceed; NaN of no values.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share / 100.0 * (sorted.len().saturating_sub(1)) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}
