//! A registry with up to 10,000 members: requests, waits for locks, the size of its tables, and VACUUM.

use crate::chart::{self, Line};
use crate::report::{self, Report, Results, Table, number};
use crate::scale::Scale;
use crate::stats::percentile;
use mint_cluster::registry::crowd::{WIDTH, fill};
use mint_cluster::registry::members::request;
use mint_cluster::{Registry, Server, Session};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const MEMBERS: [i64; 3] = [100, 1_000, 10_000];
const SESSIONS: [usize; 5] = [1, 2, 4, 8, 16];
/// The time after which a member renews its lease, in seconds.
const RENEWAL: f64 = 10.0;
/// Sessions whose memory is measured.
const IDLE: usize = 20;

/// The leases that sessions got in a span.
struct Rate {
    per_second: f64,
    /// Milliseconds of each request.
    taken: Vec<f64>,
    /// Sessions that waited for a lock when they were looked at, and all that were looked at.
    waiting: (i64, i64),
}

pub fn measure(_server: &Server, scale: Scale, report: &mut Report) {
    let mut requests = Table::new(
        "members",
        "A registry and its members",
        "Renewals of leases per second, each in a transaction that is flushed to disk, on a registry with the given \
         number of leases, and the time of one renewal. Waiting: the share of requests that waited for a lock, by 20 \
         samples a second. Grant: the time of granting a new lease; grants run one after the other.",
        &[
            "leases", "sessions", "renewals/s", "p50, ms", "p99, ms", "waiting, %", "grant, ms",
        ],
    );
    let mut sizes = Table::new(
        "members_size",
        "The tables of a registry",
        "Kilobytes of the table of leases with its indexes: before and after the renewals above without a VACUUM, \
         after a VACUUM, and after as many renewals again. HOT: renewals that wrote no index.",
        &[
            "leases", "before", "renewals", "HOT, %", "after", "dead rows", "after VACUUM",
            "VACUUM, ms", "after as many again",
        ],
    );
    for members in MEMBERS {
        report::progress(&format!("  {members} members"));
        let builder = Server::build("a registry of many members")
            .conf("max_connections = 100")
            .conf("autovacuum = off")
            .conf("jit = off")
            .durable();
        let Some(registry) = Registry::start_with(builder) else {
            return;
        };
        fill(&registry, members);
        let mut admin = registry.connect();
        let before = size(&mut admin);
        let grant = grant(&registry, scale.pick(50, 10));
        let mut best: f64 = 0.0;
        for sessions in SESSIONS {
            let span = Duration::from_millis(scale.pick(5_000, 1_000));
            let rate = renew(&registry, members, sessions, span);
            best = best.max(rate.per_second);
            let (waiting, all) = rate.waiting;
            requests.row(&[
                members.to_string(),
                sessions.to_string(),
                number(rate.per_second),
                number(percentile(&rate.taken, 50.0)),
                number(percentile(&rate.taken, 99.0)),
                number(waiting as f64 * 100.0 / all.max(1) as f64),
                number(grant),
            ]);
        }
        sizes.row(&sizes_of(&registry, &mut admin, members, before));
        if members == MEMBERS[MEMBERS.len() - 1] {
            requests.note(&capacity(best));
            requests.note(&memory(&registry));
        }
    }
    requests.chart("members.svg", "Renewals of leases per second");
    report.add(requests);
    report.add(sizes);
    draw(report.place("").as_path());
}

/// Draws the renewals from the recorded results.
fn draw(results: &Path) {
    let recorded = Results::read(results, "members.csv");
    let line = |members: i64| {
        let point = |&sessions: &usize| {
            let row = [members.to_string(), sessions.to_string()];
            let rate = recorded.cell(&[&row[0], &row[1]], "renewals/s").parse();
            (sessions as f64, rate.unwrap_or_default())
        };
        Line::new(
            &format!("{members} leases"),
            SESSIONS.iter().map(point).collect(),
        )
    };
    chart::lines(
        &results.join("members.svg"),
        "Renewals of leases",
        ("sessions at once", "renewals per second"),
        &MEMBERS.map(line),
    );
}

/// Describes how many members the registry can have.
fn capacity(best: f64) -> String {
    format!(
        "{} renewals per second are those of {:.0} members: each renews its lease every {RENEWAL} s.",
        number(best),
        best * RENEWAL
    )
}

/// Renews leases from so many sessions for a while.
fn renew(registry: &Registry, members: i64, sessions: usize, span: Duration) -> Rate {
    // A lease that is over is not renewed.
    registry.connect().run(
        "UPDATE mint.registry_leases SET lease_until = date_trunc('ms', clock_timestamp()) + '30 s'",
    );
    let (start, stop) = (Barrier::new(sessions + 1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (start, stop) = (&start, &stop);
        let asking: Vec<_> = (0..sessions)
            .map(|session| {
                scope.spawn(move || {
                    let mut member = registry.server.connect_as("member", "postgres");
                    // Members of its own, in no order.
                    let own = members / sessions as i64;
                    let of = |time: i64| session as i64 * own + time * 7919 % own.max(1);
                    ask(&mut member, of(0));
                    start.wait();
                    let (began, mut taken) = (Instant::now(), Vec::new());
                    for time in 1.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let asked = Instant::now();
                        ask(&mut member, of(time));
                        taken.push(asked.elapsed().as_secs_f64() * 1e3);
                    }
                    (taken.len() as f64 / began.elapsed().as_secs_f64(), taken)
                })
            })
            .collect();
        let mut admin = registry.connect();
        start.wait();
        let (began, mut waiting) = (Instant::now(), (0, 0));
        while began.elapsed() < span {
            waiting.0 += look(&mut admin, "wait_event_type = 'Lock'");
            waiting.1 += look(&mut admin, "state = 'active'");
            std::thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
        let mut rate = Rate {
            per_second: 0.0,
            taken: Vec::new(),
            waiting,
        };
        for session in asking {
            let (per_second, taken) = session.join().expect("a session of a member");
            rate.per_second += per_second;
            rate.taken.extend(taken);
        }
        rate
    })
}

/// Renews the lease of a member.
fn ask(member: &mut Session, number: i64) {
    let answer: String = member.one(&format!("SELECT renew({number})::text"));
    assert!(answer.contains("lease"), "{answer}");
}

/// Counts the sessions of members that are so.
fn look(admin: &mut Session, condition: &str) -> i64 {
    admin.one(&format!(
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'member' AND {condition}"
    ))
}

/// Returns the milliseconds of a new lease.
fn grant(registry: &Registry, times: u32) -> f64 {
    let mut member = registry.server.connect_as("member", "postgres");
    let began = Instant::now();
    for time in 1..=times {
        let answer = request(&mut member, WIDTH, &format!("{{\"grant\": {time}}}"));
        assert!(answer.contains("lease"), "{answer}");
    }
    began.elapsed().as_secs_f64() * 1e3 / f64::from(times)
}

/// Returns the kilobytes of the leases.
fn size(admin: &mut Session) -> i64 {
    admin.one("SELECT pg_total_relation_size('mint.registry_leases') / 1024")
}

/// Measures what renewals and a VACUUM do to the table.
fn sizes_of(registry: &Registry, admin: &mut Session, members: i64, before: i64) -> [String; 9] {
    // Sessions report what they did when they end.
    std::thread::sleep(Duration::from_secs(1));
    let of_table = |column: &str| {
        format!(
            "SELECT {column} FROM pg_stat_user_tables WHERE relid = 'mint.registry_leases'::regclass"
        )
    };
    let renewals: i64 = admin.one(&of_table("n_tup_upd"));
    let hot: i64 = admin.one(&of_table("n_tup_hot_upd"));
    let dead: i64 = admin.one(&of_table("n_dead_tup"));
    let after = size(admin);
    let began = Instant::now();
    admin.run("VACUUM mint.registry_leases");
    let vacuum = began.elapsed().as_secs_f64() * 1e3;
    let vacuumed = size(admin);
    // The table does not grow while there is space that VACUUM has freed.
    let mut left = renewals.min(members * 3);
    while left > 0 {
        let rate = renew(registry, members, 8, Duration::from_secs(1));
        left -= rate.taken.len() as i64;
    }
    let again = size(admin);
    [
        members,
        before,
        renewals,
        hot * 100 / renewals.max(1),
        after,
        dead,
        vacuumed,
    ]
    .map(|value| value.to_string())
    .into_iter()
    .chain([number(vacuum), again.to_string()])
    .collect::<Vec<_>>()
    .try_into()
    .expect("nine columns")
}

/// Describes the memory of the sessions of members that are idle: each member keeps its connection.
fn memory(registry: &Registry) -> String {
    let mut members: Vec<Session> = (0..IDLE)
        .map(|_| registry.server.connect_as("member", "postgres"))
        .collect();
    for (number, member) in members.iter_mut().enumerate() {
        ask(member, number as i64);
    }
    let private = |member: &Session| {
        let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", member.pid));
        let kilobytes = |line: &str| line.split_whitespace().nth(1)?.parse::<i64>().ok();
        let rollup = rollup.unwrap_or_default();
        let lines = rollup.lines().filter(|line| line.starts_with("Private"));
        lines.filter_map(kilobytes).sum::<i64>()
    };
    let all: i64 = members.iter().map(private).sum();
    let each = all as f64 / 1024.0 / IDLE as f64;
    format!(
        "A session of a member that has renewed its lease and is idle takes {} MB of the registry's memory.",
        number(each)
    )
}
