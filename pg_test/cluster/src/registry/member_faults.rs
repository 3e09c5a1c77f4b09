//! Faults of one member of a fleet.

use crate::load::clients::Clients;
use crate::registry::copies;
use crate::registry::fleet::Fleet;
use crate::registry::members::LEASE;
use crate::registry::proxy::Spoiling;
use crate::server::process::Server;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
    /// A copy is started beside its original, then one of the two is stopped.
    Clone,
    /// An old copy takes the member's place.
    OldCopy,
    /// Its standby is promoted while the member stands still, and both continue.
    Promotion,
    /// Its clock steps, in milliseconds, and back again.
    Step(i64),
    /// It is started again, and the registry's first answer does not arrive as it was sent.
    Grant,
}

/// A statement that draws for minutes. Nothing interrupts it but what minting does. The lines are long, as the server
/// keeps what it sends until there are 8 kB.
const LONG: &str = "COPY (
    SELECT lpad(snowflake_next_id()::text, 1000) FROM generate_series(1, 1000000) AS n
    WHERE (SELECT count(*) FROM generate_series(n, n + 2000)) > 0
) TO STDOUT";

impl MemberFault {
    /// Each fault once.
    pub const ALL: [Self; 15] = [
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
        Self::Grant,
    ];

    /// Inflicts the fault on members. Returns when it is over.
    pub(super) fn strike(self, fleet: &mut Fleet, numbers: &[usize], clients: &Clients) {
        let longer = fleet.longer();
        let first = numbers[0];
        match self {
            Self::Freeze => {
                let members = numbers.iter().map(|&number| &fleet.members[number]);
                let frozen: Vec<_> = members.map(Server::freeze).collect();
                sleep(longer);
                drop(frozen);
            }
            Self::Clone => {
                let copy = fleet.members[first].copied("a clone");
                copy.start_again();
                copies::run_beside(fleet, first, copy, clients, longer);
            }
            Self::Promotion => copies::promote(fleet, first, clients, longer),
            Self::Step(by) => {
                let members = || numbers.iter().map(|&number| &fleet.members[number]);
                let offset = format!("{:+.3}", by as f64 / 1e3);
                members().for_each(|member| member.set_clock(&offset));
                sleep(longer);
                members().for_each(|member| member.set_clock("+0"));
            }
            _ => numbers
                .iter()
                .for_each(|&number| self.strike_one(fleet, number, clients)),
        }
    }

    fn strike_one(self, fleet: &mut Fleet, number: usize, clients: &Clients) {
        let member = &fleet.members[number];
        match self {
            Self::KillSession => member.kill9_any(),
            Self::KillWorker => {
                let worker =
                    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'";
                let pids: Vec<i32> = member.column(worker);
                pids.into_iter().for_each(|pid| member.kill9(pid));
            }
            Self::StopImmediate => {
                member.crash();
            }
            Self::StopFast => member.restart(),
            Self::Orphan => {
                let ids = orphan(member, LEASE / 2);
                member.start_again();
                fleet.others.push(ids);
            }
            Self::Grant => {
                member.stop_fast();
                fleet.proxies[number].spoil(fleet.rng.pick(&Spoiling::ALL));
                fleet.members[number].start_again();
            }
            Self::OldCopy => copies::replace(fleet, number, clients),
            Self::Freeze | Self::Step(_) | Self::Clone | Self::Promotion => {}
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

impl fmt::Display for MemberFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::KillSession => "`kill -9` of a session of a member",
            Self::KillWorker => "`kill -9` of a member's worker",
            Self::StopImmediate => "a member crashes",
            Self::StopFast => "a member is restarted",
            Self::Orphan => "`kill -9` of a member's postmaster",
            Self::Freeze => "a member is paused for longer than a lease",
            Self::Clone => "a clone of a member runs beside it, then one of the two is stopped",
            Self::OldCopy => "an old copy of a member takes its place",
            Self::Promotion => "a standby of a paused member is promoted",
            Self::Grant => {
                "a member is restarted, and the registry's first answer is lost, late, double or half"
            }
            Self::Step(by) => {
                return write!(out, "a member's clock steps by {:+} s", *by as f64 / 1e3);
            }
        };
        out.write_str(name)
    }
}
