//! A connection whose calls take SQL, and the errors that they return.

use postgres::types::FromSqlOwned;
use postgres::{Client, Config, NoTls};
use std::fmt;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Address at which clients connect. A failover moves it, as a proxy or a DNS name would.
pub struct Place(Mutex<Config>);

impl Place {
    pub(crate) fn new(config: Config) -> Self {
        Self(Mutex::new(config))
    }

    /// Directs clients that connect from now on to the server of another place.
    pub fn move_to(&self, other: &Place) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = other.config();
    }

    fn config(&self) -> Config {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Opens a session on the server that is there now.
    ///
    /// # Errors
    /// The server's error, or that there is no server.
    pub fn try_connect(&self) -> Result<Session, Refusal> {
        let begun = Instant::now();
        Session::open(&self.config()).map_err(|error| Refusal::new(&error, begun.elapsed()))
    }
}

/// Milliseconds that a session's server process has run on a processor, to which other work of the machine adds nothing.
pub const BUSY: &str = "(SELECT sum(ticks::float8) * 10 FROM string_to_table(split_part(pg_read_file('/proc/self/stat'),
    ') ', 2), ' ') WITH ORDINALITY AS f (ticks, n) WHERE n IN (12, 13))";

/// One connection. Calls panic with the server's error, except those that return it ([`Session::refusal`], `try_...`).
pub struct Session {
    client: Client,
    /// The server process that serves this connection.
    pub pid: i32,
}

/// An error that the server raised.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub code: String,
    pub message: String,
    pub detail: String,
    pub hint: String,
    /// The line that raised it, of an error of the extension: `\errverbose` shows it, with the last part of its file.
    pub line: Option<u32>,
    /// Time from the call to the answer.
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
    /// Returns whether it means that the connection was lost or not accepted, and not an answer to the statement.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        self.code.is_empty() || self.code.starts_with("57P") || self.code.starts_with("08")
    }

    /// Asserts that the message has these words.
    #[track_caller]
    pub fn assert_message(&self, words: &str) {
        assert!(self.message.contains(words), "{words}: {self}");
    }

    /// Asserts that the detail has these words.
    #[track_caller]
    pub fn assert_detail(&self, words: &str) {
        assert!(self.detail.contains(words), "{words}: {self}");
    }

    /// Asserts that the hint has these words.
    #[track_caller]
    pub fn assert_hint(&self, words: &str) {
        assert!(self.hint.contains(words), "{words}: {self}");
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
            line: said
                .filter(|said| said.routine() == Some("pg_mint"))
                .and_then(|said| said.line()),
            after,
        }
    }
}

impl Session {
    /// Opens a connection.
    ///
    /// # Errors
    /// There is no server, or it does not accept the user.
    pub fn open(config: &Config) -> Result<Self, postgres::Error> {
        let mut client = config.connect(NoTls)?;
        let pid = client.query_one("SELECT pg_backend_pid()", &[])?.get(0);
        Ok(Self { client, pid })
    }

    /// Makes a call, and times it if it is refused.
    fn ask<T>(
        &mut self,
        call: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, Refusal> {
        let begun = Instant::now();
        call(&mut self.client).map_err(|error| Refusal::new(&error, begun.elapsed()))
    }

    /// Runs statements without results; several of them are one transaction.
    #[track_caller]
    pub fn run(&mut self, sql: &str) {
        if let Err(refusal) = self.try_run(sql) {
            panic!("{sql}\n{refusal}");
        }
    }

    /// Runs statements that can be refused.
    ///
    /// # Errors
    /// The server's error.
    pub fn try_run(&mut self, sql: &str) -> Result<(), Refusal> {
        self.ask(|client| client.batch_execute(sql))
    }

    /// Returns the single value of a query.
    #[track_caller]
    pub fn one<T: FromSqlOwned>(&mut self, sql: &str) -> T {
        match self.try_one(sql) {
            Ok(value) => value,
            Err(refusal) => panic!("{sql}\n{refusal}"),
        }
    }

    /// Returns the single value of a query, or the server's error.
    ///
    /// # Errors
    /// The server's error.
    pub fn try_one<T: FromSqlOwned>(&mut self, sql: &str) -> Result<T, Refusal> {
        Ok(self.ask(|client| client.query_one(sql, &[]))?.get(0))
    }

    /// Returns the first column of a query, or the server's error.
    ///
    /// # Errors
    /// The server's error.
    pub fn try_column<T: FromSqlOwned>(&mut self, sql: &str) -> Result<Vec<T>, Refusal> {
        let rows = self.ask(|client| client.query(sql, &[]))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Returns the first column of a query, in its order.
    #[track_caller]
    pub fn column<T: FromSqlOwned>(&mut self, sql: &str) -> Vec<T> {
        match self.try_column(sql) {
            Ok(values) => values,
            Err(refusal) => panic!("{sql}\n{refusal}"),
        }
    }

    /// Calls an expression `many` times in one statement and returns the results as text.
    #[track_caller]
    pub fn mint(&mut self, call: &str, many: usize) -> Vec<String> {
        self.column(&format!(
            "SELECT {call}::text FROM generate_series(1, {many})"
        ))
    }

    /// Copies the rows of a query into a table of another session, which can be on another database.
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

    /// Returns the lines of a `COPY ... TO STDOUT` of numbers that arrive until it ends or the connection is lost, and
    /// counts them meanwhile.
    pub fn copy_until_lost(&mut self, sql: &str, count: &AtomicUsize) -> Vec<i64> {
        let Ok(rows) = self.client.copy_out(sql) else {
            return Vec::new();
        };
        let lines = rows.lines().map_while(Result::ok);
        let numbers = lines.map_while(|line| line.trim().parse().ok());
        numbers
            .inspect(|_| {
                count.fetch_add(1, Ordering::Relaxed);
            })
            .collect()
    }

    /// Sends data to a `COPY ... FROM STDIN`.
    ///
    /// # Errors
    /// The server's error.
    pub fn try_copy_in(&mut self, sql: &str, data: &[u8]) -> Result<(), Refusal> {
        let copied = self.ask(|client| {
            let mut there = client.copy_in(sql)?;
            // After an error the server reads no further; it reports the error at the end.
            let _ = there.write_all(data);
            there.finish()
        });
        copied.map(drop)
    }

    /// Runs a statement that must fail, and returns its error.
    #[track_caller]
    pub fn refusal(&mut self, sql: &str) -> Refusal {
        let begun = Instant::now();
        match self.try_run(sql) {
            Ok(()) => panic!("{sql}\nwas not refused (it took {:?})", begun.elapsed()),
            Err(refusal) => refusal,
        }
    }

    /// Runs a statement that must fail with this SQLSTATE, and returns its error.
    #[track_caller]
    pub fn refused(&mut self, sql: &str, code: &str) -> Refusal {
        let refusal = self.refusal(sql);
        assert_eq!(refusal.code, code, "{sql}\n{refusal}");
        refusal
    }

    /// Returns the shard of an id of the default layout.
    #[track_caller]
    pub fn shard(&mut self, id: i64) -> i64 {
        self.one::<i32>(&format!("SELECT snowflake_shard({id})"))
            .into()
    }

    /// Returns the status of a check of `mint.health()`.
    #[track_caller]
    pub fn health(&mut self, check: &str) -> String {
        self.one(&format!(
            "SELECT status FROM mint.health() WHERE check_name = '{check}'"
        ))
    }

    /// Asserts the status of a check of `mint.health()`, and words of its row: `"clock is warning: shard 5"`. A row that is ok
    /// has no hint.
    #[track_caller]
    pub fn assert_health(&mut self, finding: &str) {
        let (check, rest) = finding.split_once(" is ").expect("a check and its status");
        let (status, words) = rest.split_once(": ").unwrap_or((rest, ""));
        let row: String = self.one(&format!(
            "SELECT concat_ws(' | ', status, detail, hint) FROM mint.health() WHERE check_name = '{check}'"
        ));
        assert!(
            row.starts_with(status) && row.contains(words),
            "{check}: {row}"
        );
        let has_hint: bool = self.one(&format!(
            "SELECT hint IS NOT NULL FROM mint.health() WHERE check_name = '{check}'"
        ));
        assert_eq!(has_hint, status != "ok", "{check}: {row}");
    }

    /// Runs a query and returns its plan.
    #[track_caller]
    pub fn explain(&mut self, sql: &str) -> String {
        self.column::<String>(&format!("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) {sql}"))
            .join("\n")
    }

    /// Makes queries run in a parallel worker, whatever they cost. PostgreSQL 16 renamed the setting.
    #[track_caller]
    pub fn force_parallel(&mut self) {
        self.run(
            "DO $$ BEGIN PERFORM set_config(name, 'on', false) FROM pg_settings
                 WHERE name IN ('force_parallel_mode', 'debug_parallel_query'); END $$",
        );
    }

    /// Changes a setting by ALTER SYSTEM and waits until this session has it. Other sessions get the new value with their
    /// next statement.
    ///
    /// Loads the library first, without which ALTER SYSTEM does not know the setting.
    pub fn set_for_server(&mut self, setting: &str, value: &str) {
        self.run("LOAD 'pg_mint'");
        self.run(&format!("ALTER SYSTEM SET {setting} = {value}"));
        let before: String = self.one(&format!("SHOW {setting}"));
        self.run("SELECT pg_reload_conf()");
        // The reload reaches this session by a signal, some time later.
        let deadline = Instant::now() + Duration::from_secs(2);
        while self.one::<String>(&format!("SHOW {setting}")) == before && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
