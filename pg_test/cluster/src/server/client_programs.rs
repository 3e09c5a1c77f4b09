//! PostgreSQL's client programs, connected to a server under test.

use crate::server::installation;
use crate::server::process::Server;
use std::process::Command;

impl Server {
    /// Returns a command that runs a client program on this server.
    pub(crate) fn client_program(&self, name: &str, user: &str) -> Command {
        let mut command = self.program(name, &[]);
        command
            .arg("-h")
            .arg(self.path())
            .args(["-p", "5432", "-U", user]);
        command
    }

    /// Runs a program of the tree that is a client of this server, as the superuser. Panics if it fails.
    pub fn client(&self, name: &str, arguments: &[&str]) -> String {
        installation::run(self.client_program(name, "postgres").args(arguments))
    }

    /// Runs a pgbench script in `clients` sessions, `transactions` times each. Panics if it fails.
    ///
    /// Each client has a variable `n`, zero at first, to count with, besides pgbench's own `client_id`.
    pub fn pgbench(&self, database: &str, script: &str, clients: usize, transactions: usize) {
        let mut pgbench = self.client_program("pgbench", "postgres");
        pgbench.args(["-n", "-D", "n=0", "-j", "2", "-f", "-"]);
        pgbench.args([
            "-c",
            &clients.to_string(),
            "-t",
            &transactions.to_string(),
            database,
        ]);
        let said = installation::run_with_input(&mut pgbench, script);
        let whole = format!("{0}/{0}", clients * transactions);
        assert!(
            said.contains(&whole),
            "pgbench did not do all of {whole}:\n{said}"
        );
    }

    /// Runs SQL in single-user mode. The server must be stopped.
    #[must_use]
    pub fn single_user(&self, database: &str, sql: &str) -> String {
        let mut single = self.program("postgres", &self.environment);
        single.args(["--single", "-j", "-D"]).arg(self.data());
        installation::run_with_input(single.arg(database), sql)
    }

    /// Removes the WAL of a stopped server by pg_resetwal.
    pub fn reset_wal(&self) {
        // pg_resetwal trusts the lock file, which a killed postmaster leaves behind.
        let _ = std::fs::remove_file(self.data().join("postmaster.pid"));
        installation::run(self.program("pg_resetwal", &[]).arg("-f").arg(self.data()));
    }

    /// Creates an empty folder that the server can use for a tablespace.
    #[must_use]
    pub fn folder(&self, name: &str) -> String {
        let place = self.path().join(name);
        std::fs::create_dir(&place).expect("a new folder");
        installation::give_to_server(&place);
        place.display().to_string()
    }

    /// Dumps a database as `user`.
    #[must_use]
    pub fn dump(&self, user: &str, database: &str) -> String {
        installation::run(self.client_program("pg_dump", user).arg(database))
    }

    /// Dumps the data of a database, without the schema.
    #[must_use]
    pub fn dump_data(&self, user: &str, database: &str) -> String {
        self.dump_with(user, database, &["--data-only"])
    }

    /// Dumps a database with these options of pg_dump.
    #[must_use]
    pub fn dump_with(&self, user: &str, database: &str, options: &[&str]) -> String {
        installation::run(
            self.client_program("pg_dump", user)
                .args(options)
                .arg(database),
        )
    }

    /// Dumps a database into an archive in `folder`, and restores it into another, with these options of pg_restore.
    /// Panics at the first error.
    pub fn archive_and_restore(
        &self,
        user: &str,
        [from, to]: [&str; 2],
        folder: &str,
        options: &[&str],
    ) {
        let archive = format!("{folder}/archive");
        installation::run(
            self.client_program("pg_dump", user)
                .args(["-Fc", "-f", &archive, from]),
        );
        let mut restore = self.client_program("pg_restore", user);
        restore.args(["--exit-on-error", "-d", to]);
        installation::run(restore.args(options).arg(&archive));
    }

    /// Restores a dump into another database as `user`. Panics at the first error.
    pub fn restore(&self, user: &str, database: &str, dump: &str) {
        let mut psql = self.client_program("psql", user);
        psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database]);
        installation::run_with_input(&mut psql, dump);
    }

    /// Runs a script by psql. Returns the bytes of its output, then those of its errors.
    #[must_use]
    pub fn psql(&self, database: &str, script: &[u8]) -> Vec<u8> {
        let file = self.path().join("script.sql");
        std::fs::write(&file, script).expect("a script");
        let mut psql = self.client_program("psql", "postgres");
        psql.args(["-X", "-q", "-A", "-t", "-d", database, "-f"]);
        let output = psql.arg(file).output().expect("psql runs");
        [output.stdout, output.stderr].concat()
    }
}
