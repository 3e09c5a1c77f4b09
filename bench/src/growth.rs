//! Cost of a call by the number of lanes, users, and ids already issued.

use crate::candidates::{Candidate, ROOMY};
use crate::chart::{self, Line};
use crate::per_call;
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use mint_cluster::{Server, Session};

const LANES: [u32; 7] = [1, 8, 64, 512, 1_000, 4_096, 8_192];
const USERS: [u32; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Returns the place of row `i` among `many`, in order.
fn in_order(many: u32) -> String {
    format!("(i % {many})::bigint")
}

/// Returns the place of row `i` among `many`, at random.
fn at_random(many: u32) -> String {
    format!("(hashint4(i) & 2147483647)::bigint % {many}")
}

fn table() -> Table {
    Table::new(
        "growth",
        "Cost against what has accumulated",
        "Cost of a call when many lanes or users of user sequences are in shared memory: nanoseconds above an empty \
         call with the same argument, the quartiles of the rounds, and the ratio to the first row of the same kind. \
         All users have drawn before; they draw in the order of their ids, or in random order. `pg_mint.user_memory` \
         is 128 MB, of which ten million users fill three fifths.",
        &[
            "what", "how many", "ns", "lower quartile", "upper quartile", "of the first",
        ],
    )
}

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let mut table = table();
    let users = if scale.quick { &USERS[..4] } else { &USERS };
    let lane = "snowflake_next_id(({})::int, 'time:36 shard:13 seq:14 unit:1ms epoch:2026-01-01T00:00:00Z')";
    let user = "user_sequence_next('bench_family', {})";
    type Place = fn(u32) -> String;
    let orders: [(&str, Place); 2] = [("in order", in_order), ("at random", at_random)];
    let calls = scale.pick(1_000_000, 200_000);
    let rounds = scale.pick(11, 5);
    let mut lines = Vec::new();
    for (kind, call, steps) in [("lanes", lane, &LANES[..]), ("users", user, users)] {
        report::progress(&format!("  {kind}"));
        let mut points = [Vec::new(), Vec::new()];
        // Both orders at each step, as memory that has grown does not shrink.
        for &many in steps {
            for ((order, place), points) in orders.iter().zip(&mut points) {
                let what = format!("{kind} {order}");
                let candidate = Candidate::ours(kind, call).of(&place(many));
                if let Err(reason) = candidate.try_out(&mut session) {
                    table.note(&format!("Not measured: {what}: {reason}."));
                    continue;
                }
                call_for_each(&mut session, call, many);
                let cost = per_call::net(&mut session, &[candidate], calls, rounds)[0];
                points.push((f64::from(many), cost.median));
                let first = points.first().map_or(cost.median, |&(_, first)| first);
                table.row(&[
                    what,
                    many.to_string(),
                    cost.shown(),
                    number(cost.quartiles.0),
                    number(cost.quartiles.1),
                    format!("{:.2}", cost.median / first),
                ]);
            }
        }
        for ((order, _), points) in orders.iter().zip(points) {
            lines.push(Line::new(&format!("{kind} {order}"), points));
        }
    }
    chart::lines(
        &report.place("growth.svg"),
        "Cost against what has accumulated",
        ("how many, log scale", "nanoseconds above an empty call"),
        &lines,
    );
    table.chart("growth.svg", "Cost against what has accumulated");
    report.add(table);
    measure_issued(server, scale, report);
}

/// Calls once with each argument below `many`.
fn call_for_each(session: &mut Session, call: &str, many: u32) {
    let each = call.replace("{}", "i");
    session.one::<i64>(&format!(
        "SELECT count({each}) FROM (SELECT generate_series(0, {many}::bigint - 1) AS i OFFSET 0) AS s"
    ));
}

/// Measures the same call after more and more ids.
fn measure_issued(server: &Server, scale: Scale, report: &mut Report) {
    let mut issued = 0;
    let mut session = server.connect("postgres");
    let mut table = Table::new(
        "issued",
        "Cost against ids already issued",
        "Nanoseconds per call above an empty call, on one lane.",
        &[
            "ids issued before", "ns", "lower quartile", "upper quartile",
        ],
    );
    let lane = Candidate::ours("lane", &format!("snowflake_next_id(2, {ROOMY})"));
    let calls = scale.pick(1_000_000, 200_000);
    for more in scale.pick([1, 10, 100], [1, 5, 10]) {
        report::progress(&format!("  {more} million ids more"));
        session.one::<i64>(&format!(
            "SELECT count({}) FROM (SELECT generate_series(1, {more} * 1000000) OFFSET 0) AS s",
            lane.expression()
        ));
        issued += more;
        let cost = per_call::net(&mut session, std::slice::from_ref(&lane), calls, 7)[0];
        table.row(&[
            format!("{issued} million and more"),
            cost.shown(),
            number(cost.quartiles.0),
            number(cost.quartiles.1),
        ]);
    }
    report.add(table);
}
