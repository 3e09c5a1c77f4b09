//! Whether a call costs more when there is more: lanes, users, ids already issued.

use crate::candidates::{Candidate, ROOMY};
use crate::chart::{self, Line};
use crate::per_call;
use crate::report::{self, Report, Table, number};
use crate::{Scale, Server};

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let mut table = Table::new(
        "growth",
        "Cost against what has accumulated",
        "Nanoseconds per call above a query that computes the same argument, and against the first row of its kind.",
        &["what", "how many", "ns", "of the first"],
    );
    let calls = scale.pick(1_000_000, 200_000);
    let rounds = scale.pick(7, 3);
    let mut lines = Vec::new();
    let mut grow = |what: &'static str, steps: &[i64], call: &dyn Fn(i64) -> String| {
        report::progress(&format!("  {what}"));
        let mut first = f64::NAN;
        let mut points = Vec::new();
        for &many in steps {
            let mut candidates = vec![
                Candidate {
                    name: "argument",
                    call: format!("(i % {many})::bigint"),
                    ours: false,
                },
                Candidate {
                    name: what,
                    call: call(many),
                    ours: true,
                },
            ];
            if session
                .try_one::<i64>(&format!(
                    "SELECT count({}) FROM (SELECT 1) AS s(i)",
                    call(many)
                ))
                .is_err()
            {
                return;
            }
            let costs = per_call::net(&mut session, &mut candidates, calls, rounds);
            let cost = |name: &str| {
                costs
                    .iter()
                    .find(|(candidate, _)| candidate.name == name)
                    .map_or(0.0, |(_, cost)| cost.median)
            };
            let ns = cost(what) - cost("argument");
            first = if first.is_nan() { ns } else { first };
            points.push((many as f64, ns));
            table.row(&[
                what.to_owned(),
                many.to_string(),
                number(ns),
                format!("{:.2}", ns / first),
            ]);
        }
        lines.push(Line::new(what, points));
    };
    let lanes = [1, 8, 64, 512, 1_000, 4_096, 8_192];
    grow("lanes", &lanes, &|many| {
        format!(
            "snowflake_next_id(i % {many}, 'time:36 node:13 seq:14 unit:1ms epoch:2026-01-01T00:00:00Z')"
        )
    });
    let users: &[i64] = if scale.quick {
        &[1_000, 100_000]
    } else {
        &[1_000, 10_000, 100_000, 1_000_000, 10_000_000]
    };
    grow("users in order", users, &|many| {
        format!("user_sequence_next('bench_family', i % {many})")
    });
    chart::lines(
        &report.place("growth.svg"),
        "Cost against what has accumulated",
        ("how many (log scale)", "nanoseconds per call"),
        &lines,
    );
    table.chart("growth.svg");
    report.add(table);
    issued(server, scale, report);
}

/// The same call after ever more ids.
fn issued(server: &Server, scale: Scale, report: &mut Report) {
    report::progress("  ids issued");
    let mut session = server.connect("postgres");
    let mut table = Table::new(
        "issued",
        "Cost against ids already issued",
        "Nanoseconds per call on one lane, from a full million at a time.",
        &["ids issued", "ns"],
    );
    let millions = scale.pick(20, 3);
    for million in 0..millions {
        let mut candidates = vec![Candidate {
            name: "lane",
            call: format!("snowflake_next_id(2, {ROOMY})"),
            ours: true,
        }];
        let costs = per_call::net(&mut session, &mut candidates, 250_000, 3);
        if million == 0 || million == millions - 1 || million == millions / 2 {
            table.row(&[
                format!("{} million", million + 1),
                number(costs[0].1.median),
            ]);
        }
    }
    report.add(table);
}
