//! Nanoseconds per call, above a call that does nothing.

use crate::candidates::{self, Candidate};
use crate::chart::{self, Axis, Bar};
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::{Server, Session};
use std::time::Instant;

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let (candidates, missing) = candidates::all(&mut session);
    let calls = scale.pick(1_000_000, 200_000);
    let rounds = scale.pick(21, 9);
    let costs = net(&mut session, &candidates, calls, rounds);
    let mut costs: Vec<_> = candidates.iter().zip(costs).collect();
    costs.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));

    let nextval = costs
        .iter()
        .find(|(candidate, _)| candidate.name == "nextval")
        .map_or(f64::NAN, |(_, cost)| cost.median);
    let mut table = Table::new(
        "per_call",
        "Cost of a call",
        "Nanoseconds per call in `SELECT count(f()) FROM (SELECT generate_series(1, n) AS i OFFSET 0) AS s`, less \
         the same with an empty call right before or after it: `pg_backend_pid()`, or `abs(argument)` if the \
         argument differs from row to row. Median and quartiles of the rounds. `under` means that the difference is \
         within the measurement noise.",
        &[
            "generator", "ns", "lower quartile", "upper quartile", "of nextval",
        ],
    );
    for (candidate, cost) in &costs {
        let under = if cost.stands_out() { "" } else { "under " };
        table.row(&[
            candidate.name.to_owned(),
            cost.shown(),
            number(cost.quartiles.0),
            number(cost.quartiles.1),
            format!("{under}{:.3}", cost.at_most() / nextval),
        ]);
    }
    table.note(
        "Generators of ids with a time read the clock, so they cost more than `clock_timestamp`; counters do not \
         read it. `auto_random` calls `nextval`, so it costs more than that.",
    );
    for reason in missing {
        table.note(&format!("Not measured: {reason}."));
    }
    let bars: Vec<_> = costs
        .iter()
        .map(|(candidate, cost)| Bar {
            name: candidate.name.to_owned(),
            value: cost.at_most(),
            label: cost.shown(),
            ours: candidate.ours,
        })
        .collect();
    chart::bars(
        &report.place("per_call.svg"),
        "Cost of a call",
        Axis::Log("nanoseconds above an empty call, log scale (green: pg_mint)"),
        &bars,
    );
    table.chart("per_call.svg", "Cost of a call");
    report.add(table);
}

/// Returns the nanoseconds of each candidate's call above an empty call: `calls` of each in every round, fewer of slow ones.
pub fn net(
    session: &mut Session,
    candidates: &[Candidate],
    calls: u32,
    rounds: usize,
) -> Vec<Spread> {
    /// The most nanoseconds of a candidate in a round.
    const TURN: f64 = 3e8;
    let many: Vec<u32> = candidates
        .iter()
        .map(|candidate| {
            // Warms up as well.
            let one = time(session, &candidate.expression(), 0, calls / 10);
            calls.min((TURN / one) as u32).max(1)
        })
        .collect();
    let mut taken = vec![Vec::new(); candidates.len()];
    for round in 0..rounds {
        if candidates.len() > 2 {
            report::progress(&format!("  round {} of {rounds}", round + 1));
        }
        for ((candidate, &many), taken) in candidates.iter().zip(&many).zip(&mut taken) {
            let (call, empty) = (candidate.expression(), candidate.empty());
            let first = round as u32 * many;
            // The order alternates, as the first of the two can be slower or faster.
            taken.push(if round % 2 == 0 {
                let nothing = time(session, &empty, first, many);
                time(session, &call, first, many) - nothing
            } else {
                time(session, &call, first, many) - time(session, &empty, first, many)
            });
        }
    }
    taken.iter().map(|taken| Spread::of(taken)).collect()
}

/// Returns the nanoseconds for each of `many` rows, from row `first` on, of a query that makes a call.
fn time(session: &mut Session, call: &str, first: u32, many: u32) -> f64 {
    let last = first + many;
    let began = Instant::now();
    session.one::<i64>(&format!(
        "SELECT count({call}) FROM (SELECT generate_series({first} + 1, {last}) AS i OFFSET 0) AS s"
    ));
    began.elapsed().as_nanos() as f64 / f64::from(many)
}
