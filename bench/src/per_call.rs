//! Nanoseconds per call, above a call that does nothing.

use crate::candidates::{self, Candidate, QUICK_START};
use crate::chart::{self, Axis, Bar};
use crate::report::{self, Report, Results, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, ratio};
use mint_cluster::{Server, Session};
use std::path::Path;
use std::time::Instant;

/// The bars of the chart in README.md.
const FEW: [&str; 5] = [
    QUICK_START, "uuid_v7", "segment_next", "nextval", "gen_random_uuid",
];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let (candidates, missing) = candidates::all(&mut session);
    let calls = scale.pick(1_000_000, 200_000);
    let rounds = scale.pick(21, 9);
    let waits = "SELECT coalesce(sum(waits), 0)::bigint FROM mint.lanes WHERE shard = 5";
    let waited = session.one::<i64>(waits);
    let taken = in_rounds(&mut session, &candidates, calls, rounds);
    let waited = session.one::<i64>(waits) - waited;
    let of = |name: &str| {
        let place = candidates
            .iter()
            .position(|candidate| candidate.name == name);
        &taken[place.expect("a candidate")]
    };
    let (nextval, clock) = (of("nextval"), of("clock_timestamp"));
    let mut costs: Vec<_> = candidates
        .iter()
        .zip(&taken)
        .map(|(candidate, taken)| {
            (
                candidate,
                Spread::of(taken),
                ratio(taken, nextval),
                ratio(taken, clock),
            )
        })
        .collect();
    costs.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    let mut table = Table::new(
        "per_call",
        "Cost of a call",
        &format!(
            "A call in `SELECT count(f()) FROM (SELECT generate_series(1, n) AS i OFFSET 0) AS s`, less the same with an empty \
             call right before or after it: `pg_backend_pid()`, or `abs(argument)` if the argument differs from row to row. \
             Ratios are those of a round, nanoseconds those of this machine: the median of {rounds} rounds, with the digits \
             that half the distance of the quartiles lets stand. `under` means that the difference is within the measurement \
             noise. `{QUICK_START}` is the call of the quick start. Its shard has 1,024,000 ids a second, and each round takes \
             {calls} at once, ahead of the clock; the other candidates give the clock time to catch up, and {waited} calls had \
             to wait. `room` is a layout with 131,072 ids a millisecond."
        ),
        &[
            "generator", "of nextval", "of clock_timestamp", "ns", "lower quartile",
            "upper quartile",
        ],
    );
    for (candidate, cost, of_nextval, of_clock) in &costs {
        let shown = |ratio: &Spread| {
            if cost.stands_out() {
                ratio.rounded()
            } else {
                format!("under {:.3}", ratio.quartiles.1)
            }
        };
        table.row(&[
            candidate.name.to_owned(),
            shown(of_nextval),
            shown(of_clock),
            cost.shown(),
            number(cost.quartiles.0),
            number(cost.quartiles.1),
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
        .map(|(candidate, cost, of_nextval, _)| Bar {
            name: candidate.name.to_owned(),
            value: cost.at_most(),
            label: format!("{} ({} ns)", of_nextval.rounded(), cost.shown()),
            ours: candidate.ours,
        })
        .collect();
    chart::bars(
        &report.place("per_call_all.svg"),
        "Cost of a call: of nextval, and in nanoseconds",
        Axis::Log("nanoseconds above an empty call, log scale (green: pg_mint)"),
        &bars,
    );
    let few: Vec<_> = bars
        .into_iter()
        .filter(|bar| FEW.contains(&bar.name.as_str()))
        .collect();
    chart::few_bars(&report.place("per_call.svg"), "A call; nextval is 1", &few);
    table.chart("per_call.svg", "Cost of a call of five generators");
    table.chart("per_call_all.svg", "Cost of a call of all generators");
    report.add(table);
}

/// Returns the chart of a document, which is so many folders deep.
pub fn draw(results: &Path, folders: usize) -> String {
    let calls = Results::read(results, "per_call.csv");
    let text = FEW.map(|name| format!("{name} {}", calls.cell(&[name], "of nextval")));
    let up = "../".repeat(folders);
    format!(
        "![Cost of a call, that of nextval as 1: {}]({up}bench/results/per_call.svg)\n",
        text.join(", ")
    )
}

/// Returns the nanoseconds of each candidate's call above an empty call: `calls` of each in every round, fewer of slow ones.
pub fn net(
    session: &mut Session,
    candidates: &[Candidate],
    calls: u32,
    rounds: usize,
) -> Vec<Spread> {
    let taken = in_rounds(session, candidates, calls, rounds);
    taken.iter().map(|taken| Spread::of(taken)).collect()
}

/// Returns the same for each round.
fn in_rounds(
    session: &mut Session,
    candidates: &[Candidate],
    calls: u32,
    rounds: usize,
) -> Vec<Vec<f64>> {
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
    taken
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
