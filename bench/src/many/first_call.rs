//! The costs of a session's first call: time on a new connection, and memory.

use crate::candidates::{self, QUICK_START};
use crate::report::{Report, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, percentile, ratio};
use mint_cluster::Server;
use postgres::{Client, NoTls};
use std::time::Instant;

/// A statement without a generator, to which the others are compared, the server's own generator, and the function of a
/// library of pgrx that has no other.
const FORMS: [&str; 6] = [
    "1", "gen_random_uuid()", "empty_pgrx(5)", QUICK_START, "uuid_v7()", "objectid()",
];

/// Takings of sessions of one server and one form.
#[derive(Default)]
struct Taken {
    /// Milliseconds of the connection and its first statement.
    total: Vec<f64>,
    /// Milliseconds of the statement.
    statement: Vec<f64>,
    /// Memory in kB.
    memory: Vec<f64>,
}

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let rounds = scale.pick(400, 100);
    let other = crate::builder("bench_preloaded")
        .conf("shared_preload_libraries = 'pg_mint'")
        .start();
    candidates::prepare(&other);
    let servers = [("no", server), ("yes", &other)];
    let mut taken: [[Taken; FORMS.len()]; 2] = Default::default();
    for (_, server) in servers {
        let mut session = server.connect("postgres");
        session.run(&empty_library());
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
                let (mut session, statement) = first_call(server, FORMS[place]);
                let taken = &mut taken[place];
                taken.total.push(begin.elapsed().as_secs_f64() * 1e3);
                taken.statement.push(statement);
                if round % 100 == 0 {
                    taken.memory.push(private_kilobytes(&mut session));
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
             same round; and the median of the statement alone. `empty_pgrx` is in a library of pgrx without anything else, \
             which is not preloaded. Memory is what the session has written of its own, in kB more than after `SELECT 1` on its server; \
             shared memory does not count."
        ),
        &[
            "first statement", "preloaded", "ms", "of SELECT 1", "lower quartile",
            "upper quartile", "statement alone, ms", "kB",
        ],
    );
    let base = &taken[0][0].total;
    for ((preloaded, _), taken) in servers.iter().zip(&taken) {
        for (form, of_form) in FORMS.iter().zip(taken) {
            let ratios = ratio(&of_form.total, base);
            let middle = |values: &[f64]| percentile(values, 50.0);
            table.row(&[
                format!("SELECT {form}"),
                (*preloaded).to_owned(),
                number(Spread::of(&of_form.total).median),
                ratios.rounded(),
                number(ratios.quartiles.0),
                number(ratios.quartiles.1),
                number(middle(&of_form.statement)),
                format!(
                    "{:.0}",
                    (middle(&of_form.memory) - middle(&taken[0].memory)).max(0.0)
                ),
            ]);
        }
    }
    table.note(
        "PostgreSQL 15 sorts all settings again for each one that a library defines; later versions do not.",
    );
    report.add(table);
}

/// Returns the statement that creates the function of the empty library.
fn empty_library() -> String {
    let path = std::env::var("MINT_EMPTY").expect("MINT_EMPTY: the library that bench.sh builds");
    format!(
        "CREATE FUNCTION empty_pgrx(bigint) RETURNS bigint AS '{path}', 'empty_pgrx_wrapper' LANGUAGE c"
    )
}

/// Opens a session whose first statement calls the form, and returns the statement's milliseconds.
fn first_call(server: &Server, form: &str) -> (Client, f64) {
    let mut session = server
        .config("postgres", "postgres")
        .connect(NoTls)
        .expect("a connection");
    let begin = Instant::now();
    session
        .simple_query(&format!("SELECT {form}"))
        .expect("a form that works");
    (session, begin.elapsed().as_secs_f64() * 1e3)
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
