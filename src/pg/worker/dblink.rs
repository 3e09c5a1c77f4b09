//! Queries on another server by dblink and a foreign server, so that addresses and credentials stay where PostgreSQL
//! keeps them. For background workers: whatever the other server does, each query ends by a deadline.

use crate::pg::backend::wait::WaitEvent;
use crate::pg::catalog::binding::Bound;
use crate::pg::catalog::invalidation::foreign_server_generation;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::{binding, extension, privilege, spi, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::worker::deadline::TimeLimit;
use crate::pg::worker::transaction::{Failure, FailureKind, attempt};
use crate::pg::worker::{deadline, foreign_server};
use mint_core::clock::{Micros, SECOND};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use pgrx::{FromDatum, IntoDatum, PgSqlErrorCode as Code, pg_sys};
use std::env;

/// The interval at which a worker looks for the answer.
const POLL: Micros = 1_000;
/// The time for which a server that did not respond is left alone.
const BACKOFF: Micros = SECOND;
/// The time in which an open connection must answer its first query. The rest of the time of the request is then enough
/// for a new connection, on which everything takes longer.
const FIRST_ANSWER_LIMIT: Micros = SECOND;
/// A request that ends later than this after its limit shows that the process was paused. It is then repeated once,
/// because the delay says nothing about the other server.
const PAUSE_TOLERANCE: Micros = SECOND;
/// The time that libpq waits for each host, of which there can be several: `PGCONNECT_TIMEOUT`.
const CONNECT: Micros = 2 * SECOND;
/// The longest time between two uses of a connection. Later the other server can have ended it.
const IDLE: Micros = 60 * SECOND;
/// The longest query, in bytes. It fits into the buffer of a socket, so that sending it does not wait for the other
/// server.
const MAX_QUERY_BYTES: usize = 4_000;

/// Query that sets up a new session on the other server, which ends it when this server is gone without a word: one row
/// of four texts. The longest lease is renewed after 20 seconds.
const SET_UP: &str = "SELECT
    pg_catalog.set_config('idle_session_timeout'::pg_catalog.text, '2min'::pg_catalog.text, false),
    pg_catalog.set_config('tcp_keepalives_idle'::pg_catalog.text, '20'::pg_catalog.text, false),
    pg_catalog.set_config('tcp_keepalives_interval'::pg_catalog.text, '5'::pg_catalog.text, false),
    pg_catalog.set_config('tcp_keepalives_count'::pg_catalog.text, '4'::pg_catalog.text, false)";
const SET_UP_COLUMNS: &str =
    "a pg_catalog.text, b pg_catalog.text, c pg_catalog.text, d pg_catalog.text";

/// The query for the schema of the extension on the other server: one row of one text.
///
/// Queries name all objects by schema and exact types, as SQL does here. On the other server, too, a role can have laid
/// traps for the role that connects: in the schema `"$user"`, or elsewhere in the search path of the role.
const HOME: &str = "SELECT (
    SELECT pg_catalog.quote_ident(n.nspname::pg_catalog.text)
    FROM pg_catalog.pg_extension AS e
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'pg_mint'::pg_catalog.name
)";

/// A query, given the schema that the extension has on the other server.
pub type Query<'a> = dyn Fn(&str) -> String + 'a;

/// The only connection to a foreign server, made when it is needed. dblink's own rules apply to the role that makes it:
/// the role needs USAGE on the foreign server and a user mapping, with a password unless the role is a superuser.
#[derive(Default)]
pub struct Remote {
    /// The name of the connection in dblink.
    name: String,
    /// The role that connects; none means the owner of the foreign server.
    role: Option<String>,
    /// The foreign server of the last query.
    server: Option<String>,
    is_open: bool,
    /// The time of the last query, by the clock since boot.
    last_used: Micros,
    /// The generation of foreign servers and user mappings at that time.
    generation: u64,
    /// True if a query was sent whose answer has not arrived.
    is_waiting: bool,
    /// True if the last attempt ended so late that the process was paused meanwhile.
    is_late: bool,
    /// The time until which a connection that was open before must answer; none once it has, and on a new one.
    first_answer_due: Option<Micros>,
    /// The time until which the server is left alone, and the reason.
    left_alone: Option<(Micros, Failure)>,
}

impl Remote {
    /// Returns a connection that is not made yet, with a name that no other has.
    pub fn new(name: String, role: Option<String>) -> Self {
        // If one of several hosts is silent, the others must get their turn. The timeout works on PostgreSQL 15. From
        // 16 on, dblink ignores the timeout, so hosts are tried in random order.
        let timeout = (CONNECT / SECOND).to_string();
        for (name, value) in [
            ("PGCONNECT_TIMEOUT", &*timeout),
            ("PGLOADBALANCEHOSTS", "random"),
        ] {
            // SAFETY: processes of the server have one thread, and this one is a worker.
            unsafe { env::set_var(name, value) };
        }
        Self {
            name,
            role,
            ..Self::default()
        }
    }

    /// Runs a query that returns one row of `columns`, and reads the row. In a transaction of its own.
    ///
    /// The extension's schema is asked for each time: it can have changed, and another role can have taken the name.
    ///
    /// # Errors
    /// The error of either server; also when the other one takes too long, which is then left alone for a while.
    pub fn ask<T>(
        &mut self,
        server: &str,
        query: &Query<'_>,
        columns: &str,
        read: impl Fn(&Row<'_>) -> T,
    ) -> Result<T, Failure> {
        let began = clock::up();
        self.prepare(server)?;
        let was_open = self.is_open;
        let mut answer = self.try_once(began, server, query, columns, &read);
        let is_lost = matches!(&answer, Err(failure) if failure.kind == FailureKind::Lost);
        let is_unanswered = answer.is_err() && self.first_answer_due.is_some();
        if ((was_open && is_lost) || is_unanswered) && !deadline::is_asked_to_end() {
            // The other server can have been restarted since the last query, or the connection is half open. Only a new
            // connection shows whether it answers.
            let began = began.max(clock::up() - FIRST_ANSWER_LIMIT);
            answer = self.try_once(began, server, query, columns, &read);
        }
        let is_silent = matches!(&answer, Err(failure) if failure.kind == FailureKind::Expired);
        if is_silent && self.is_late && !deadline::is_asked_to_end() {
            answer = self.try_once(clock::up(), server, query, columns, &read);
        }
        answer.inspect_err(|failure| {
            if failure.kind != FailureKind::Other {
                self.left_alone = Some((clock::up() + BACKOFF, failure.clone()));
            }
        })
    }

    /// Ends a connection that cannot be used. Returns the last failure of a server that is left alone.
    fn prepare(&mut self, server: &str) -> Result<(), Failure> {
        // The start of a transaction receives invalidations.
        attempt(deadline::REQUEST, || ())?;
        let generation = foreign_server_generation();
        if self.server.as_deref() != Some(server) || self.generation != generation {
            self.disconnect();
            self.left_alone = None;
            self.server = Some(server.to_owned());
        }
        self.generation = generation;
        if clock::up() - std::mem::replace(&mut self.last_used, clock::up()) > IDLE {
            self.disconnect();
        }
        match &self.left_alone {
            Some((until, failure)) if clock::up() < *until => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    fn try_once<T>(
        &mut self,
        began: Micros,
        server: &str,
        query: &Query<'_>,
        columns: &str,
        read: &impl Fn(&Row<'_>) -> T,
    ) -> Result<T, Failure> {
        let was_open = std::mem::replace(&mut self.is_open, true);
        self.first_answer_due = was_open.then(|| clock::up() + FIRST_ANSWER_LIMIT);
        let left = TimeLimit {
            usual: began + deadline::REQUEST.usual - clock::up(),
            ..deadline::REQUEST
        };
        let answer = in_dblink(left, |dblink| {
            let role = foreign_server::role_for(server, self.role.as_deref());
            privilege::as_role(role, || {
                if !was_open {
                    self.connect(dblink, server);
                }
                let first = |row: &Row<'_>| row.get::<DecodedText>(1).map(|home| home.0);
                self.send(dblink, server, HOME);
                let home = self.receive(dblink, server, "home pg_catalog.text", first);
                self.first_answer_due = None;
                let home = home.unwrap_or_else(|| {
                    let message = format!(
                        "extension \"pg_mint\" is not installed in the database of foreign server \"{server}\""
                    );
                    report(Code::ERRCODE_UNDEFINED_OBJECT, message)
                        .hint("Use CREATE EXTENSION pg_mint in that database.")
                        .raise()
                });
                self.send(dblink, server, &query(&home));
                self.receive(dblink, server, columns, read)
            })
        });
        // The time is read before the cleanup, which can take as long as a pause.
        self.is_late = clock::up() - began > deadline::REQUEST.usual + PAUSE_TOLERANCE;
        answer.map_err(|mut failure| {
            // libpq reached its own timeout, which is shorter than the deadline.
            if failure.kind == FailureKind::Lost && clock::up() - began >= CONNECT {
                failure.kind = FailureKind::Expired;
            }
            if failure.kind == FailureKind::Expired {
                failure.why = format!("foreign server \"{server}\" did not respond");
            }
            // The connection can be half open.
            self.disconnect();
            failure
        })
    }

    fn connect(&mut self, dblink: &str, server: &str) {
        // A new connection could wait for the very statement that waits for this worker: DROP DATABASE.
        if deadline::is_asked_to_end() {
            deadline::end();
        }
        let connect = format!("SELECT {dblink}.dblink_connect($1, $2)");
        deadline::opening(|| call::<DecodedText>(&connect, &[&self.name, server]));
        self.send(dblink, server, SET_UP);
        self.receive(dblink, server, SET_UP_COLUMNS, |_| ());
    }

    fn send(&mut self, dblink: &str, server: &str, query: &str) {
        if query.len() > MAX_QUERY_BYTES {
            report(
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                format!("request to foreign server \"{server}\" is too long"),
            )
            .detail(format!(
                "The request has {} bytes, but at most {MAX_QUERY_BYTES} are allowed.",
                query.len()
            ))
            .raise();
        }
        let send = format!("SELECT {dblink}.dblink_send_query($1, $2)");
        if call::<i32>(&send, &[&self.name, query]) != Some(1) {
            report(
                Code::ERRCODE_CONNECTION_FAILURE,
                format!("connection to foreign server \"{server}\" was lost"),
            )
            .raise();
        }
        self.is_waiting = true;
    }

    /// Ends the connection. First cancels a query that still runs on the other server, as its session would not notice
    /// the end.
    pub fn disconnect(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let name = self.name.clone();
        let is_open = move |dblink: &str| {
            let is_open =
                format!("SELECT $1 OPERATOR(pg_catalog.=) ANY({dblink}.dblink_get_connections())");
            call(&is_open, &[&name]) == Some(true)
        };
        // Errors are ignored, as they mean that the connection is gone.
        if std::mem::take(&mut self.is_waiting) {
            let _ = in_dblink(deadline::CLEANUP, |dblink| {
                if is_open(dblink) {
                    let cancel = format!("SELECT {dblink}.dblink_cancel_query($1)");
                    deadline::opening(|| call::<DecodedText>(&cancel, &[&self.name]));
                }
            });
        }
        let _ = in_dblink(deadline::CLEANUP, |dblink| {
            if is_open(dblink) {
                let disconnect = format!("SELECT {dblink}.dblink_disconnect($1)");
                call::<DecodedText>(&disconnect, &[&self.name]);
            }
        });
    }

    fn receive<T>(
        &mut self,
        dblink: &str,
        server: &str,
        columns: &str,
        read: impl Fn(&Row<'_>) -> T,
    ) -> T {
        let fetch = format!("SELECT * FROM {dblink}.dblink_get_result($1) AS answer({columns})");
        let name = self.name.clone();
        let until = self.first_answer_due.unwrap_or(Micros::MAX);
        let work = |client: &mut SpiClient<'_>| {
            wait(dblink, &name, until);
            let rows = spi::update(client, &fetch, &texts(&[&name]));
            let answer = spi::read_first(rows, &read).unwrap_or_else(|| {
                let message = format!("foreign server \"{server}\" returned no rows");
                report(Code::ERRCODE_PROTOCOL_VIOLATION, message).raise()
            });
            // The second result is empty, and makes the connection ready for the next query. It can arrive later.
            wait(dblink, &name, until);
            spi::update(client, &fetch, &texts(&[&name]));
            answer
        };
        let answer = privilege::guarded(|| spi::open(work));
        self.is_waiting = false;
        answer
    }
}

/// The wait of a worker for the answer of another server.
static ANSWER: WaitEvent = WaitEvent::new(c"MintAnswer");

/// Waits for the next part of an answer, which must arrive by `until` on the clock since boot. It polls, as dblink's
/// own wait cannot be interrupted in all versions.
fn wait(dblink: &str, name: &str, until: Micros) {
    let is_busy = format!("SELECT {dblink}.dblink_is_busy($1)");
    while call(&is_busy, &[name]) == Some(1) {
        deadline::check();
        if clock::up() > until {
            report(Code::ERRCODE_CONNECTION_FAILURE, "request took too long").raise();
        }
        clock::pause(POLL, &ANSWER);
    }
}

/// Runs a statement with arguments of type text, and returns its only value.
fn call<T: FromDatum + IntoDatum>(statement: &str, arguments: &[&str]) -> Option<T> {
    privilege::guarded(|| spi::one(statement, &texts(arguments)))
}

fn texts(arguments: &[&str]) -> Vec<DatumWithOid<'static>> {
    let text = |&text: &&str| DecodedText(text.to_owned()).into();
    arguments.iter().map(text).collect()
}

/// Runs `work` with the schema of dblink, quoted, as [`attempt`] does. Its statements can call dblink's functions, and
/// no others in that schema: not even those that the owner of the extension has added to it, which are not in C.
fn in_dblink<T>(limit: TimeLimit, work: impl FnOnce(&str) -> T) -> Result<T, Failure> {
    attempt(limit, || {
        let select = "SELECT quote_ident(n.nspname), ARRAY(
                SELECT d.objid FROM pg_depend AS d
                JOIN pg_proc AS p ON p.oid = d.objid
                JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'c'
                WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass
                    AND d.refobjid = e.oid AND d.deptype = 'e'
            )
            FROM pg_extension AS e
                JOIN pg_namespace AS n ON n.oid = e.extnamespace
            WHERE e.extname = 'dblink'";
        let read = |row: &Row<'_>| Some((row.need(1), row.need(2)));
        let dblink: Option<(DecodedText, Vec<pg_sys::Oid>)> =
            sql::rows_now(select, &[], read).pop();
        let Some((DecodedText(schema), functions)) = dblink else {
            report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                "extension \"dblink\" is not installed in this database",
            )
            .hint(format!(
                "Use CREATE EXTENSION dblink in database \"{}\".",
                extension::name_of_own_database()
            ))
            .raise()
        };
        let bound = Bound {
            functions: &functions,
            ..Bound::default()
        };
        binding::restrict_to(bound, || work(&schema))
    })
}
