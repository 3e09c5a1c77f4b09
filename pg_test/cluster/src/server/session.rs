//! A connection whose calls read as SQL.

use postgres::types::FromSqlOwned;
use postgres::{Client, Config, NoTls};
use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where clients look for the server. A failover moves it, as a proxy or a changed name would.
pub struct Place(Mutex<Config>);

impl Place {
    pub(crate) fn new(config: Config) -> Self {
        Self(Mutex::new(config))
    }

    /// From now on clients that connect find here what is at another place.
    pub fn move_to(&self, other: &Place) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = other.config();
    }

    fn config(&self) -> Config {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A session of whatever server is there now.
    ///
    /// # Errors
    /// What it says, or that there is none.
    pub fn try_connect(&self) -> Result<Session, Refusal> {
        let begun = Instant::now();
        Session::open(&self.config()).map_err(|error| Refusal::new(&error, begun.elapsed()))
    }
}

/// One connection. What is expected to work panics with the server's words when it does not; what is expected to be
/// refused is asked for by name ([`Session::refusal`]).
pub struct Session {
    client: Client,
    /// The server process that serves this connection.
    pub pid: i32,
}

/// What the server said when it said no.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub code: String,
    pub message: String,
    pub detail: String,
    pub hint: String,
    /// From the call to the answer.
    pub after: Duration,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} after {:?}: {}",
            self.code, self.after, self.message
        )?;
        write!(out, " DETAIL: {} HINT: {}", self.detail, self.hint)
    }
}

impl Refusal {
    /// Whether it says that the connection is at its end, or that the server takes none: the fault's doing, not an
    /// answer to what was asked.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        self.code.is_empty() || self.code.starts_with("57P") || self.code.starts_with("08")
    }

    pub(crate) fn new(error: &postgres::Error, after: Duration) -> Self {
        let said = error.as_db_error();
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        Self {
            // A connection cut off before the message arrived has no code.
            code: text(error.code().map(|state| state.code())),
            message: said.map_or_else(|| error.to_string(), |said| said.message().to_owned()),
            detail: text(said.and_then(|said| said.detail())),
            hint: text(said.and_then(|said| said.hint())),
            after,
        }
    }
}

impl Session {
    /// # Errors
    /// When the server is not there, or does not let the user in.
    pub fn open(config: &Config) -> Result<Self, postgres::Error> {
        let mut client = config.connect(NoTls)?;
        let pid = client.query_one("SELECT pg_backend_pid()", &[])?.get(0);
        Ok(Self { client, pid })
    }

    /// Runs statements whose answer does not matter; several of them are one transaction.
    #[track_caller]
    pub fn run(&mut self, sql: &str) {
        let begun = Instant::now();
        if let Err(error) = self.client.batch_execute(sql) {
            panic!("{sql}\n{}", Refusal::new(&error, begun.elapsed()));
        }
    }

    /// Runs statements that may be refused.
    ///
    /// # Errors
    /// What the server raised.
    pub fn try_run(&mut self, sql: &str) -> Result<(), Refusal> {
        let begun = Instant::now();
        self.client
            .batch_execute(sql)
            .map_err(|error| Refusal::new(&error, begun.elapsed()))
    }

    /// The single value a query gives.
    #[track_caller]
    pub fn one<T: FromSqlOwned>(&mut self, sql: &str) -> T {
        match self.try_one(sql) {
            Ok(value) => value,
            Err(refusal) => panic!("{sql}\n{refusal}"),
        }
    }

    /// The single value a query gives, or the server's refusal.
    ///
    /// # Errors
    /// What the server raised.
    pub fn try_one<T: FromSqlOwned>(&mut self, sql: &str) -> Result<T, Refusal> {
        let begun = Instant::now();
        self.client
            .query_one(sql, &[])
            .map(|row| row.get(0))
            .map_err(|error| Refusal::new(&error, begun.elapsed()))
    }

    /// The first column of a query, or the server's refusal.
    ///
    /// # Errors
    /// What the server raised.
    pub fn try_column<T: FromSqlOwned>(&mut self, sql: &str) -> Result<Vec<T>, Refusal> {
        let begun = Instant::now();
        self.client
            .query(sql, &[])
            .map(|rows| rows.iter().map(|row| row.get(0)).collect())
            .map_err(|error| Refusal::new(&error, begun.elapsed()))
    }

    /// The first column of a query, in the order in which it came.
    #[track_caller]
    pub fn column<T: FromSqlOwned>(&mut self, sql: &str) -> Vec<T> {
        match self.try_column(sql) {
            Ok(values) => values,
            Err(refusal) => panic!("{sql}\n{refusal}"),
        }
    }

    /// What a call gives, as text, so many times in one statement.
    #[track_caller]
    pub fn mint(&mut self, call: &str, many: usize) -> Vec<String> {
        self.column(&format!(
            "SELECT {call}::text FROM generate_series(1, {many})"
        ))
    }

    /// Copies what a query gives into a table of another session, which may be of another database.
    #[track_caller]
    pub fn copy(&mut self, query: &str, into: &mut Self, table: &str) {
        let mut rows = self
            .client
            .copy_out(&format!("COPY ({query}) TO STDOUT"))
            .expect("COPY TO");
        let mut there = into
            .client
            .copy_in(&format!("COPY {table} FROM STDIN"))
            .expect("COPY FROM");
        std::io::copy(&mut rows, &mut there).expect("the rows arrive");
        there.finish().expect("the rows are taken");
    }

    /// Sends data to a `COPY ... FROM STDIN`.
    ///
    /// # Errors
    /// What the server raised.
    pub fn try_copy_in(&mut self, sql: &str, data: &[u8]) -> Result<(), Refusal> {
        let begun = Instant::now();
        let copied = self.client.copy_in(sql).and_then(|mut there| {
            // A server that has raised reads no further, and says why at the end.
            let _ = there.write_all(data);
            there.finish()
        });
        copied
            .map(drop)
            .map_err(|error| Refusal::new(&error, begun.elapsed()))
    }

    /// Runs what must be refused, and returns how it was.
    #[track_caller]
    pub fn refusal(&mut self, sql: &str) -> Refusal {
        let begun = Instant::now();
        match self.client.batch_execute(sql) {
            Ok(()) => panic!("{sql}\nwas not refused (it took {:?})", begun.elapsed()),
            Err(error) => Refusal::new(&error, begun.elapsed()),
        }
    }

    /// The plan of a query as it ran.
    #[track_caller]
    pub fn explain(&mut self, sql: &str) -> String {
        self.column::<String>(&format!("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) {sql}"))
            .join("\n")
    }

    /// Sets a server-wide setting and has this session see it.
    ///
    /// The library is loaded first: a server does not know a setting of a library it never met. Other sessions see
    /// the new value at their next statement.
    pub fn set_for_server(&mut self, setting: &str, value: &str) {
        self.run("LOAD 'pg_mint'");
        self.run(&format!("ALTER SYSTEM SET {setting} = {value}"));
        let before: String = self.one(&format!("SHOW {setting}"));
        self.run("SELECT pg_reload_conf()");
        // A reload is a signal: it arrives when it arrives.
        let patience = Instant::now() + Duration::from_secs(2);
        while self.one::<String>(&format!("SHOW {setting}")) == before && Instant::now() < patience
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
