//! Nanoseconds a call, and ids a second of eight sessions.

use super::contenders::{Contender, Part};
use crate::many::sessions::{self, BATCH};
use crate::per_call;
use crate::report::{Report, Table, number, progress};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::Server;
use std::collections::BTreeMap;
use std::time::Duration;

const SESSIONS: usize = 8;

pub fn measure(server: &Server, contenders: &[Contender], scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let contenders: Vec<Contender> = contenders
        .iter()
        .filter(|contender| contender.is_in(Part::Calls))
        .cloned()
        .collect();
    let tables: BTreeMap<&str, String> = contenders
        .iter()
        .enumerate()
        .map(|(number, contender)| (contender.name, format!("compare_{number}")))
        .collect();
    for contender in &contenders {
        contender
            .create(&mut session, &tables[contender.name])
            .expect("a table");
    }
    let rounds = scale.pick(11, 5);
    let span = Duration::from_millis(scale.pick(1_000, 200));
    let mut costs = BTreeMap::new();
    let mut rates: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    super::in_groups(&mut session, &contenders, |session, group| {
        let candidates: Vec<_> = group
            .iter()
            .map(|contender| contender.candidate(&tables[contender.name]))
            .collect();
        let calls = scale.pick(1_000_000, 100_000);
        let spreads = per_call::net(session, &candidates, calls, rounds);
        costs.extend(
            candidates
                .iter()
                .map(|candidate| candidate.name)
                .zip(spreads),
        );
        for round in 0..scale.pick(5, 3) {
            progress(&format!("  {SESSIONS} sessions, round {}", round + 1));
            for candidate in &candidates {
                let rate = sessions::million_per_second(server, SESSIONS, span, candidate);
                rates.entry(candidate.name).or_default().push(rate);
            }
        }
    });
    let nextval = costs["identity"].at_most();
    let mut table = Table::new(
        "calls",
        "Calls",
        &format!(
            "Nanoseconds of a call in `SELECT count(f()) FROM (SELECT generate_series(1, n) AS i OFFSET 0) AS s`, less those of an \
             empty call, the median of {rounds} rounds in which all take turns; `under` means below the measurement noise. \
             Million ids a second of {SESSIONS} sessions together, each of which asks for {BATCH} in a query, again and again. \
             ± is half the distance between the quartiles. `session_cache` is set for the whole server, so its rounds come after \
             those of the others."
        ),
        &["id", "ns", "±", "of nextval", "million a second", "± of it"],
    );
    for contender in &contenders {
        let cost: &Spread = &costs[contender.name];
        let rate = Spread::of(&rates[contender.name]);
        table.row(&[
            contender.name.to_owned(),
            cost.shown(),
            number(cost.noise()),
            format!("{:.3}", cost.at_most() / nextval),
            number(rate.median),
            number(rate.noise()),
        ]);
        contender.drop(&mut session, &tables[contender.name]);
    }
    report.add(table);
}
