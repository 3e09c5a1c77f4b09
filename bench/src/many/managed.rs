//! The ids in SQL alone beside Instagram's function, which is what servers without the extension have: cost and duplicates.

use crate::candidates::{Candidate, ROOMY};
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::Server;
use std::collections::HashSet;
use std::sync::Barrier;
use std::time::Instant;

/// A layout that is not built in, whose shard 1 is declared.
const DECLARED: &str = "time:41 shard:13 seq:9 epoch:2011-08-24T21:07:01.721Z";

/// A layout whose ticks are shorter than a call, so that each call moves the shard, as those do that are rarer than ticks.
const MOVED: &str = "time:52 shard:4 seq:2 unit:1us epoch:2020-01-01T00:00:00Z";

const CLIENTS: [usize; 3] = [1, 2, 8];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    server.connect("postgres").run(&format!(
        "SELECT mint_sql.shard_create(1, '{DECLARED}'), mint_sql.shard_create(1, '{MOVED}')"
    ));
    let forms = [
        Candidate::theirs("Instagram's PL/pgSQL", "insta5.next_id()"),
        Candidate::ours("in SQL", "mint_sql.snowflake_next_id(1)"),
        Candidate::ours(
            "in SQL, layout not built in",
            &format!("mint_sql.snowflake_next_id(1, '{DECLARED}')"),
        ),
        Candidate::ours(
            "in SQL, first of its tick",
            &format!("mint_sql.snowflake_next_id(1, '{MOVED}')"),
        ),
        Candidate::ours(
            "snowflake_next_id",
            &format!("snowflake_next_id(1, {ROOMY})"),
        ),
    ];
    let rounds = scale.pick(9, 5);
    let ids = scale.pick(20_000, 5_000);
    let transactions = scale.pick(4_000, 1_000);
    let mut table = Table::new(
        "managed",
        "Ids in SQL alone",
        &format!(
            "Microseconds per id of all sessions together, which draw {ids} ids each in `SELECT array_agg(f()) FROM (SELECT \
             generate_series(1, n) OFFSET 0) AS s`, or {transactions} in as many transactions, `SELECT f()` with \
             `synchronous_commit = on`; medians of {rounds} rounds in which all take turns. The ratio and its \
             quartiles are those of the rounds, to Instagram's function in the same round. Duplicates: ids that a session got \
             and another, or the same, had already, of all ids of the row. [Managed clouds](../../docs/guides/managed-clouds.md) \
             has the file."
        ),
        &[
            "generator", "sessions", "ids in a transaction", "us", "of Instagram's",
            "lower quartile", "upper quartile", "ids", "duplicates",
        ],
    );
    let runs = CLIENTS.map(|clients| [(clients, ids, false), (clients, transactions, true)]);
    for (clients, ids, alone) in runs.into_iter().flatten() {
        let mut taken = vec![Vec::new(); forms.len()];
        let mut repeated = vec![0; forms.len()];
        for round in 0..rounds {
            report::progress(&format!(
                "  {clients} sessions, {} in a transaction, round {} of {rounds}",
                if alone { 1 } else { ids },
                round + 1
            ));
            for ((form, taken), repeated) in forms.iter().zip(&mut taken).zip(&mut repeated) {
                let (nanos, duplicates) = draw(server, clients, form, ids, alone);
                taken.push(nanos / 1e3 / (clients * ids) as f64);
                *repeated += duplicates;
            }
        }
        for ((form, own), repeated) in forms.iter().zip(&taken).zip(&repeated) {
            let ratios: Vec<f64> = own
                .iter()
                .zip(&taken[0])
                .map(|(own, base)| own / base)
                .collect();
            let ratio = Spread::of(&ratios);
            table.row(&[
                form.name.to_owned(),
                clients.to_string(),
                if alone { 1 } else { ids }.to_string(),
                number(Spread::of(own).median),
                number(ratio.median),
                number(ratio.quartiles.0),
                number(ratio.quartiles.1),
                (clients * ids * rounds).to_string(),
                repeated.to_string(),
            ]);
        }
    }
    report.add(table);
}

/// Returns the nanoseconds until the last session has its ids, and how many of them are not the first of their value.
fn draw(
    server: &Server,
    clients: usize,
    form: &Candidate,
    ids: usize,
    alone: bool,
) -> (f64, usize) {
    let call = form.expression();
    let query =
        format!("SELECT array_agg({call}) FROM (SELECT generate_series(1, {ids}) OFFSET 0) AS s");
    let single = format!("SELECT {call}");
    let start = Barrier::new(clients + 1);
    std::thread::scope(|scope| {
        let drawing: Vec<_> = (0..clients)
            .map(|_| {
                let (start, query, single) = (&start, &query, &single);
                scope.spawn(move || {
                    let mut session = server.connect("postgres");
                    // Warms up: plans are made, and catalogs read.
                    session.run(&query.replace(&ids.to_string(), "100"));
                    session.run("SET synchronous_commit = on");
                    start.wait();
                    if alone {
                        return (0..ids).map(|_| session.one(single)).collect();
                    }
                    session.one::<Vec<i64>>(query)
                })
            })
            .collect();
        start.wait();
        let began = Instant::now();
        let drawn: Vec<i64> = drawing
            .into_iter()
            .flat_map(|client| client.join().expect("a client"))
            .collect();
        let taken = began.elapsed().as_nanos() as f64;
        let distinct: HashSet<i64> = drawn.iter().copied().collect();
        (taken, drawn.len() - distinct.len())
    })
}
