//! One lane on many cores: measured here, and a model of it on machines with more cores.

use crate::candidates::{Candidate, ROOMY};
use crate::chart::{self, Line};
use crate::many::line::{Times, Turn, simulate};
use crate::many::sessions::{self, CLIENTS};
use crate::report::{self, Report, Results, Table, number};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::Server;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// A lane, and how many ids a session takes of it at once.
const FORMS: [(&str, u32); 3] = [("one lane", 1), ("cache 16", 16), ("cache 256", 256)];
const APART: &str = "a lane each";

/// Cores of the machines of the model.
const CORES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 96, 128];
/// Reading the clock and computing the next id, in nanoseconds: `clock_timestamp` in the bench, and a little.
const BETWEEN: f64 = 25.0;
/// Nanoseconds of a row of a bulk INSERT and of a transaction with one row, with their ids: the least of them.
const WORK: [(&str, f64); 2] = [("bulk INSERT", 1_500.0), ("transactions", 20_000.0)];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let span = Duration::from_millis(scale.pick(1_000, 400));
    let rounds = scale.pick(5, 3);
    let shared = format!("snowflake_next_id(1, {ROOMY})");
    let apart = format!("snowflake_next_id(pg_backend_pid() & 31, {ROOMY})");
    let mut forms: Vec<(Candidate, u32)> = FORMS
        .iter()
        .map(|&(name, many)| (Candidate::ours(name, &shared), many))
        .collect();
    forms.push((Candidate::ours(APART, &apart), 1));
    let mut rates = vec![[const { Vec::new() }; CLIENTS.len()]; forms.len()];
    let mut admin = server.connect("postgres");
    for round in 0..rounds {
        report::progress(&format!("  round {} of {rounds}", round + 1));
        for ((form, many), rates) in forms.iter().zip(&mut rates) {
            admin.set_for_server("pg_mint.session_cache", &many.to_string());
            for (&clients, rates) in CLIENTS.iter().zip(rates) {
                rates.push(sessions::million_per_second(server, clients, span, form));
            }
        }
    }
    admin.set_for_server("pg_mint.session_cache", "1");
    let columns = sessions::columns("lane");
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "word",
        "One lane, many sessions",
        "Million ids per second of all sessions together, by number of sessions. In all rows but the last, all \
         sessions use one lane; `cache` is `pg_mint.session_cache`.",
        &columns,
    );
    for ((form, _), rates) in forms.iter().zip(&rates) {
        let mut cells = vec![form.name.to_owned()];
        cells.extend(rates.iter().map(|rates| number(Spread::of(rates).median)));
        table.row(&cells);
    }
    report.add(table);
    draw(report.place("").as_path());
}

/// The model, fitted to the measured rates.
struct Model {
    times: Times,
    /// Cores of the machine that was measured.
    cores: usize,
}

impl Model {
    /// Fits the times: private work to a lane for each session, an id of the cache to a large one, and the move of the line to
    /// what one lane makes of that.
    fn fit(results: &Results, cores: usize) -> Self {
        let rate = |form: &str, sessions: usize| -> f64 {
            let cell = results.cell(&[form], &sessions.to_string());
            cell.parse().expect("a rate")
        };
        let busy = || CLIENTS.iter().filter(|&&sessions| sessions >= cores);
        let apart_rates: Vec<f64> = busy().map(|&sessions| rate(APART, sessions)).collect();
        let each = |rates: &[f64]| 1e3 * cores as f64 / mean(rates);
        let private = each(&apart_rates) - BETWEEN;
        let cached: Vec<f64> = busy().map(|&sessions| rate(FORMS[2].0, sessions)).collect();
        let cached = each(&cached) - private;
        let shares: Vec<f64> = busy()
            .map(|&sessions| rate(FORMS[0].0, sessions) / rate(APART, sessions))
            .collect();
        let measured = mean(&shares);
        let times = |transfer| Times {
            private,
            between: BETWEEN,
            transfer,
            cached,
        };
        let share = |transfer| {
            let fair = simulate(cores, times(transfer), 1, Turn::Fair);
            fair / apart(cores, times(transfer))
        };
        let distance = |transfer: f64| (share(transfer) / measured).ln().abs();
        let best = (2..=200)
            .step_by(2)
            .map(f64::from)
            .min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        Self {
            times: times(best.unwrap_or(1.0)),
            cores,
        }
    }
}

/// Returns the geometric mean.
fn mean(values: &[f64]) -> f64 {
    let logarithms = values.iter().map(|value| value.ln()).sum::<f64>();
    (logarithms / values.len() as f64).exp()
}

/// Returns the ids per nanosecond of cores that share nothing.
fn apart(cores: usize, times: Times) -> f64 {
    cores as f64 / (times.private + times.between)
}

/// Draws the curves from the recorded results, and returns what the document says of them.
pub fn draw(results: &Path) -> String {
    let recorded = Results::read(results, "word.csv");
    let model = Model::fit(&recorded, 2);
    draw_fit(results, &recorded, &model);
    let lines = curves(&model);
    let text = describe(&recorded, &model, &lines);
    chart::lines_by_powers(
        &results.join("word_cores.svg"),
        "One lane on many cores, by the model",
        ("cores", "million ids per second, all together"),
        &lines,
    );
    text
}

/// Draws what was measured beside the model on as many cores.
fn draw_fit(results: &Path, recorded: &Results, model: &Model) {
    let mut lines = Vec::new();
    for (name, many) in FORMS.into_iter().chain([(APART, 0)]) {
        let measured = |&sessions: &usize| {
            let cell = recorded.cell(&[name], &sessions.to_string());
            (sessions as f64, cell.parse().unwrap_or_default())
        };
        lines.push(Line::new(name, CLIENTS.iter().map(measured).collect()));
        let modeled = |&sessions: &usize| (sessions as f64, model.at(sessions, many) * 1e3);
        let points = CLIENTS.iter().map(modeled).collect();
        lines.push(Line::new(&format!("{name}, model"), points));
    }
    chart::lines(
        &results.join("word.svg"),
        "One lane: measured on two cores, and the model",
        ("sessions", "million ids per second, all together"),
        &lines,
    );
}

impl Model {
    /// Returns the ids per nanosecond of so many sessions, which share the cores of the machine that was measured. None of
    /// them at once is a lane each.
    fn at(&self, sessions: usize, many: u32) -> f64 {
        let cores = sessions.min(self.cores);
        match many {
            0 => apart(cores, self.times),
            many => simulate(cores, self.times, many, Turn::Fair),
        }
    }

    /// The same with other work, on machines with more cores.
    fn curve(&self, private: f64, many: u32, turn: Turn) -> Vec<(f64, f64)> {
        let times = Times {
            private,
            ..self.times
        };
        let at = |&cores: &usize| (cores as f64, simulate(cores, times, many, turn) * 1e3);
        CORES.iter().map(at).collect()
    }
}

/// Returns the curves of the model: of lanes that are shared, and of a lane each.
fn curves(model: &Model) -> Vec<Line> {
    let private = model.times.private;
    let mut lines: Vec<Line> = FORMS
        .iter()
        .map(|&(name, many)| Line::new(name, model.curve(private, many, Turn::Fair)))
        .collect();
    let kept = model.curve(private, 1, Turn::Kept);
    lines.insert(1, Line::new("no swap fails", kept));
    let each = |&cores: &usize| (cores as f64, apart(cores, model.times) * 1e3);
    lines.push(Line::new(APART, CORES.iter().map(each).collect()));
    for (name, private) in WORK {
        lines.push(Line::new(name, model.curve(private, 1, Turn::Fair)));
    }
    lines
}

/// Returns the tables of the document.
fn describe(recorded: &Results, model: &Model, lines: &[Line]) -> String {
    let Times {
        private,
        between,
        transfer,
        cached,
    } = model.times;
    let mut text = format!(
        "| Time of the model | ns | From |\n|---|---:|---|\n\
         | work of a session for an id, besides the lane | {private:.0} | 2 to 32 sessions with a lane each |\n\
         | between reading and swapping the word | {between:.0} | `clock_timestamp()`, and a little |\n\
         | moving the word to another core | {transfer:.0} | fitted to 2 to 32 sessions on one lane |\n\
         | an id from the session's cache | {cached:.0} | 2 to 32 sessions with `session_cache` 256 |\n\n"
    );
    text += "| Sessions | one lane, measured | model | a lane each, measured | model |\n|---:|---:|---:|---:|---:|\n";
    for sessions in CLIENTS {
        let measured = |form: &str| recorded.cell(&[form], &sessions.to_string()).to_owned();
        let modeled = |many| number(model.at(sessions, many) * 1e3);
        let _ = writeln!(
            text,
            "| {sessions} | {} | {} | {} | {} |",
            measured(FORMS[0].0),
            modeled(1),
            measured(APART),
            modeled(0)
        );
    }
    let names: Vec<&str> = lines.iter().map(Line::name).collect();
    let rule = "---:|".repeat(lines.len());
    let _ = writeln!(text, "\n| Cores | {} |\n|---:|{rule}", names.join(" | "));
    for (place, cores) in CORES.iter().enumerate() {
        let cells = lines.iter().map(|line| number(line.value(place)));
        let _ = writeln!(
            text,
            "| {cores} | {} |",
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
    text
}
