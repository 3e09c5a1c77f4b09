//! One lane on many cores: measured here, and a model of it on machines with more cores.

use crate::candidates::{APART, Candidate, ROOMY};
use crate::chart::{self, Line};
use crate::many::line::{Times, Turn, simulate};
use crate::many::sessions::{self, CLIENTS};
use crate::many::swap::Costs;
use crate::report::{self, Report, Results, Table, number};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::Server;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// The word that sessions share.
#[derive(Clone, Copy, PartialEq)]
enum Word {
    /// A lane, of which a session takes so many ids at once, and reads the clock between reading and swapping it.
    Lane(u32),
    /// A word that is swapped without reading the clock in between.
    Plain,
    /// Each session has a word of its own.
    Apart,
}

const FORMS: [(&str, Word); 6] = [
    ("one lane", Word::Lane(1)),
    ("session_cache 16", Word::Lane(16)),
    ("session_cache 100", Word::Lane(100)),
    ("a lane each", Word::Apart),
    ("uuid_v7", Word::Plain),
    ("segment_next", Word::Plain),
];

/// Cores of the machines of the model.
const CORES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Nanoseconds from reading to swapping, besides those of the clock.
const COMPUTING: f64 = 5.0;
/// Nanoseconds of a row of a `COPY` and of a transaction with one row, with their ids: the least of them.
const WORK: [(&str, f64); 2] = [("bulk load", 600.0), ("transactions", 20_000.0)];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let span = Duration::from_millis(scale.pick(1_000, 400));
    let rounds = scale.pick(5, 3);
    let shared = format!("snowflake_next_id(1, {ROOMY})");
    let forms = FORMS.map(|(name, word)| {
        let call = match (name, word) {
            ("uuid_v7", _) => "uuid_v7()",
            ("segment_next", _) => "segment_next('bench_segment')",
            (_, Word::Apart) => APART,
            _ => &shared,
        };
        (Candidate::ours(name, call), word)
    });
    let mut rates = vec![[const { Vec::new() }; CLIENTS.len()]; forms.len()];
    let mut admin = server.connect("postgres");
    for round in 0..rounds {
        report::progress(&format!("  round {} of {rounds}", round + 1));
        for ((form, word), rates) in forms.iter().zip(&mut rates) {
            let cache = if let Word::Lane(many) = word {
                *many
            } else {
                1
            };
            admin.set_for_server("pg_mint.session_cache", &cache.to_string());
            for (&clients, rates) in CLIENTS.iter().zip(rates) {
                rates.push(sessions::million_per_second(server, clients, span, form));
            }
        }
    }
    admin.set_for_server("pg_mint.session_cache", "1");
    let mut costs = Table::new(
        "swaps",
        "What a compare-and-swap costs",
        "Nanoseconds on this machine, without PostgreSQL. For the move of the line, two threads take turns to write one \
         word. Contended: a swap that succeeds, while two threads swap one word as fast as they can.",
        &["what", "ns"],
    );
    let measured = Costs::measure(Duration::from_millis(scale.pick(5_000, 1_000)));
    for (what, ns) in [
        ("clock", measured.clock),
        ("swap of one core", measured.alone),
        ("move of the line", measured.transfer),
        ("contended swap of two cores", measured.contended),
    ] {
        costs.row(&[what.to_owned(), number(ns)]);
    }
    report.add(costs);
    let columns = sessions::columns("word");
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "word",
        "One lane, many sessions",
        &format!(
            "Million ids per second of all sessions together, by number of sessions, on {} cores. In the first three rows, all \
             sessions use one lane. [Scale](../../docs/contributing/scale.md#one-lane-on-many-cores) has the model for more cores.",
            std::thread::available_parallelism().map_or(0, usize::from)
        ),
        &columns,
    );
    for ((form, _), rates) in forms.iter().zip(&rates) {
        let mut cells = vec![form.name.to_owned()];
        cells.extend(rates.iter().map(|rates| number(Spread::of(rates).median)));
        table.row(&cells);
    }
    table.chart(
        "word.svg",
        "One lane with 1 to 64 sessions, measured and by the model",
    );
    table.chart("word_cores.svg", "One lane on 1 to 128 cores by the model");
    report.add(table);
    draw(report.place("").as_path());
}

/// The model, of costs that were measured where no two sessions share a word. So what it says of those that share one is
/// a prediction.
struct Model {
    /// The form's own work, by the place of the form.
    private: [f64; FORMS.len()],
    clock: f64,
    transfer: f64,
    /// An id that the session took earlier.
    cached: f64,
    /// Cores of the machine that was measured.
    cores: usize,
}

impl Model {
    fn of(results: &Path, rates: &Results) -> Self {
        let costs = Results::read(results, "swaps.csv");
        let cost = |what: &str| costs.cell(&[what], "ns").parse::<f64>().expect("a cost");
        let rate = |form: &str, sessions: usize| -> f64 {
            let cell = rates.cell(&[form], &sessions.to_string());
            cell.parse().expect("a rate")
        };
        let cores = report::cores_of(results);
        let (clock, apart) = (cost("clock"), "a lane each");
        // An id takes this time of a core where no two sessions wait for each other.
        let busy = |form| {
            let sessions = CLIENTS.iter().filter(|&&sessions| sessions >= cores);
            let rates: Vec<f64> = sessions.map(|&sessions| rate(form, sessions)).collect();
            1e3 * cores as f64 / mean(&rates)
        };
        let work = busy(apart);
        // With one session, the client's time counts as well: the same for all forms.
        let of = |form| (work + 1e3 / rate(form, 1) - 1e3 / rate(apart, 1)).max(1.0);
        let private = FORMS.map(|(name, word)| match word {
            Word::Plain => (of(name) - COMPUTING).max(1.0),
            _ => work - clock - COMPUTING,
        });
        Self {
            private,
            clock,
            transfer: cost("move of the line"),
            cached: (busy("session_cache 100") - private[0]).max(1.0),
            cores,
        }
    }

    /// Returns the million ids per second of so many cores with a form, whose own work for an id is `private`.
    fn rate_of(&self, cores: usize, word: Word, private: f64, turn: Turn) -> f64 {
        let clock = if word == Word::Plain { 0.0 } else { self.clock };
        let times = Times {
            private,
            between: clock + COMPUTING,
            transfer: self.transfer,
            cached: self.cached,
        };
        let per_ns = match word {
            Word::Apart => cores as f64 / (private + times.between),
            Word::Lane(many) => simulate(cores, times, many, turn),
            Word::Plain => simulate(cores, times, 1, turn),
        };
        per_ns * 1e3
    }

    /// Returns the same for sessions, which share the cores of the machine that was measured.
    fn of_sessions(&self, place: usize, sessions: usize, turn: Turn) -> f64 {
        let cores = sessions.min(self.cores);
        self.rate_of(cores, FORMS[place].1, self.private[place], turn)
    }
}

/// Returns the geometric mean.
fn mean(values: &[f64]) -> f64 {
    let logarithms = values.iter().map(|value| value.ln()).sum::<f64>();
    (logarithms / values.len() as f64).exp()
}

/// Draws the curves from the recorded results, and returns what the document says of them.
pub fn draw(results: &Path) -> String {
    let recorded = Results::read(results, "word.csv");
    let model = Model::of(results, &recorded);
    draw_fit(results, &recorded, &model);
    let lines = curves(&model);
    chart::lines_by_powers(
        &results.join("word_cores.svg"),
        "One lane on many cores, by the model",
        ("cores", "million ids per second, all together"),
        &lines,
    );
    let costs = Results::read(results, "swaps.csv");
    let contended = costs.cell(&["contended swap of two cores"], "ns");
    let mut text = costs_of(&model, contended);
    text += &errors(&recorded, &model);
    text += &of_cores(&lines);
    text + &advice(&model)
}

/// Draws what was measured beside the model on as many cores.
fn draw_fit(results: &Path, recorded: &Results, model: &Model) {
    let mut lines = Vec::new();
    for (place, (name, _)) in FORMS.into_iter().enumerate().take(4) {
        let measured = |&sessions: &usize| {
            let cell = recorded.cell(&[name], &sessions.to_string());
            (sessions as f64, cell.parse().unwrap_or_default())
        };
        lines.push(Line::new(name, CLIENTS.iter().map(measured).collect()));
        let modeled = |&sessions: &usize| {
            (
                sessions as f64,
                model.of_sessions(place, sessions, Turn::Fair),
            )
        };
        let points = CLIENTS.iter().map(modeled).collect();
        lines.push(Line::new(&format!("{name}, model"), points));
    }
    chart::lines(
        &results.join("word.svg"),
        "One lane: measured, and the model",
        ("sessions", "million ids per second, all together"),
        &lines,
    );
}

/// Returns the curves of the model.
fn curves(model: &Model) -> Vec<Line> {
    let line = |name: &str, word, private, turn| {
        let at = |&cores: &usize| (cores as f64, model.rate_of(cores, word, private, turn));
        Line::new(name, CORES.iter().map(at).collect())
    };
    let mut lines: Vec<Line> = (FORMS.iter().zip(model.private))
        .map(|(&(name, word), private)| line(name, word, private, Turn::Fair))
        .collect();
    let one = Word::Lane(1);
    lines.insert(1, line("no swap fails", one, model.private[0], Turn::Kept));
    lines.extend(WORK.map(|(name, private)| line(name, one, private, Turn::Fair)));
    lines
}

fn costs_of(model: &Model, contended: &str) -> String {
    let none = Times {
        private: 1.0,
        between: 1.0,
        transfer: model.transfer,
        cached: 1.0,
    };
    let modeled = |turn| number(1.0 / simulate(2, none, 1, turn));
    format!(
        "| Cost in the model | ns | From |\n|---|---:|---|\n\
         | work of a session for an id, besides the lane | {:.0} | {} and more sessions with a lane each |\n\
         | from reading to swapping the word | {:.0} | the clock, and a little |\n\
         | a move of the word to another core | {:.0} | two threads that take turns to write it |\n\
         | an id from the session's cache | {:.0} | {} and more sessions with `session_cache` 100 |\n\n\
         A swap that succeeds, while two threads swap one word as fast as they can, took {contended} ns; the model has {} to {}.\n\n",
        model.private[0],
        model.cores,
        model.clock + COMPUTING,
        model.transfer,
        model.cached,
        model.cores,
        modeled(Turn::Kept),
        modeled(Turn::Fair),
    )
}

/// Returns what was measured, with what the model says of this machine.
fn errors(recorded: &Results, model: &Model) -> String {
    let sessions = CLIENTS.map(|sessions| sessions.to_string()).join(" | ");
    let rule = "---:|".repeat(CLIENTS.len() + 2);
    let mut text = format!(
        "| Sessions | {sessions} | model of {} cores, worst and best | its errors, % |\n|---|{rule}\n",
        model.cores
    );
    for (place, (name, _)) in FORMS.into_iter().enumerate() {
        let cells = CLIENTS.map(|sessions| recorded.cell(&[name], &sessions.to_string()));
        let modeled =
            [Turn::Fair, Turn::Kept].map(|turn| model.of_sessions(place, model.cores, turn));
        let found = recorded.cell(&[name], &model.cores.to_string());
        let found: f64 = found.parse().expect("a rate");
        let errors = modeled.map(|modeled| format!("{:+.0}", (modeled / found - 1.0) * 100.0));
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} |",
            cells.join(" | "),
            modeled.map(number).join(", "),
            errors.join(", ")
        );
    }
    text
}

/// Returns the curves as a table.
fn of_cores(lines: &[Line]) -> String {
    let names: Vec<&str> = lines.iter().map(Line::name).collect();
    let rule = "---:|".repeat(lines.len());
    let mut text = format!("\n| Cores | {} |\n|---:|{rule}\n", names.join(" | "));
    for (place, cores) in CORES.iter().enumerate() {
        let cells: Vec<String> = lines.iter().map(|line| number(line.value(place))).collect();
        let _ = writeln!(text, "| {cores} | {} |", cells.join(" | "));
    }
    text
}

/// Returns where one lane is used up, by the worse of both bounds, and what to set for 64 cores.
fn advice(model: &Model) -> String {
    let mut text = "\nOne lane is enough for as many cores as it serves at four fifths of the rate of a lane each:\n\n\
                    | Work for an id | One lane is enough for | and has, million ids a second | For 64 cores |\n\
                    |---|---:|---:|---|\n"
        .to_owned();
    let ids_alone = ("nothing but ids", model.private[0]);
    for (name, private) in std::iter::once(ids_alone).chain(WORK) {
        let at = |cores, word| model.rate_of(cores, word, private, Turn::Fair);
        let is_enough = |cores, word| at(cores, word) >= 0.8 * at(cores, Word::Apart);
        let enough = (1..=128).take_while(|&cores| is_enough(cores, Word::Lane(1)));
        let enough = enough.last().unwrap_or(1);
        let set = match [1, 16, 100]
            .iter()
            .find(|&&many| is_enough(64, Word::Lane(many)))
        {
            Some(1) => "nothing".to_owned(),
            Some(many) => format!("`pg_mint.session_cache = {many}`, or a shard for each session"),
            None => "a shard for each session".to_owned(),
        };
        let plural = if enough == 1 { "core" } else { "cores" };
        let _ = writeln!(
            text,
            "| {name} | {enough}{} {plural} | {} | {set} |",
            if enough == 128 { " and more" } else { "" },
            number(at(enough, Word::Lane(1)))
        );
    }
    text
}
