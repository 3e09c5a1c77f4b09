//! pg_mint beside what else makes ids in PostgreSQL, each used as its documentation says.
//!
//! It is run for one version of PostgreSQL at a time, on a server that has the extensions to compare with:
//! `make bench BENCH=compare PG=18 RIVALS=folder`, see `pg_test/tools/rivals.sh`.

mod calls;
mod contenders;
mod crash;
mod dump;
mod figures;
mod order;
mod rows;

use crate::report::{self, Report, Table};
use crate::scale::Scale;
use contenders::Contender;
pub use figures::draw;
use mint_cluster::{Builder, Server, Session};
use std::path::Path;

pub fn run(scale: Scale, results: &Path) {
    let server = builder(crate::builder("compare")).start();
    let directory = results.join("compare").join(server.major().to_string());
    let (contenders, missing) = contenders::all(&server);
    let mut report = Report::begin(&server, scale, directory, true);
    describe(&server, &contenders, &missing, &mut report);
    let sections: [(&str, Section); 5] = [
        ("calls", calls::measure),
        ("order and duplicates", order::measure),
        ("rows", rows::measure),
        ("crash", crash::measure),
        ("dump", dump::measure),
    ];
    for (name, measure) in sections {
        report::progress(name);
        measure(&server, &contenders, scale, &mut report);
    }
    report.finish();
}

type Section = fn(&Server, &[Contender], Scale, &mut Report);

/// Adds what the extensions to compare with need.
fn builder(builder: Builder) -> Builder {
    let builder = builder.conf("snowflake.node = 1");
    if mint_cluster::server::installation::has_extension("pgx_ulid") {
        builder.conf("shared_preload_libraries = 'pg_mint, pgx_ulid'")
    } else {
        builder.preload(true)
    }
}

/// Tells which contenders there are, and how they are used.
fn describe(
    server: &Server,
    contenders: &[Contender],
    missing: &[(&str, String)],
    report: &mut Report,
) {
    let mut session = server.connect("postgres");
    let versions: Vec<String> = session.column(
        "SELECT extname || ' ' || extversion FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY extname",
    );
    let mut table = Table::new(
        "contenders",
        "What is compared",
        &format!(
            "Each generator as its documentation says to use it, as the default of the column. Extensions: {}.",
            versions.join(", ")
        ),
        &["id", "call", "how"],
    );
    for contender in contenders {
        table.row(&[
            contender.name.to_owned(),
            format!("`{}`", contender.call("t")),
            contender.method.to_owned(),
        ]);
    }
    report.add(table);
    if missing.is_empty() {
        return;
    }
    let built = std::env::var("MINT_RIVALS").unwrap_or_default();
    let mut table = Table::new(
        "missing",
        "Not measured",
        "Generators that the server does not have, and the reasons.",
        &["id", "reason"],
    );
    for (name, reason) in missing {
        table.row(&[
            (*name).to_owned(),
            reason_of(&built, name).unwrap_or(reason).to_owned(),
        ]);
    }
    report.add(table);
}

/// Returns why an extension was not built: `built` has lines of its name, whether it was built, and the reason.
fn reason_of<'a>(built: &'a str, contender: &str) -> Option<&'a str> {
    built.lines().find_map(|line| {
        let mut cells = line.split('\t');
        let (name, state, reason) = (cells.next()?, cells.next()?, cells.next()?);
        (state == "missing" && contender.contains(name)).then_some(reason)
    })
}

/// Runs something for each contender with its own `pg_mint.session_cache`, in groups of the same.
fn in_groups(
    session: &mut Session,
    contenders: &[Contender],
    mut each: impl FnMut(&mut Session, &[&Contender]),
) {
    let mut caches: Vec<u32> = contenders.iter().map(|contender| contender.cache).collect();
    caches.sort_unstable();
    caches.dedup();
    for cache in caches {
        let group: Vec<&Contender> = contenders
            .iter()
            .filter(|contender| contender.cache == cache)
            .collect();
        if cache != 1 {
            session.set_for_server("pg_mint.session_cache", &cache.to_string());
        }
        each(session, &group);
        if cache != 1 {
            session.set_for_server("pg_mint.session_cache", "1");
        }
    }
}
