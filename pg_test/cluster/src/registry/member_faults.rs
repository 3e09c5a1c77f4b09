//! Faults of one member of a fleet.

use crate::load::clients::Clients;
use crate::registry::copies;
use crate::registry::disk_copies;
use crate::registry::fleet::Fleet;
use crate::registry::kind::Kind;
use crate::registry::proxy::Spoiling;
use crate::server::machine::namespaces::are_permitted;
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
    /// A copy is started beside its original, then one of the two is stopped: of an assigned member, a copy of its disk.
    Clone,
    /// An old copy takes the member's place.
    OldCopy,
    /// Its standby is promoted while the member stands still, and both continue.
    Promotion,
    /// Its clock steps, in milliseconds, and back again.
    Step(i64),
    /// It is started again, and the registry's first answer does not arrive as it was sent.
    Grant,
    /// It is started under another host name, and again under its own.
    HostName,
    /// A copy of an assigned member's disk runs beside it while the registry restarts.
    TwinAndRestart,
    /// A copy of an assigned member's disk runs beside it in a network of its own, where no outage is allowed.
    TwinCutOff,
    /// An assigned member loses its file.
    FileLost,
    /// An assigned member has an older file.
    FileOld,
}

/// What an assigned member and the registry have agreed on.
const FILE: &str = "pg_mint.assigned";

/// A statement that draws for minutes. Nothing interrupts it but what minting does. The lines are long, as the server
/// keeps what it sends until there are 8 kB.
const LONG: &str = "COPY (
    SELECT lpad(snowflake_next_id()::text, 1000) FROM generate_series(1, 1000000) AS n
    WHERE (SELECT count(*) FROM generate_series(n, n + 2000)) > 0
) TO STDOUT";

impl MemberFault {
    /// Each fault once.
    pub const ALL: [Self; 20] = [
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
        Self::HostName,
        Self::TwinAndRestart,
        Self::TwinCutOff,
        Self::FileLost,
        Self::FileOld,
    ];

    /// Returns the kinds of the members whose times without ids can be compared. A crash costs an assigned member what is left
    /// of its lease.
    pub(super) fn is_comparable(self) -> bool {
        matches!(
            self,
            Self::Freeze | Self::Step(_) | Self::TwinAndRestart | Self::TwinCutOff
        )
    }

    /// Returns the members that it strikes: one of each kind, if it can.
    pub(super) fn pick(self, fleet: &mut Fleet) -> Vec<usize> {
        let mut picked = fleet.pick_members();
        match self {
            Self::TwinAndRestart | Self::TwinCutOff | Self::FileLost | Self::FileOld => {
                picked.retain(|&number| Kind::of(number) == Kind::Assigned);
                picked
            }
            _ => picked,
        }
    }

    /// Inflicts the fault on members. Returns when it is over.
    pub(super) fn strike(self, fleet: &mut Fleet, numbers: &[usize], clients: &Clients) {
        let longer = fleet.longer();
        match self {
            Self::Freeze => {
                let frozen: Vec<_> = numbers
                    .iter()
                    .map(|&number| fleet.members[number].freeze())
                    .collect();
                sleep(longer);
                drop(frozen);
            }
            Self::Clone => {
                let copies: Vec<(usize, Server)> = numbers
                    .iter()
                    .map(|&number| (number, fleet.members[number].twin("a clone")))
                    .collect();
                copies.iter().for_each(|(_, copy)| copy.start_again());
                copies::run_beside(fleet, copies, clients, longer);
            }
            Self::Step(by) => {
                let set = |offset: &str| {
                    numbers
                        .iter()
                        .for_each(|&number| fleet.members[number].set_clock(offset));
                };
                set(&format!("{:+.3}", by as f64 / 1e3));
                sleep(longer);
                set("+0");
            }
            Self::Promotion => copies::promote(fleet, numbers, clients, longer),
            Self::TwinAndRestart => disk_copies::restart_registry(fleet, numbers, clients),
            Self::TwinCutOff => disk_copies::run_cut_off(fleet, numbers, clients),
            _ => numbers
                .iter()
                .for_each(|&number| self.strike_one(fleet, number, clients)),
        }
    }

    fn strike_one(self, fleet: &mut Fleet, number: usize, clients: &Clients) {
        let lease = fleet.registry.lease;
        let member = &mut fleet.members[number];
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
                let ids = orphan(member, lease / 2);
                member.start_again();
                fleet.others.push(ids);
            }
            Self::Grant => {
                member.stop_fast();
                fleet.proxies[number].spoil(fleet.rng.pick(&Spoiling::ALL));
                fleet.members[number].start_again();
            }
            Self::HostName => {
                if are_permitted("a fault of a host name") {
                    member.set_host_name(Some("f3a9c1d2e4b5"));
                }
                member.restart();
                member.set_host_name(None);
                sleep(lease / 4);
                member.restart();
            }
            Self::FileLost => {
                member.stop_fast();
                std::fs::remove_file(member.file(FILE)).expect("the file of an assigned member");
                member.start_again();
                fleet.give_back(number);
            }
            Self::FileOld => {
                // In place, which keeps the owner.
                let old = std::fs::read(fleet.copies[number].file(FILE)).expect("an old file");
                member.stop_immediate();
                std::fs::write(member.file(FILE), old).expect("the file can be written");
                member.start_again();
                fleet.give_back(number);
            }
            Self::OldCopy => copies::replace(fleet, number, clients),
            Self::Freeze
            | Self::Step(_)
            | Self::Clone
            | Self::Promotion
            | Self::TwinAndRestart
            | Self::TwinCutOff => {}
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
            Self::HostName => {
                "a member is started under another host name, and again under its own"
            }
            Self::TwinAndRestart => {
                "a copy of an assigned member's disk runs beside it while the registry restarts"
            }
            Self::TwinCutOff => {
                "a copy of an assigned member's disk runs beside it without a network, and without an outage that is allowed"
            }
            Self::FileLost => "an assigned member loses its file",
            Self::FileOld => "an assigned member has an older file",
            Self::Step(by) => {
                return write!(out, "a member's clock steps by {:+} s", *by as f64 / 1e3);
            }
        };
        out.write_str(name)
    }
}
