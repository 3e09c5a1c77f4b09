//! Faults of one member of a fleet.

use crate::load::clients::Clients;
use crate::registry::fleet::{ANY, Fleet};
use crate::server::process::Server;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A fault of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemberFault {
    /// `kill -9` of a minting session.
    KillSession,
    /// `kill -9` of the worker that renews the leases.
    KillWorker,
    /// `pg_ctl stop -m immediate`.
    StopImmediate,
    /// A clean stop.
    StopFast,
    /// `kill -9` of the postmaster while a long statement runs on.
    Orphan,
    /// All processes stand still for longer than a lease.
    Freeze,
    /// A clone is started beside its original, then one of the two is stopped.
    Clone,
    /// An old copy of the files takes the member's place.
    OldCopy,
    /// Its standby is promoted while the member stands still, and both continue.
    Promotion,
    /// Its clock steps, in milliseconds, and back again.
    Step(i64),
}

/// A statement that draws for minutes. Nothing interrupts it but what minting does. The lines are long, as the server
/// keeps what it sends until there are 8 kB.
const LONG: &str = "COPY (
    SELECT lpad(snowflake_next_id()::text, 1000) FROM generate_series(1, 1000000) AS n
    WHERE (SELECT count(*) FROM generate_series(n, n + 2000)) > 0
) TO STDOUT";

impl MemberFault {
    /// Each fault once.
    pub const ALL: [Self; 14] = [
        Self::KillSession,
        Self::KillWorker,
        Self::StopImmediate,
        Self::StopFast,
        Self::Orphan,
        Self::Freeze,
        Self::Clone,
        Self::OldCopy,
        Self::Promotion,
        Self::Step(400),
        Self::Step(-400),
        Self::Step(-5_000),
        Self::Step(3_600_000),
        Self::Step(-3_600_000),
    ];

    /// Inflicts the fault on a member. Returns when it is over.
    pub(super) fn strike(self, fleet: &mut Fleet, number: usize, clients: &Clients) {
        let longer = fleet.longer();
        let member = &fleet.members[number];
        match self {
            Self::KillSession => member.kill9_any(),
            Self::KillWorker => {
                let worker =
                    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'";
                let pids: Vec<i32> = member.connect("postgres").column(worker);
                pids.into_iter().for_each(|pid| member.kill9(pid));
            }
            Self::StopImmediate => {
                member.stop_immediate();
                member.start_again();
            }
            Self::StopFast => member.restart(),
            Self::Orphan => {
                let ids = orphan(member, fleet.registry.lease / 2);
                member.start_again();
                fleet.others.push(ids);
            }
            Self::Freeze => {
                let frozen = member.freeze();
                sleep(longer);
                drop(frozen);
            }
            Self::Clone => {
                let clone = member.copied("a clone");
                clone.start_again();
                run_beside(fleet, clone, number, clients, longer);
            }
            Self::OldCopy => replace_by_old_copy(fleet, number, clients),
            Self::Promotion => {
                let standby = member.standby("a standby");
                member.wait_for(&standby);
                let frozen = member.freeze();
                standby.promote();
                sleep(longer / 2);
                drop(frozen);
                run_beside(fleet, standby, number, clients, longer);
            }
            Self::Step(by) => {
                member.set_clock(&format!("{:+.3}", by as f64 / 1e3));
                sleep(longer);
                member.set_clock("+0");
            }
        }
    }
}

/// Kills the postmaster while a session draws, which must lose its lease long before that ends: at the latest after
/// `limit`. Returns what the session got.
#[track_caller]
fn orphan(member: &Server, limit: Duration) -> Vec<i64> {
    let (mut session, mut observer) = (member.connect("postgres"), member.connect("postgres"));
    let epoch: i64 = observer.one("SELECT (extract(epoch FROM snowflake_time(0)) * 1000)::bigint");
    drop(observer);
    let count = &AtomicUsize::new(0);
    let (ids, killed) = std::thread::scope(|scope| {
        let drawing = scope.spawn(move || session.copy_until_lost(LONG, count));
        member.until("a long statement draws", || {
            count.load(Ordering::Relaxed) > 0 || drawing.is_finished()
        });
        let killed = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a time after 1970");
        member.kill9_postmaster();
        (drawing.join().expect("a session"), killed)
    });
    let last = ids.last().expect("the long statement got no id");
    let last = Duration::from_millis(((last >> 23) + epoch).unsigned_abs());
    let late = last.saturating_sub(killed);
    assert!(
        late < limit,
        "an orphan drew ids until {late:?} after the end of its postmaster"
    );
    ids
}

fn replace_by_old_copy(fleet: &mut Fleet, number: usize, clients: &Clients) {
    fleet.members[number].stop_immediate();
    let copy = &fleet.copies[number];
    copy.start_again();
    // Others may have been led to another registry meanwhile.
    copy.connect("postgres").run(&format!(
        "ALTER SERVER registry OPTIONS (SET dbname '{}')",
        fleet.registry.database
    ));
    clients.groups[number].place.move_to(&copy.place());
    let next = copy.copied("an old copy");
    fleet.members[number] = std::mem::replace(&mut fleet.copies[number], next);
}

/// Lets a copy mint beside its original for a while, then stops one of the two at random.
fn run_beside(fleet: &mut Fleet, guest: Server, number: usize, clients: &Clients, stay: Duration) {
    let last = fleet.members.len();
    let (group, since) = (&clients.groups[last], clients.now());
    group.place.move_to(&guest.place());
    let deadline = Instant::now() + fleet.registry.longest_wait();
    while (0..ANY.len()).any(|client| !clients.has_minted(last, client, since)) {
        assert!(
            Instant::now() < deadline,
            "the copy does not mint:\n{}",
            guest.log()
        );
        sleep(Duration::from_millis(20));
    }
    sleep(stay);
    if fleet.rng.below(2) == 0 {
        guest.stop_immediate();
    } else {
        fleet.members[number].stop_immediate();
        clients.groups[number].place.move_to(&guest.place());
        let gone = std::mem::replace(&mut fleet.members[number], guest);
        group.place.move_to(&gone.place());
        fleet.guest = Some(gone);
    }
}

impl fmt::Display for MemberFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::KillSession => "`kill -9` of a session of a member",
            Self::KillWorker => "`kill -9` of a member's worker",
            Self::StopImmediate => "a member crashes",
            Self::StopFast => "a member is restarted",
            Self::Orphan => "`kill -9` of a member's postmaster",
            Self::Freeze => "a member is paused for longer than a lease",
            Self::Clone => "a clone of a member runs beside it",
            Self::OldCopy => "an old copy of a member takes its place",
            Self::Promotion => "a standby of a paused member is promoted",
            Self::Step(by) => {
                return write!(out, "a member's clock steps by {:+} s", *by as f64 / 1e3);
            }
        };
        out.write_str(name)
    }
}
