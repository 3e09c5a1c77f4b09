//! Benchmark of pg_mint beside its alternatives. `make bench` runs it.
//!
//! Every figure is measured in this one run, on this one server, in rounds in which all candidates take
//! turns, so that a busy time of the machine affects them all. Only ratios count.
//!
//!     mint_bench [--quick] [--results DIRECTORY] [SECTION ...]    # some sections replace those of the last run
//!     mint_bench [--quick] [--results DIRECTORY] compare    # beside other extensions, see compare/mod.rs
//!     mint_bench [--results DIRECTORY] --documents    # measures nothing; writes the last results into the documents

mod candidates;
mod ceiling;
mod chart;
mod compare;
mod documents;
mod growth;
mod many;
mod per_call;
mod report;
mod scale;
mod stats;
mod tables;

use mint_cluster::{Builder, Server};
use report::{Report, Table};
use scale::Scale;
use std::path::PathBuf;
use std::time::Instant;

/// Measures one section and adds it to the report.
type Section = fn(&Server, Scale, &mut Report);

fn main() {
    let mut scale = Scale::default();
    let mut results = PathBuf::from("bench/results");
    let mut only = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => scale.quick = true,
            "--results" => results = arguments.next().map_or(results, PathBuf::from),
            "--documents" => return documents::refresh(&results),
            section => only.push(section.to_owned()),
        }
    }
    // Other extensions must be installed for it, so it is not part of a whole run.
    if only == ["compare"] {
        return compare::run(scale, &results);
    }
    let wanted = |section: &str| only.is_empty() || only.iter().any(|name| name == section);

    let server = builder("bench").start();
    candidates::prepare(&server);

    let mut report = Report::begin(&server, scale, results, only.is_empty());
    let mut durations = Table::new(
        "durations",
        "How long it took",
        "Minutes of each section.",
        &["section", "minutes"],
    );
    let sections: [(&str, Section); 13] = [
        ("per_call", per_call::measure),
        ("sessions", many::sessions::measure),
        ("managed", many::managed::measure),
        ("word", many::word::measure),
        ("members", many::members::measure),
        ("tables", tables::measure),
        ("bulk", tables::bulk::measure),
        ("growth", growth::measure),
        ("ceiling", ceiling::measure),
        ("time_predicates", tables::time_predicates::measure),
        ("planning", tables::planning::measure),
        ("natural_forms", tables::natural_forms::measure),
        ("first_call", many::first_call::measure),
    ];
    for name in &only {
        let is_one = sections.iter().any(|(section, _)| section == name);
        assert!(is_one, "there is no section {name}");
    }
    for (name, measure) in sections {
        if wanted(name) {
            report::progress(name);
            let began = Instant::now();
            measure(&server, scale, &mut report);
            let minutes = began.elapsed().as_secs_f64() / 60.0;
            durations.row(&[name.to_owned(), format!("{minutes:.1}")]);
        }
    }
    if only.is_empty() {
        report.add(durations);
    }
    report.finish();
}

/// Returns the server on which everything is measured.
fn builder(name: &str) -> Builder {
    configured(Server::build(name))
}

fn configured(builder: Builder) -> Builder {
    builder
        .conf("shared_buffers = '128MB'")
        .conf("max_connections = 100")
        .conf("max_wal_size = '8GB'")
        .conf("checkpoint_timeout = '1h'")
        .conf("autovacuum = off")
        .conf("jit = off")
        .conf("max_parallel_workers_per_gather = 0")
        .conf("synchronous_commit = off")
        .conf("pg_mint.max_lanes = 16384")
        .conf("pg_mint.user_memory = '128MB'")
        .durable()
}
