//! Nanoseconds per call, above a query that calls nothing.

use crate::candidates::{self, Candidate};
use crate::chart;
use crate::report::{self, Report, Table, number};
use crate::stats::Spread;
use crate::{Scale, Server};
use mint_cluster::Session;
use std::time::Instant;

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let (mut candidates, missing) = candidates::all(&mut session);
    let calls = scale.pick(1_000_000, 200_000);
    let rounds = scale.pick(11, 5);
    let costs = net(&mut session, &mut candidates, calls, rounds);

    let nextval = costs
        .iter()
        .find(|(candidate, _)| candidate.name == "nextval")
        .map_or(f64::NAN, |(_, cost)| cost.median);
    let mut table = Table::new(
        "per_call",
        "Cost of a call",
        "Nanoseconds per call in `SELECT count(f) FROM generate_series(1, n)`, less what `count(i)` takes. \
         Median of the rounds; ± is half the distance between the quartiles.",
        &["generator", "ns", "±", "of nextval"],
    );
    for (candidate, cost) in &costs {
        table.row(&[
            candidate.name.to_owned(),
            number(cost.median),
            number(cost.median * cost.noise().abs()),
            format!("{:.3}", cost.median / nextval),
        ]);
    }
    for reason in missing {
        table.note(&format!("Not measured: {reason}."));
    }
    let bars: Vec<_> = costs
        .iter()
        .map(|(candidate, cost)| {
            (
                candidate.name.to_owned(),
                cost.median.max(1.0),
                candidate.ours,
            )
        })
        .collect();
    chart::bars(
        &report.place("per_call.svg"),
        "Cost of a call",
        "nanoseconds above an empty call (log scale)",
        &bars,
    );
    table.chart("per_call.svg");
    report.add(table);
}

/// The cost of each candidate's call, cheapest first.
pub fn net(
    session: &mut Session,
    candidates: &mut Vec<Candidate>,
    calls: u32,
    rounds: usize,
) -> Vec<(Candidate, Spread)> {
    let mut taken = vec![Vec::new(); candidates.len() + 1];
    for round in 0..=rounds {
        if candidates.len() > 2 {
            report::progress(&format!("  round {round} of {rounds}"));
        }
        for (place, call) in std::iter::once("i")
            .chain(candidates.iter().map(|candidate| candidate.call.as_str()))
            .enumerate()
        {
            let began = Instant::now();
            session.one::<i64>(&format!(
                "SELECT count({call}) FROM generate_series(1, {calls}) AS i"
            ));
            // The first round warms up.
            if round > 0 {
                taken[place].push(began.elapsed().as_nanos() as f64 / f64::from(calls));
            }
        }
    }
    let empty = taken.remove(0);
    let mut costs: Vec<_> = candidates
        .drain(..)
        .zip(taken)
        .map(|(candidate, rounds)| {
            let net: Vec<f64> = rounds
                .iter()
                .zip(&empty)
                .map(|(all, none)| all - none)
                .collect();
            (candidate, Spread::of(&net))
        })
        .collect();
    costs.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    costs
}
