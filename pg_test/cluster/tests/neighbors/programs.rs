//! Programs that connect to a server with pg_mint.

use crate::row::Neighbor;
use mint_cluster::server::installation;
use mint_cluster::{Server, Session, assert_unique};
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

fn ids(session: &mut Session) -> Vec<i64> {
    session.column("SELECT id FROM item ORDER BY id")
}

const TABLE: &str =
    "CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text)";
const FILL: &str = "INSERT INTO item (body) SELECT 'x' FROM generate_series(1, 1000)";

/// The version in the output of a program: its first word that begins with a digit.
fn version_of(path: &Path, argument: &str) -> String {
    let said = installation::run(Command::new(path).arg(argument));
    said.split([' ', '\n', '"'])
        .find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
        .unwrap_or_default()
        .to_owned()
}

/// A program that the server's user runs.
fn command(path: &Path, home: &Path) -> Command {
    let folder = path.parent().expect("a folder");
    let name = path.file_name().expect("a name").to_string_lossy();
    installation::program(folder, &name, home, &[])
}

/// Writes a file that the server's user can read.
fn file(folder: &str, name: &str, text: &str) -> PathBuf {
    let place = Path::new(folder).join(name);
    fs::write(&place, text).expect("a file");
    installation::give_to_server(&place);
    place
}

#[test]
fn pg_repack() {
    let neighbor = Neighbor {
        name: "pg_repack",
        what: "rewrites a table while a client inserts by our default; the default and all rows stay",
    };
    if !neighbor.is_there("pg_repack") {
        return;
    }
    let server = Server::build("pg_repack").start_empty();
    let mut session = server.connect("postgres");
    session.run("CREATE EXTENSION pg_repack; CREATE EXTENSION pg_mint; DROP EXTENSION pg_repack; CREATE EXTENSION pg_repack");
    session.run(TABLE);
    session.run(FILL);
    session.run("DELETE FROM item WHERE id IN (SELECT id FROM item ORDER BY id LIMIT 500)");
    let before: u32 = session.one("SELECT relfilenode FROM pg_class WHERE relname = 'item'");
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            server.pgbench(
                "postgres",
                "INSERT INTO item (body) VALUES ('meanwhile');\n",
                2,
                500,
            )
        });
        server.client("pg_repack", &["--table", "item", "postgres"]);
        client.join().expect("all inserts succeed");
    });
    let after: u32 = session.one("SELECT relfilenode FROM pg_class WHERE relname = 'item'");
    assert_ne!(before, after, "it was not rewritten");
    session.run(FILL);
    let found = ids(&mut session);
    assert_eq!(found.len(), 2_500);
    assert_unique([&found]);
    let version: String =
        session.one("SELECT extversion FROM pg_extension WHERE extname = 'pg_repack'");
    neighbor.works(&version);
}

/// Eight clients over three sessions of the server.
#[test]
fn pgbouncer() {
    let neighbor = Neighbor {
        name: "PgBouncer",
        what: "eight clients over three sessions in transaction mode: no id repeats",
    };
    let program = Path::new("/usr/sbin/pgbouncer");
    if !neighbor.is_program(program) {
        return;
    }
    let server = Server::start("pgbouncer");
    let mut session = server.connect("postgres");
    session.run(TABLE);
    let folder = server.folder("pooler");
    let socket = server.socket().display();
    let users = file(&folder, "users", "\"postgres\" \"\"\n");
    let ini = file(
        &folder,
        "ini",
        &format!(
            "[databases]\npooled = host={socket} port=5432 dbname=postgres\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n\
             unix_socket_dir = {folder}\nauth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 3\n\
             pidfile = {folder}/pid\nlogfile = {folder}/log\n",
            users.display()
        ),
    );
    installation::run(command(program, Path::new(&folder)).arg("-d").arg(&ini));
    // A daemon leaves its caller before it listens.
    let pooler = Path::new(&folder).join(".s.PGSQL.6432");
    server.until("PgBouncer listens", || UnixStream::connect(&pooler).is_ok());
    let script = file(
        &folder,
        "script",
        "INSERT INTO item (body) VALUES (pg_backend_pid()::text);\n",
    );
    let bench = installation::run(
        installation::program(installation::programs(), "pgbench", Path::new(&folder), &[])
            .args([
                "-n", "-h", &folder, "-p", "6432", "-U", "postgres", "-c", "8", "-j", "2", "-t",
                "200", "-f",
            ])
            .arg(&script)
            .arg("pooled"),
    );
    let pid = fs::read_to_string(format!("{folder}/pid")).expect("the pooler's pid");
    installation::signal("-TERM", pid.trim());
    assert!(bench.contains("1600/1600"), "{bench}");
    assert_unique([&ids(&mut session)]);
    let counts: (i64, i64) = (
        session.one("SELECT count(*) FROM item"),
        session.one("SELECT count(DISTINCT body) FROM item"),
    );
    assert!(counts.0 == 1_600 && counts.1 <= 3, "{counts:?}");
    neighbor.works(&version_of(program, "--version"));
}

/// A backup while ids are generated, restored into another folder: its ids continue above all of the first server.
#[test]
fn pgbackrest() {
    let neighbor = Neighbor {
        name: "pgBackRest",
        what: "a backup, and its restore on another server, whose ids continue above all of the first",
    };
    let program = Path::new("/usr/bin/pgbackrest");
    if !neighbor.is_program(program) {
        return;
    }
    let server = Server::build("pgbackrest").start();
    let folder = server.folder("backup");
    let data = server.one::<String>("SHOW data_directory");
    let socket = server.socket().display().to_string();
    let conf = |data: &str, name: &str| {
        file(
            &folder,
            name,
            &format!(
                "[global]\nrepo1-path={folder}/repo\nlog-path={folder}\nspool-path={folder}\nlock-path={folder}\nlog-level-file=off\n\
                 start-fast=y\n[main]\npg1-path={data}\npg1-socket-path={socket}\npg1-user=postgres\n"
            ),
        )
    };
    let first = conf(&data, "first.conf").display().to_string();
    let call = |conf: &str, arguments: &[&str]| {
        installation::run(
            command(program, Path::new(&folder))
                .args(["--stanza=main", &format!("--config={conf}")])
                .args(arguments),
        )
    };
    server.configure(&format!(
        "archive_mode = on\narchive_command = '{} --stanza=main --config={first} archive-push %p'\nwal_level = replica",
        program.display()
    ));
    server.restart();
    // Debian's can be older than the server.
    let created = command(program, Path::new(&folder))
        .args([
            "--stanza=main",
            &format!("--config={first}"),
            "stanza-create",
        ])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&[created.stdout, created.stderr].concat()).into_owned();
    if said.contains("VersionNotSupportedError") {
        return neighbor.not_run("the package of this Debian does not support the PostgreSQL");
    }
    assert!(created.status.success(), "{said}");
    let mut session = server.connect("postgres");
    session.run(TABLE);
    session.run(FILL);
    call(&first, &["backup", "--type=full"]);
    session.run(FILL);
    session.run("SELECT pg_switch_wal()");
    drop(session);
    // Ids that no WAL of the archive has: the ceiling has them.
    let mut last = server
        .connect("postgres")
        .mint("snowflake_next_id(5)", 1_000);
    server.stop_immediate();

    let other = Server::build("pgbackrest, restored").start_empty();
    let there = other.one::<String>("SHOW data_directory");
    let kept = ["postgresql.conf", "pg_hba.conf"].map(|name| {
        (
            name,
            fs::read_to_string(Path::new(&there).join(name)).expect("a file"),
        )
    });
    other.stop_fast();
    let second = conf(&there, "second.conf").display().to_string();
    call(
        &second,
        &[
            "restore", "--delta", "--type=immediate", "--target-action=promote",
        ],
    );
    for (name, text) in kept {
        let place = Path::new(&there).join(name);
        fs::write(&place, text).expect("a file");
        installation::give_to_server(&place);
    }
    other.start_again();
    let mut session = other.connect("postgres");
    other.until("the server is promoted", || {
        !other.one::<bool>("SELECT pg_is_in_recovery()")
    });
    let rows: i64 = session.one("SELECT count(*) FROM item");
    assert!(rows >= 1_000, "{rows} rows are restored");
    let next: Vec<String> = other.until_minted(|| {
        session.try_column("SELECT snowflake_next_id(5)::text FROM generate_series(1, 1000)")
    });
    last.sort_unstable();
    assert!(
        next.iter().all(|id| last.binary_search(id).is_err()),
        "an id repeats"
    );
    assert!(next.iter().min() > last.last(), "ids continue below");
    neighbor.works(&version_of(program, "version"));
}

#[test]
fn pgloader() {
    let neighbor = Neighbor {
        name: "pgloader",
        what: "loads a CSV file without the column of the id, which our default fills",
    };
    let program = Path::new("/usr/bin/pgloader");
    if !neighbor.is_program(program) {
        return;
    }
    let server = Server::start("pgloader");
    let mut session = server.connect("postgres");
    session.run(TABLE);
    let folder = server.folder("load");
    let lines: String = (0..1_000).map(|n| format!("row {n}\n")).collect();
    let csv = file(&folder, "rows.csv", &lines);
    let load = file(
        &folder,
        "load",
        &format!(
            "LOAD CSV FROM '{}' (body) INTO postgresql://postgres@unix:{}:5432/postgres TARGET TABLE public.item (body)\n\
             WITH fields terminated by ',';\n",
            csv.display(),
            server.socket().display()
        ),
    );
    let said = installation::run(
        command(program, Path::new(&folder))
            .args(["--root-dir", &folder])
            .arg(&load),
    );
    let found = ids(&mut session);
    assert_eq!(found.len(), 1_000, "{said}");
    assert_unique([&found]);
    let bodies: i64 = session.one("SELECT count(DISTINCT body) FROM item WHERE snowflake_time(id) > now() - interval '1 hour'");
    assert_eq!(bodies, 1_000);
    neighbor.works(&version_of(program, "--version"));
}
