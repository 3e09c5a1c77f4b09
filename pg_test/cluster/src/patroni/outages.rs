//! Statistics of the faults of a cluster under Patroni.

use crate::patroni::check::Counts;
use crate::patroni::cluster::Mode;
use crate::patroni::faults::Fault;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The results of faults, by fault and mode.
#[derive(Default)]
pub struct Outages(BTreeMap<(Fault, Mode), Vec<Counts>>);

impl Outages {
    /// Adds a fault that was survived.
    pub fn add(&mut self, fault: Fault, mode: Mode, counts: Counts) {
        self.0.entry((fault, mode)).or_default().push(counts);
    }

    /// Returns whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Outages {
    /// A table of Markdown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "| Fault | Node | Times | No id for, median | Worst | Ids | Twice, with the key | Of rows | Ids of a deposed server | Of them twice | Last one after |"
        )?;
        write!(
            out,
            "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        )?;
        let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
        for ((fault, mode), all) in &self.0 {
            let sum = |part: fn(&Counts) -> usize| all.iter().map(part).sum::<usize>();
            let mut silences: Vec<Duration> = all.iter().map(|counts| counts.silence).collect();
            silences.sort_unstable();
            let [median, worst] =
                [silences.len() / 2, silences.len() - 1].map(|place| seconds(silences[place]));
            let deposed = sum(|counts| counts.deposed);
            let last = all.iter().map(|counts| counts.deposed_for).max();
            let last = match last.filter(|_| deposed > 0) {
                Some(last) => seconds(last),
                None => "-".to_owned(),
            };
            write!(
                out,
                "\n| {fault} | {mode} | {} | {median} | {worst} | {} | {} | {} | {deposed} | {} | {last} |",
                all.len(),
                sum(|counts| counts.ids),
                sum(|counts| counts.twice),
                sum(|counts| counts.rows_twice),
                sum(|counts| counts.deposed_twice),
            )?;
        }
        Ok(())
    }
}
