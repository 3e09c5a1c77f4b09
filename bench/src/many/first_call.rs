//! What a session pays for its first call: time on a new connection, and memory.

use crate::candidates::{self, QUICK_START};
use crate::report::{Report, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, percentile, ratio};
use mint_cluster::Server;
use postgres::{Client, NoTls};
use std::time::Instant;

/// A statement without a generator, to which the others are compared, and the server's own generator.
const FORMS: [&str; 5] = [
    "1", "gen_random_uuid()", QUICK_START, "uuid_v7()", "objectid()",
];

/// Takings of sessions of one server: milliseconds, and memory in kB.
type Taken = [(Vec<f64>, Vec<f64>); FORMS.len()];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let rounds = scale.pick(400, 100);
    let other = crate::builder("bench_preloaded")
        .conf("shared_preload_libraries = 'pg_mint'")
        .start();
    candidates::prepare(&other);
    let servers = [("no", server), ("yes", &other)];
    let mut taken: [Taken; 2] = Default::default();
    for (_, server) in servers {
        // The first session of a server makes the memory that others attach.
        for form in FORMS {
            drop(first_call(server, form));
        }
    }
    for round in 0..rounds {
        for ((_, server), taken) in servers.iter().zip(&mut taken) {
            for turn in 0..FORMS.len() {
                // Each comes after each other one.
                let place = turn * (round % 4 + 1) % FORMS.len();
                let begin = Instant::now();
                let mut session = first_call(server, FORMS[place]);
                let (times, memory) = &mut taken[place];
                times.push(begin.elapsed().as_secs_f64() * 1e3);
                if round % 100 == 0 {
                    memory.push(private_kilobytes(&mut session));
                }
            }
        }
    }
    let mut table = Table::new(
        "first_call",
        "First call of a session",
        &format!(
            "A new connection and its first statement, `SELECT f()`: the median of {rounds} rounds in which all take turns, on two \
             servers, one of which has `shared_preload_libraries = 'pg_mint'`; and the ratios to `SELECT 1` without it in the \
             same round. Memory is what the session has written of its own, in kB more than after `SELECT 1` on its server; \
             shared memory does not count."
        ),
        &[
            "first statement", "preloaded", "ms", "of SELECT 1", "lower quartile",
            "upper quartile", "kB",
        ],
    );
    let base = &taken[0][0].0;
    for ((preloaded, _), taken) in servers.iter().zip(&taken) {
        for (form, (times, memory)) in FORMS.iter().zip(taken) {
            let ratios = ratio(times, base);
            let middle = |memory: &[f64]| percentile(memory, 50.0);
            table.row(&[
                format!("SELECT {form}"),
                (*preloaded).to_owned(),
                number(Spread::of(times).median),
                ratios.rounded(),
                number(ratios.quartiles.0),
                number(ratios.quartiles.1),
                format!("{:.0}", (middle(memory) - middle(&taken[0].1)).max(0.0)),
            ]);
        }
    }
    table.note(
        "PostgreSQL 15 sorts all settings again for each one that a library defines; later versions do not.",
    );
    report.add(table);
}

/// Opens a session whose first statement calls the form.
fn first_call(server: &Server, form: &str) -> Client {
    let mut session = server
        .config("postgres", "postgres")
        .connect(NoTls)
        .expect("a connection");
    session
        .simple_query(&format!("SELECT {form}"))
        .expect("a form that works");
    session
}

/// Returns how much a session has written of the memory that it shares with no other. Pages of a file that was installed
/// lately count as written until they are on disk: they are not anonymous.
fn private_kilobytes(session: &mut Client) -> f64 {
    let row = session.query_one("SELECT pg_backend_pid()", &[]);
    let pid: i32 = row.expect("the session's process").get(0);
    let maps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).expect("the session's memory");
    let mut written = 0.0;
    // The lines of a mapping say how many of its pages only this process has written, and then how many are not the file's.
    let mut private: f64 = 0.0;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (name, kilobytes) = (
            words.next(),
            words.next().and_then(|word| word.parse().ok()),
        );
        match (name, kilobytes) {
            (Some("Private_Dirty:"), Some(kilobytes)) => private = kilobytes,
            (Some("Anonymous:"), Some(kilobytes)) => written += private.min(kilobytes),
            _ => {}
        }
    }
    written
}
