//! Questions to another server through dblink and a foreign server, so that addresses and credentials stay where
//! PostgreSQL keeps them. For background workers: nothing here blocks for longer than a connection takes.

use crate::pg::catalog::binding::Bound;
use crate::pg::catalog::invalidation::foreign_server_generation;
use crate::pg::catalog::{binding, privilege, sql};
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{OrReport, report};
use crate::pg::machine::clock;
use crate::pg::worker::lifecycle;
use mint_core::Micros;
use pgrx::bgworkers::BackgroundWorker;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::spi::{SpiClient, SpiTupleTable};
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, Spi, pg_sys};
use std::panic::AssertUnwindSafe;

/// How long another server may take for its answer.
const TIMEOUT: Micros = 3_000_000;
/// How often it is looked for.
const POLL: Micros = 1_000;

/// Where the other server has the extension: a query of one row of one text.
///
/// What is sent there names all by its schema and exact types, as SQL here does. There, too, a role may have laid
/// traps for the role that asks: in the schema `"$user"`, or wherever the search path of the role leads.
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
    /// What dblink calls it, as a literal.
    name: String,
    /// The role whose user mapping counts; none means the worker's own.
    role: Option<String>,
    /// The foreign server that it leads to.
    to: Option<String>,
    /// Which changes of foreign servers and user mappings it was made after.
    generation: u64,
}

impl Remote {
    /// A connection that is yet to be made, of a name that is used once.
    pub fn new(name: String, role: Option<String>) -> Self {
        Self {
            name: sql::escaped(&name),
            role,
            to: None,
            generation: 0,
        }
    }

    /// Asks a query that gives one row of `columns`, and reads the row. In a transaction of its own.
    ///
    /// The schema there is asked for each time: it may have changed, and another role have taken the name.
    ///
    /// # Errors
    /// What either server says.
    pub fn ask<T>(
        &mut self,
        server: &str,
        query: &Query<'_>,
        columns: &str,
        read: impl Fn(SpiTupleTable<'_>) -> T,
    ) -> Result<T, String> {
        // A transaction begins with hearing of changes.
        attempt(|| ())?;
        let generation = foreign_server_generation();
        if self.to.as_deref() != Some(server) || self.generation != generation {
            self.hang_up();
        }
        self.generation = generation;
        let was_open = self.to.is_some();
        let mut answer = self.try_once(server, query, columns, &read);
        if was_open && answer.is_err() && !lifecycle::is_asked_to_end() {
            // The other server may have been restarted since it was asked last.
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
        let is_open = self.to.is_some();
        let answer = in_dblink(|dblink| {
            if !is_open {
                self.connect(dblink, server);
            }
            let first = |row: SpiTupleTable<'_>| value::<DecodedText>(&row, 1).map(|home| home.0);
            self.send(dblink, HOME);
            let home = self.receive(dblink, "home pg_catalog.text", first);
            let home = home.unwrap_or_else(|| {
                report(Code::ERRCODE_UNDEFINED_OBJECT, format!(
                        "extension \"pg_mint\" is not installed in the database of server \"{server}\""
                    )).raise()
            });
            self.send(dblink, &query(&home));
            self.receive(dblink, columns, read)
        });
        self.to = Some(server.to_owned());
        if answer.is_err() {
            // It may be half open.
            self.hang_up();
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
        // The owner of the server decides where it leads, and as which role. Of a superuser dblink wants no password: that would
        // be a way into any database that lets this server's system user in.
        if is_superuser(role) && !is_superuser(owner) {
            report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("the owner of server \"{server}\" must be a superuser"),
            )
            .detail("A superuser does not follow it where an ordinary role may lead it.")
            .raise();
        }
        let (name, server) = (&self.name, sql::escaped(server));
        privilege::as_role(role, || {
            sql::run(&format!("SELECT {dblink}.dblink_connect({name}, {server})"));
        });
    }

    fn send(&self, dblink: &str, query: &str) {
        let (name, query) = (&self.name, sql::escaped(query));
        sql::run(&format!(
            "SELECT {dblink}.dblink_send_query({name}, {query})"
        ));
    }

    fn hang_up(&mut self) {
        if self.to.take().is_some() {
            let name = &self.name;
            // That there was no connection is as good.
            let _ = in_dblink(|dblink| {
                let open = format!(
                    "SELECT {name} OPERATOR(pg_catalog.=) ANY({dblink}.dblink_get_connections())"
                );
                let open = charset::encode_for_pgrx(open);
                if privilege::guarded(|| Spi::get_one::<bool>(&open).or_report()) == Some(true) {
                    sql::run(&format!("SELECT {dblink}.dblink_disconnect({name})"));
                }
            });
        }
    }

    /// Waits for the answer, looking for it again and again, as the way that dblink waits cannot be interrupted.
    fn receive<T>(&self, dblink: &str, columns: &str, read: impl Fn(SpiTupleTable<'_>) -> T) -> T {
        let name = &self.name;
        let busy = charset::encode_for_pgrx(format!("SELECT {dblink}.dblink_is_busy({name})"));
        let began = clock::up();
        while privilege::guarded(|| Spi::get_one::<i32>(&busy).or_report()) == Some(1) {
            // One that asks for a role has nothing to say when it ends, and would keep its database from being dropped.
            if self.role.is_some() && lifecycle::is_asked_to_end() {
                ending();
            }
            if clock::up() - began > TIMEOUT {
                report(
                    Code::ERRCODE_CONNECTION_FAILURE,
                    "the other server does not answer",
                )
                .raise();
            }
            clock::pause(POLL);
        }
        let fetch_answer = charset::encode_for_pgrx(format!(
            "SELECT * FROM {dblink}.dblink_get_result({name}) AS answer({columns})"
        ));
        let fetch = |client: &mut SpiClient<'_>| {
            let rows = client.update(&fetch_answer, None, &[]).or_report();
            if rows.is_empty() {
                report(
                    Code::ERRCODE_CONNECTION_FAILURE,
                    "the other server gave no answer",
                )
                .raise();
            }
            let answer = read(rows.first());
            // The end of the answers, after which the connection can be used again.
            client.update(&fetch_answer, None, &[]).or_report();
            answer
        };
        privilege::guarded(|| Spi::connect_mut(fetch))
    }
}

/// Raises the error that a worker ends by.
fn ending() -> ! {
    report(
        Code::ERRCODE_ADMIN_SHUTDOWN,
        "terminating background worker due to administrator command",
    )
    .raise()
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

/// Runs `work` with the schema of dblink, quoted, as [`attempt`] does. Its statements call dblink's functions, and no
/// others that may have come into a schema of the name.
fn in_dblink<T>(work: impl FnOnce(&str) -> T) -> Result<T, String> {
    attempt(|| {
        let dblink = dblink();
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

/// The schema of dblink, quoted.
fn dblink() -> String {
    let query = "SELECT (
        SELECT pg_catalog.quote_ident(n.nspname::pg_catalog.text)
        FROM pg_catalog.pg_extension AS e
            JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
        WHERE e.extname OPERATOR(pg_catalog.=) $1::pg_catalog.name
    )";
    let schema = sql::ask::<DecodedText>(query, "dblink".into()).map(|schema| schema.0);
    schema.unwrap_or_else(|| {
        report(
            Code::ERRCODE_UNDEFINED_FUNCTION,
            "extension \"dblink\" is not installed in this database",
        )
        .hint("Use CREATE EXTENSION dblink there.")
        .raise()
    })
}

/// The oid of a role, or the server's own error.
fn role_oid(name: &str) -> pg_sys::Oid {
    let name = charset::c_string(name);
    // SAFETY: a lookup in the catalogs, inside a transaction.
    unsafe { pg_sys::get_role_oid(name.as_ptr(), false) }
}

fn is_superuser(role: pg_sys::Oid) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    unsafe { pg_sys::superuser_arg(role) }
}

/// The owner of a foreign server, if there is one of that name.
fn owner_of_server(name: &str) -> Option<pg_sys::Oid> {
    let name = charset::c_string(name);
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe {
        let server = pg_sys::GetForeignServerByName(name.as_ptr(), true);
        server.as_ref().map(|server| server.owner)
    }
}

/// A value of an answer's row.
pub fn value<T: pgrx::IntoDatum + pgrx::FromDatum>(
    row: &SpiTupleTable<'_>,
    place: usize,
) -> Option<T> {
    row.get(place).or_report()
}
