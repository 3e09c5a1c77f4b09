//! Faults of a cluster under Patroni, and what its clients got meanwhile.

use crate::faults::faults;
use crate::patroni::check::{Check, Counts};
use crate::patroni::clients::{Answers, Clients};
use crate::patroni::cluster::{Cluster, Mode, TTL, WITH_CLOCK};
use crate::patroni::terms::Terms;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

faults! {
    /// A fault of the primary, unless it says something else. A watchdog resets the machine before the leader key ends.
    Fault {
        Switchover: "switchover",
        SwitchoverClockBack: "switchover to a server whose clock is 2 s behind",
        Postmaster: "`kill -9` of the postmaster",
        PatroniAndPostmaster: "`kill -9` of Patroni and the postmaster",
        Patroni: "`kill -9` of Patroni alone, for 30 s",
        PatroniWatchdog: "the same, and a watchdog resets the machine",
        Paused: "the machine is paused for 30 s",
        PatroniPaused: "Patroni alone is paused for 30 s",
        Cut: "the network of the primary is cut for 30 s",
        CutSynchronous: "the same, with `synchronous_mode`",
        Etcd: "etcd is stopped for 30 s",
        Lag: "the machine is lost, standbys lag by 1.5 s",
        LagClockBack: "the same, next primary's clock 25 s behind",
        LagClockBackSynchronous: "the same two, with `synchronous_mode`",
        Rewound: "network cut, old primary rewound, switchover to it",
        Reinitialized: "standby reinitialized, switchover to it",
    }
}

/// The time that a machine or a program is away: longer than the leader key lasts.
const AWAY: Duration = TTL.saturating_add(Duration::from_secs(10));
/// When a watchdog resets a machine: Patroni's default is five seconds before the leader key ends.
const WATCHDOG: Duration = TTL.saturating_sub(Duration::from_secs(5));
/// Six times half a window.
const LAG: Duration = Duration::from_millis(1_500);
/// The clock of the next primary is behind the last ids, although the failover took a while.
const BEHIND: &str = "-25";
/// Within what the registry and `max_ahead` allow.
const A_LITTLE_BEHIND: &str = "-2";

impl Fault {
    /// Returns each fault once; only those named in `MINT_FAULTS`, if it is set.
    #[must_use]
    pub fn chosen() -> Vec<Self> {
        let is_named = |fault: &Self| match std::env::var("MINT_FAULTS") {
            Ok(names) => names.split(',').any(|name| name == format!("{fault:?}")),
            Err(_) => true,
        };
        Self::ALL.iter().copied().filter(is_named).collect()
    }

    fn is_synchronous(self) -> bool {
        matches!(self, Self::CutSynchronous | Self::LagClockBackSynchronous)
    }

    /// Returns whether the clock of the next primary is behind the last ids that standbys did not learn of: then a fixed node
    /// is not protected, as the documents say.
    #[must_use]
    pub fn is_exempt(self) -> bool {
        matches!(self, Self::LagClockBack | Self::LagClockBackSynchronous)
    }

    /// Returns whether no Patroni demotes the old primary in time.
    #[must_use]
    pub fn has_two_primaries(self) -> bool {
        matches!(self, Self::Patroni | Self::PatroniPaused | Self::Paused)
    }

    /// Inflicts the fault. Returns when it is over, but perhaps not yet repaired.
    #[track_caller]
    fn strike(self, cluster: &Cluster, terms: &Terms, primary: usize) {
        let (node, next) = (&cluster.nodes[primary], (primary + 1) % cluster.nodes.len());
        let restart = || {
            sleep(AWAY);
            node.start(&cluster.network);
        };
        match self {
            Self::Switchover => cluster.switch_over(next),
            Self::SwitchoverClockBack => {
                let next = &cluster.nodes[WITH_CLOCK];
                next.set_clock(A_LITTLE_BEHIND);
                cluster.switch_over(WITH_CLOCK);
                cluster.until_another_leads(primary, terms);
                sleep(Duration::from_secs(5));
                next.set_clock("+0");
            }
            Self::Postmaster => node.signal_postmaster("-9"),
            Self::PatroniAndPostmaster => {
                node.signal_patroni("-9");
                node.signal_postmaster("-9");
                restart();
            }
            Self::Patroni => {
                node.signal_patroni("-9");
                restart();
            }
            Self::PatroniWatchdog => {
                node.signal_patroni("-9");
                sleep(WATCHDOG);
                node.cut_power();
                restart();
            }
            Self::Paused => {
                node.signal_patroni("-STOP");
                node.signal_server("-STOP");
                sleep(AWAY);
                node.signal_server("-CONT");
                node.signal_patroni("-CONT");
            }
            Self::PatroniPaused => {
                node.signal_patroni("-STOP");
                sleep(AWAY);
                node.signal_patroni("-CONT");
            }
            Self::Cut | Self::CutSynchronous => {
                cluster.network.cut(node.number);
                sleep(AWAY);
                cluster.network.join(node.number);
            }
            Self::Etcd => {
                cluster.etcd.freeze();
                sleep(AWAY);
                cluster.etcd.thaw();
            }
            Self::Lag => {
                node.signal_walsenders("-STOP");
                sleep(LAG);
                node.cut_power();
                restart();
            }
            Self::LagClockBack | Self::LagClockBackSynchronous => {
                lag_with_the_clock_back(cluster, terms, primary);
            }
            Self::Rewound => {
                cluster.network.cut(node.number);
                sleep(AWAY);
                cluster.network.join(node.number);
                cluster.until_whole();
                cluster.switch_over(primary);
            }
            Self::Reinitialized => {
                cluster.reinitialize(next);
                // It goes away, and comes back.
                sleep(Duration::from_secs(3));
                cluster.until_whole();
                cluster.switch_over(next);
            }
        }
    }
}

/// Loses the machine of a primary whose standbys lag; the next primary is the one whose clock is behind.
#[track_caller]
fn lag_with_the_clock_back(cluster: &Cluster, terms: &Terms, primary: usize) {
    let (node, next) = (&cluster.nodes[primary], &cluster.nodes[WITH_CLOCK]);
    node.signal_walsenders("-STOP");
    sleep(LAG);
    next.set_clock(BEHIND);
    node.cut_power();
    for other in cluster
        .other_nodes(primary)
        .filter(|other| other.number != next.number)
    {
        other.cut_power();
    }
    cluster.until_another_leads(primary, terms);
    // The clock comes near the last ids that this server knows of, and it mints.
    sleep(Duration::from_secs(12));
    next.set_clock("+0");
    for other in cluster.other_nodes(WITH_CLOCK) {
        other.start(&cluster.network);
    }
}

/// A cluster under load, with a check of all ids that clients got.
pub struct Survival<'a> {
    pub cluster: &'a Cluster,
    pub terms: &'a Terms,
    pub clients: &'a Clients<'a>,
    pub check: Check,
}

impl Survival<'_> {
    /// Inflicts a fault, waits until the cluster is whole and mints, and asserts what the documents promise.
    #[track_caller]
    pub fn survive(&mut self, fault: Fault) -> Counts {
        let cluster = self.cluster;
        let mut primary = cluster.until_whole();
        let needs_other = fault.is_exempt() || fault == Fault::SwitchoverClockBack;
        if needs_other && primary == WITH_CLOCK {
            cluster.switch_over(0);
            cluster.until_another_leads(WITH_CLOCK, self.terms);
            primary = cluster.until_whole();
        }
        if fault.is_synchronous() {
            cluster.set_synchronous(true);
            if fault.is_exempt() {
                self.until_synchronous(WITH_CLOCK);
            }
        }
        sleep(Duration::from_secs(1));
        let began = self.terms.now();
        fault.strike(cluster, self.terms, primary);
        cluster.until_whole();
        self.until_minted();
        if fault.is_synchronous() {
            cluster.set_synchronous(false);
        }
        let answers = self.clients.take();
        // The leader is known a little later.
        self.terms.wait_until_read(self.terms.now());
        let counts = self.check.add(&answers, &cluster.nodes, self.terms, began);
        self.assert_kept(fault, counts, &answers);
        counts
    }

    /// Waits until a node is the synchronous standby: any of them could be.
    fn until_synchronous(&self, place: usize) {
        let name = &self.cluster.nodes[place].name;
        let is_so = format!(
            "SELECT sync_state = 'sync' FROM pg_stat_replication WHERE application_name = '{name}'"
        );
        let primary = self.cluster.until_whole();
        let mut session = self.cluster.nodes[primary].connect();
        if session.one::<bool>(&is_so) {
            return;
        }
        // The other one leaves for a while, and Patroni takes the one that is there.
        for other in self
            .cluster
            .other_nodes(primary)
            .filter(|other| other.name != *name)
        {
            other.cut_power();
            self.cluster.until("the other standby is synchronous", || {
                session.one::<bool>(&is_so)
            });
            other.start(&self.cluster.network);
        }
        self.cluster.until_whole();
    }

    /// Waits until a client on another machine gets ids again from the primary.
    fn until_minted(&self) {
        let cluster = self.cluster;
        cluster.until("the primary mints", || {
            let Some(primary) = cluster.primary() else {
                return false;
            };
            let session = cluster.nodes[primary].try_connect();
            session.is_ok_and(|mut session| {
                session.try_one::<i64>("SELECT snowflake_next_id()").is_ok()
            })
        });
        sleep(Duration::from_secs(1));
    }

    #[track_caller]
    fn assert_kept(&self, fault: Fault, counts: Counts, answers: &Answers) {
        let mode = self.cluster.mode;
        let seen = || format!("{fault}, {mode}: {counts:?}, errors {:?}", answers.refusals);
        assert!(counts.ids > 0, "{}", seen());
        if mode == Mode::Auto {
            assert_eq!((counts.twice, counts.deposed_twice), (0, 0), "{}", seen());
        } else if !fault.is_exempt() {
            assert_eq!(counts.twice, 0, "{}", seen());
        } else if fault.is_synchronous() {
            assert_eq!(counts.rows_twice, 0, "{}", seen());
        }
        // A Patroni that runs, and a watchdog, end a deposed primary before another one can get its key.
        if fault.has_two_primaries() {
            assert!(counts.deposed_for < AWAY, "{}", seen());
        } else {
            assert!(counts.deposed_for < TTL, "{}", seen());
            let is_kept = counts.deposed_twice == 0 || fault.is_exempt();
            assert!(is_kept, "{}", seen());
        }
    }
}

/// Runs a story on a cluster under load.
pub fn while_minting<T>(cluster: &Cluster, story: impl FnOnce(&mut Survival<'_>) -> T) -> T {
    let terms = Terms::new();
    let stop = AtomicBool::new(false);
    let clients = Clients::new(&cluster.nodes, &terms);
    let story = || {
        let mut survival = Survival {
            cluster,
            terms: &terms,
            clients: &clients,
            check: Check::default(),
        };
        story(&mut survival)
    };
    std::thread::scope(|scope| {
        scope.spawn(|| terms.watch(&cluster.etcd, &stop));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cluster.until("the leader key is read", || terms.holder().is_some());
            clients.while_minting(story)
        }));
        stop.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
