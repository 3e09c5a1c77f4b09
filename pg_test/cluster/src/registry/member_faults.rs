//! Faults of one member of a fleet.

use crate::faults::faults;
use crate::load::clients::Clients;
use crate::registry::copies;
use crate::registry::fleet::Fleet;
use crate::registry::members::LEASE;
use crate::registry::proxy::Spoiling;
use crate::server::process::Server;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

faults! {
    /// A fault of members. A clone, a promoted standby or an old copy mints beside the member, or in its place.
    MemberFault {
        KillSession: "`kill -9` of a session of a member",
        KillWorker: "`kill -9` of a member's worker",
        StopImmediate: "a member crashes",
        StopFast: "a member is restarted",
        Orphan: "`kill -9` of a member's postmaster",
        Freeze: "a member is paused for longer than a lease",
        Clone: "a clone of a member runs beside it, then one of the two is stopped",
        OldCopy: "an old copy of a member takes its place",
        Promotion: "a standby of a paused member is promoted",
        LittleForward: "a member's clock steps by +0.4 s",
        LittleBack: "a member's clock steps by -0.4 s",
        StepBack: "a member's clock steps by -5 s",
        HourForward: "a member's clock steps by +3600 s",
        HourBack: "a member's clock steps by -3600 s",
        Grant: "a member is restarted, and the registry's first answer is lost, late, double or half",
    }
}

/// A statement that draws for minutes. Nothing interrupts it but what minting does. The lines are long, as the server
/// keeps what it sends until there are 8 kB.
const LONG: &str = "COPY (
    SELECT lpad(snowflake_next_id()::text, 1000) FROM generate_series(1, 1000000) AS n
    WHERE (SELECT count(*) FROM generate_series(n, n + 2000)) > 0
) TO STDOUT";

impl MemberFault {
    /// Returns by how many seconds clocks step.
    fn step(self) -> Option<&'static str> {
        match self {
            Self::LittleForward => Some("+0.4"),
            Self::LittleBack => Some("-0.4"),
            Self::StepBack => Some("-5"),
            Self::HourForward => Some("+3600"),
            Self::HourBack => Some("-3600"),
            _ => None,
        }
    }

    /// Inflicts the fault on members. Returns when it is over.
    pub(super) fn strike(self, fleet: &mut Fleet, numbers: &[usize], clients: &Clients) {
        let longer = fleet.longer();
        let first = numbers[0];
        if let Some(offset) = self.step() {
            let members = || numbers.iter().map(|&number| &fleet.members[number]);
            members().for_each(|member| member.set_clock(offset));
            sleep(longer);
            return members().for_each(|member| member.set_clock("+0"));
        }
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
            _ => {}
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
