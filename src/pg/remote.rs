//! Questions to another server through dblink and a foreign server, so that addresses and credentials stay where
//! PostgreSQL keeps them. For background workers: nothing here blocks for longer than a connection takes.

use super::errors::{OrReport, report};
use super::varlena::Words;
use super::{charset, clock, naming, watch};
use mint_core::Micros;
use pgrx::bgworkers::BackgroundWorker;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::spi::SpiTupleTable;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, Spi, pg_sys};
use std::panic::AssertUnwindSafe;

/// How long another server may take for its answer.
const PATIENCE: Micros = 3_000_000;
/// How often it is looked for.
const GLANCE: Micros = 1_000;

/// A connection to a foreign server, made when it is needed.
pub struct Remote {
    /// What dblink calls it, as a literal.
    name: String,
    /// Whose user mapping counts; nobody means the worker's own role.
    role: Option<String>,
    /// The foreign server that it leads to.
    to: Option<String>,
    /// Which changes of foreign servers and user mappings it was made after.
    ways: u64,
}

impl Remote {
    /// A connection that is yet to be made, of a name that is used once.
    pub fn new(name: String, role: Option<String>) -> Self {
        Self {
            name: naming::escaped(&name),
            role,
            to: None,
            ways: 0,
        }
    }

    /// Asks a query that gives one row of `columns`, and reads the row. In a transaction of its own.
    ///
    /// # Errors
    /// What either server says.
    pub fn ask<T>(
        &mut self,
        server: &str,
        query: &str,
        columns: &str,
        read: impl Fn(SpiTupleTable<'_>) -> T,
    ) -> Result<T, String> {
        // A transaction begins with hearing of changes.
        attempt(|| ())?;
        let ways = watch::ways();
        if self.to.as_deref() != Some(server) || self.ways != ways {
            self.hang_up();
        }
        self.ways = ways;
        let was_open = self.to.is_some();
        let mut answer = self.try_once(server, query, columns, &read);
        if was_open && answer.is_err() {
            // The other server may have been restarted since it was asked last.
            answer = self.try_once(server, query, columns, &read);
        }
        answer
    }

    fn try_once<T>(
        &mut self,
        server: &str,
        query: &str,
        columns: &str,
        read: &impl Fn(SpiTupleTable<'_>) -> T,
    ) -> Result<T, String> {
        let is_open = self.to.is_some();
        let answer = attempt(|| {
            let dblink = dblink();
            if !is_open {
                self.connect(&dblink, server);
            }
            let (name, query) = (&self.name, naming::escaped(query));
            naming::run(&format!(
                "SELECT {dblink}.dblink_send_query({name}, {query})"
            ));
            self.receive(&dblink, columns, read)
        });
        self.to = Some(server.to_owned());
        if answer.is_err() {
            // It may be half open.
            self.hang_up();
        }
        answer
    }

    fn connect(&self, dblink: &str, server: &str) {
        if let Some(role) = &self.role {
            let role = naming::quoted_exactly(role);
            naming::run(&format!("SET LOCAL ROLE {role}"));
        }
        let (name, named) = (&self.name, server);
        let server = naming::escaped(server);
        // dblink takes a name that it does not know for a connection string.
        let known = format!(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_foreign_server WHERE srvname = {server})"
        );
        if Spi::get_one::<bool>(&charset::carried(known)).or_report() != Some(true) {
            report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                format!("server \"{named}\" does not exist"),
                None,
                Some("Use CREATE SERVER in this database.".to_owned()),
            );
        }
        naming::run(&format!("SELECT {dblink}.dblink_connect({name}, {server})"));
    }

    fn hang_up(&mut self) {
        if self.to.take().is_some() {
            let name = &self.name;
            // That there was no connection is as good.
            let _ = attempt(|| {
                let dblink = dblink();
                let open = format!(
                    "SELECT {name} OPERATOR(pg_catalog.=) ANY({dblink}.dblink_get_connections())"
                );
                if Spi::get_one::<bool>(&charset::carried(open)).or_report() == Some(true) {
                    naming::run(&format!("SELECT {dblink}.dblink_disconnect({name})"));
                }
            });
        }
    }

    /// Waits for the answer, looking for it again and again, as the way that dblink waits cannot be interrupted.
    fn receive<T>(&self, dblink: &str, columns: &str, read: impl Fn(SpiTupleTable<'_>) -> T) -> T {
        let name = &self.name;
        let busy = charset::carried(format!("SELECT {dblink}.dblink_is_busy({name})"));
        let began = clock::up();
        while Spi::get_one::<i32>(&busy).or_report() == Some(1) {
            if clock::up() - began > PATIENCE {
                report(
                    Code::ERRCODE_CONNECTION_FAILURE,
                    "the other server does not answer".to_owned(),
                    None,
                    None,
                );
            }
            clock::pause(GLANCE);
        }
        let fetch = charset::carried(format!(
            "SELECT * FROM {dblink}.dblink_get_result({name}) AS answer({columns})"
        ));
        Spi::connect_mut(|client| {
            let rows = client.update(&fetch, None, &[]).or_report();
            if rows.is_empty() {
                report(
                    Code::ERRCODE_CONNECTION_FAILURE,
                    "the other server gave no answer".to_owned(),
                    None,
                    None,
                );
            }
            let answer = read(rows.first());
            // The end of the answers, after which the connection can be used again.
            client.update(&fetch, None, &[]).or_report();
            answer
        })
    }
}

/// Runs `work` in a transaction, and returns its error in words instead of raising it.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    PgTryBuilder::new(AssertUnwindSafe(|| {
        Ok(BackgroundWorker::transaction(AssertUnwindSafe(work)))
    }))
    .catch_others(|error| {
        // SAFETY: the transaction that `transaction` has begun failed; this ends it, as the server's own loops do.
        unsafe { pg_sys::AbortCurrentTransaction() };
        Err(words(&error))
    })
    .execute()
}

/// An error's message and detail.
fn words(error: &CaughtError) -> String {
    let (CaughtError::PostgresError(report)
    | CaughtError::ErrorReport(report)
    | CaughtError::RustPanic {
        ereport: report, ..
    }) = error;
    // What this library reports is in the encoding of the database already.
    let text = |text: &str| match error {
        CaughtError::ErrorReport(_) => charset::decode(text.as_bytes()),
        _ => text.to_owned(),
    };
    let message = text(report.message());
    match report.detail().map(text) {
        Some(detail) => format!("{message}: {}", detail.trim_end()),
        None => message,
    }
}

/// The schema of dblink, quoted.
fn dblink() -> String {
    let query = "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'dblink'";
    // No row is an error of SPI's in this form of the call.
    let schema = Spi::connect(|client| {
        let rows = client.select(query, Some(1), &[]).or_report();
        (!rows.is_empty()).then(|| rows.first().get_one::<Words>().or_report())
    });
    schema.flatten().map(|schema| schema.0).unwrap_or_else(|| {
        report(
            Code::ERRCODE_UNDEFINED_FUNCTION,
            "extension \"dblink\" is not installed in this database".to_owned(),
            None,
            Some("Use CREATE EXTENSION dblink there.".to_owned()),
        )
    })
}

/// A value of an answer's row.
pub fn value<T: pgrx::IntoDatum + pgrx::FromDatum>(
    row: &SpiTupleTable<'_>,
    place: usize,
) -> Option<T> {
    row.get(place).or_report()
}
