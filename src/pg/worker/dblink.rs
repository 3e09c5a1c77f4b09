//! Queries on another server by dblink and a foreign server, so that addresses and credentials stay where PostgreSQL
//! keeps them. For background workers: nothing here blocks for longer than it takes to connect.

use crate::pg::catalog::binding::Bound;
use crate::pg::catalog::invalidation::foreign_server_generation;
use crate::pg::catalog::{binding, privilege, sql};
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{OrReport, relay_errors, report};
use crate::pg::machine::clock;
use crate::pg::worker::lifecycle;
use mint_core::Micros;
use pgrx::bgworkers::BackgroundWorker;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::spi::{SpiClient, SpiTupleTable};
use pgrx::{FromDatum, IntoDatum, PgSqlErrorCode as Code, PgTryBuilder, Spi, pg_sys};
use std::panic::AssertUnwindSafe;

/// The longest time that another server may take for its answer.
const TIMEOUT: Micros = 3_000_000;
/// The interval at which a worker looks for the answer.
const POLL: Micros = 1_000;

/// Query for the schema of the extension on the other server: one row of one text.
///
/// Queries name all objects by schema and exact types, as SQL does here. On the other server, too, a role may have laid
/// traps for the role that connects: in the schema `"$user"`, or elsewhere in the search path of the role.
const HOME: &str = "SELECT (
    SELECT pg_catalog.quote_ident(n.nspname::pg_catalog.text)
    FROM pg_catalog.pg_extension AS e
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'pg_mint'::pg_catalog.name
)";

/// A query, given the schema that the extension has on the other server.
pub type Query<'a> = dyn Fn(&str) -> String + 'a;

/// A connection to a foreign server, made when it is needed.
pub struct Remote {
    /// The name of the connection in dblink.
    name: String,
    /// The role that has the user mapping; none means the worker's own role.
    role: Option<String>,
    /// The foreign server, once connected.
    server: Option<String>,
    /// The generation of foreign servers and user mappings at that time.
    generation: u64,
}

impl Remote {
    /// Returns a connection that is not made yet, with a name that no other has.
    pub fn new(name: String, role: Option<String>) -> Self {
        Self {
            name,
            role,
            server: None,
            generation: 0,
        }
    }

    /// Runs a query that returns one row of `columns`, and reads the row. In a transaction of its own.
    ///
    /// The extension's schema is asked for each time: it may have changed, and another role may have taken the name.
    ///
    /// # Errors
    /// The error of either server.
    pub fn ask<T>(
        &mut self,
        server: &str,
        query: &Query<'_>,
        columns: &str,
        read: impl Fn(SpiTupleTable<'_>) -> T,
    ) -> Result<T, String> {
        // The start of a transaction receives invalidations.
        attempt(|| ())?;
        let generation = foreign_server_generation();
        if self.server.as_deref() != Some(server) || self.generation != generation {
            self.disconnect();
        }
        self.generation = generation;
        let was_open = self.server.is_some();
        let mut answer = self.try_once(server, query, columns, &read);
        if was_open && answer.is_err() && !lifecycle::is_asked_to_end() {
            // The other server may have been restarted since the last query.
            answer = self.try_once(server, query, columns, &read);
        }
        answer
    }

    fn try_once<T>(
        &mut self,
        server: &str,
        query: &Query<'_>,
        columns: &str,
        read: &impl Fn(SpiTupleTable<'_>) -> T,
    ) -> Result<T, String> {
        let is_open = self.server.is_some();
        let answer = in_dblink(|dblink| {
            if !is_open {
                self.connect(dblink, server);
            }
            let first = |row: SpiTupleTable<'_>| value::<DecodedText>(&row, 1).map(|home| home.0);
            self.send(dblink, HOME);
            let home = self.receive(dblink, server, "home pg_catalog.text", first);
            let home = home.unwrap_or_else(|| {
                let message = format!(
                    "extension \"pg_mint\" is not installed in the database of foreign server \"{server}\""
                );
                report(Code::ERRCODE_UNDEFINED_OBJECT, message).raise()
            });
            self.send(dblink, &query(&home));
            self.receive(dblink, server, columns, read)
        });
        self.server = Some(server.to_owned());
        if answer.is_err() {
            // The connection may be half open.
            self.disconnect();
        }
        answer
    }

    fn connect(&self, dblink: &str, server: &str) {
        // A new connection could wait for the very statement that waits for this worker: DROP DATABASE.
        if lifecycle::is_asked_to_end() {
            ending();
        }
        let role = self.role.as_deref().map_or_else(privilege::user, role_oid);
        // dblink takes a name that it does not know for a connection string.
        let Some(owner) = owner_of_server(server) else {
            report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                format!("server \"{server}\" does not exist"),
            )
            .hint("Use CREATE SERVER in this database.")
            .raise()
        };
        // The owner of the server decides where it leads, and as which role. dblink requires no password of a
        // superuser: that would open any database that trusts the system user of this server.
        if is_superuser(role) && !is_superuser(owner) {
            report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("owner of foreign server \"{server}\" must be a superuser"),
            )
            .detail("The owner decides where the connection of a superuser would go.")
            .raise();
        }
        let connect = format!("SELECT {dblink}.dblink_connect($1, $2)");
        privilege::as_role(role, || {
            call::<DecodedText>(&connect, &[&self.name, server])
        });
    }

    fn send(&self, dblink: &str, query: &str) {
        let send = format!("SELECT {dblink}.dblink_send_query($1, $2)");
        call::<i32>(&send, &[&self.name, query]);
    }

    fn disconnect(&mut self) {
        if self.server.take().is_some() {
            // An error is ignored: then there is no connection any more.
            let _ = in_dblink(|dblink| {
                let is_open = format!(
                    "SELECT $1 OPERATOR(pg_catalog.=) ANY({dblink}.dblink_get_connections())"
                );
                if call(&is_open, &[&self.name]) == Some(true) {
                    let disconnect = format!("SELECT {dblink}.dblink_disconnect($1)");
                    call::<DecodedText>(&disconnect, &[&self.name]);
                }
            });
        }
    }

    /// Waits for the answer by polling, as dblink's own wait cannot be interrupted.
    fn receive<T>(
        &self,
        dblink: &str,
        server: &str,
        columns: &str,
        read: impl Fn(SpiTupleTable<'_>) -> T,
    ) -> T {
        let is_busy = format!("SELECT {dblink}.dblink_is_busy($1)");
        let began = clock::up();
        while call(&is_busy, &[&self.name]) == Some(1) {
            // A worker with a role has nothing to release when it ends, and keeps its database from being dropped.
            if self.role.is_some() && lifecycle::is_asked_to_end() {
                ending();
            }
            if clock::up() - began > TIMEOUT {
                report(
                    Code::ERRCODE_CONNECTION_FAILURE,
                    format!("foreign server \"{server}\" did not respond"),
                )
                .raise();
            }
            clock::pause(POLL);
        }
        let fetch = format!("SELECT * FROM {dblink}.dblink_get_result($1) AS answer({columns})");
        let fetch = charset::encode_for_pgrx(fetch);
        let work = |client: &mut SpiClient<'_>| {
            let rows = client
                .update(&fetch, None, &texts(&[&self.name]))
                .or_report();
            if rows.is_empty() {
                report(
                    Code::ERRCODE_PROTOCOL_VIOLATION,
                    format!("foreign server \"{server}\" returned no rows"),
                )
                .raise();
            }
            let answer = read(rows.first());
            // The second result is empty, and makes the connection ready for the next query.
            client
                .update(&fetch, None, &texts(&[&self.name]))
                .or_report();
            answer
        };
        privilege::guarded(|| Spi::connect_mut(work))
    }
}

/// Runs a statement with arguments of type text, and returns its only value.
fn call<T: FromDatum + IntoDatum>(statement: &str, arguments: &[&str]) -> Option<T> {
    let statement = charset::encode_for_pgrx(statement.to_owned());
    let run = || Spi::get_one_with_args(&statement, &texts(arguments));
    privilege::guarded(|| relay_errors(run).or_report())
}

fn texts(arguments: &[&str]) -> Vec<DatumWithOid<'static>> {
    let text = |&text: &&str| DecodedText(text.to_owned()).into();
    arguments.iter().map(text).collect()
}

/// Raises the error that ends a worker.
fn ending() -> ! {
    report(
        Code::ERRCODE_ADMIN_SHUTDOWN,
        "terminating background worker due to administrator command",
    )
    .raise()
}

/// Runs `work` in a transaction, and returns the text of its error instead of raising it.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    PgTryBuilder::new(AssertUnwindSafe(|| {
        Ok(BackgroundWorker::transaction(AssertUnwindSafe(work)))
    }))
    .catch_others(|error| {
        // SAFETY: ends the failed transaction that `transaction` began, as the server's own loops do.
        unsafe { pg_sys::AbortCurrentTransaction() };
        Err(describe(&error))
    })
    .execute()
}

/// Returns an error's message and detail.
fn describe(error: &CaughtError) -> String {
    let (CaughtError::PostgresError(report)
    | CaughtError::ErrorReport(report)
    | CaughtError::RustPanic {
        ereport: report, ..
    }) = error;
    // A report of this library is in the encoding of the database.
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

/// Runs `work` with the schema of dblink, quoted, as [`attempt`] does. Its statements can call dblink's functions, and
/// no others in a schema of that name.
fn in_dblink<T>(work: impl FnOnce(&str) -> T) -> Result<T, String> {
    attempt(|| {
        let dblink = find_dblink();
        let members = "SELECT pg_catalog.array_agg(d.objid)
            FROM pg_catalog.pg_depend AS d
                JOIN pg_catalog.pg_extension AS e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
            WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
                AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
                AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog.\"char\"
                AND e.extname OPERATOR(pg_catalog.=) $1::pg_catalog.name";
        let functions: Vec<pg_sys::Oid> = sql::ask(members, "dblink".into()).unwrap_or_default();
        let bound = Bound {
            functions: &functions,
            ..Bound::default()
        };
        binding::restrict_to(bound, || work(&dblink))
    })
}

/// Returns the schema of dblink, quoted.
fn find_dblink() -> String {
    let query = "SELECT (
        SELECT pg_catalog.quote_ident(n.nspname::pg_catalog.text)
        FROM pg_catalog.pg_extension AS e
            JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
        WHERE e.extname OPERATOR(pg_catalog.=) $1::pg_catalog.name
    )";
    let schema = sql::ask::<DecodedText>(query, "dblink".into()).map(|schema| schema.0);
    schema.unwrap_or_else(|| {
        report(
            Code::ERRCODE_UNDEFINED_OBJECT,
            "extension \"dblink\" is not installed in this database",
        )
        .hint("Use CREATE EXTENSION dblink in this database.")
        .raise()
    })
}

/// Returns the oid of a role, or raises the server's own error.
fn role_oid(name: &str) -> pg_sys::Oid {
    let name = charset::c_string(name);
    // SAFETY: a lookup in the catalogs, inside a transaction.
    unsafe { pg_sys::get_role_oid(name.as_ptr(), false) }
}

fn is_superuser(role: pg_sys::Oid) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    unsafe { pg_sys::superuser_arg(role) }
}

/// Returns the owner of a foreign server, if there is one of that name.
fn owner_of_server(name: &str) -> Option<pg_sys::Oid> {
    let name = charset::c_string(name);
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe {
        let server = pg_sys::GetForeignServerByName(name.as_ptr(), true);
        server.as_ref().map(|server| server.owner)
    }
}

/// Returns a value of an answer's row.
pub fn value<T: IntoDatum + FromDatum>(row: &SpiTupleTable<'_>, column: usize) -> Option<T> {
    row.get(column).or_report()
}
