//! What a session pays for its first call: time on a new connection, and memory.

use crate::candidates::QUICK_START;
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, ratio};
use mint_cluster::Server;
use postgres::{Client, NoTls};
use std::time::Instant;

/// A statement without a generator, to which the others are compared, and the server's own generator.
const FORMS: [&str; 5] = [
    "1", "gen_random_uuid()", QUICK_START, "uuid_v7()", "objectid()",
];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let rounds = scale.pick(400, 100);
    let mut table = Table::new(
        "first_call",
        "First call of a session",
        &format!(
            "A new connection and its first statement, `SELECT f()`: the median of {rounds} rounds in which all take turns, and \
             the ratios to `SELECT 1` in the same round, with and without `shared_preload_libraries = 'pg_mint'`. Memory is \
             what the session has written of its own, in kB more than after `SELECT 1`; shared memory does not count."
        ),
        &[
            "first statement", "preloaded", "ms", "of SELECT 1", "lower quartile",
            "upper quartile", "kB",
        ],
    );
    for (preloaded, libraries) in [("no", ""), ("yes", "pg_mint")] {
        server.configure(&format!("shared_preload_libraries = '{libraries}'"));
        server.restart();
        report::progress(&format!("  preloaded: {preloaded}"));
        rows(server, rounds, preloaded, &mut table);
    }
    server.configure("shared_preload_libraries = ''");
    server.restart();
    table.note(
        "PostgreSQL 15 sorts all settings again for each one that a library defines, which is half a millisecond for those \
         of pg_mint; later versions do not.",
    );
    report.add(table);
}

fn rows(server: &Server, rounds: usize, preloaded: &str, table: &mut Table) {
    // The first session of a server makes the memory that others attach.
    for form in FORMS {
        drop(first_call(server, form));
    }
    let mut taken = FORMS.map(|_| Vec::new());
    for _ in 0..rounds {
        for (form, taken) in FORMS.iter().zip(&mut taken) {
            let begin = Instant::now();
            let session = first_call(server, form);
            taken.push(begin.elapsed().as_secs_f64() * 1e3);
            drop(session);
        }
    }
    let memory = FORMS.map(|form| private_kilobytes(&mut first_call(server, form)));
    for ((form, times), kilobytes) in FORMS.iter().zip(&taken).zip(memory) {
        let ratios = ratio(times, &taken[0]);
        table.row(&[
            format!("SELECT {form}"),
            preloaded.to_owned(),
            number(Spread::of(times).median),
            ratios.rounded(),
            number(ratios.quartiles.0),
            number(ratios.quartiles.1),
            kilobytes.saturating_sub(memory[0]).to_string(),
        ]);
    }
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

/// Returns how much a session has written of the memory that it shares with no other.
fn private_kilobytes(session: &mut Client) -> u64 {
    let row = session.query_one("SELECT pg_backend_pid()", &[]);
    let pid: i32 = row.expect("the session's process").get(0);
    let maps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).expect("the session's memory");
    let mut is_private = false;
    let mut written = 0;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("Private_Dirty:"), Some(kilobytes)) if is_private => {
                written += kilobytes.parse().unwrap_or(0);
            }
            (Some(range), Some(rights)) if !range.ends_with(':') => {
                is_private = rights.ends_with('p');
            }
            _ => {}
        }
    }
    written
}
