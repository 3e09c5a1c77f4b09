//! One fault after another under load, with a ledger of all ids that any client saw.

use crate::load::ledger::Ledger;
use crate::load::sessions::{Record, while_asking};
use crate::server::process::Server;
use crate::server::session::{Place, Refusal};
use std::collections::BTreeMap;
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What happens to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Nothing but what the clock does.
    None,
    /// `kill -9` of a minting session.
    KillSession,
    /// `kill -9` of the postmaster.
    KillPostmaster,
    /// `kill -9` of all processes at once.
    PowerCut,
    /// `pg_ctl stop -m immediate`.
    StopImmediate,
    /// A clean stop.
    StopFast,
    /// The ceiling's sequence is set to 1, then the power fails.
    CeilingSetBack,
    /// DROP EXTENSION, CREATE EXTENSION, then the power fails.
    Recreation,
    /// The primary is lost, and a standby is promoted.
    Failover,
}

/// What the clock does meanwhile, and keeps doing until it is put right at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    Right,
    SecondBack,
    HourBack,
    DayBack,
    /// Half an hour forward and minted by before, then back.
    ForwardThenBack,
}

impl Fault {
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::KillSession,
        Self::KillPostmaster,
        Self::PowerCut,
        Self::StopImmediate,
        Self::StopFast,
        Self::CeilingSetBack,
        Self::Recreation,
        Self::Failover,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::None => "no fault",
            Self::KillSession => "kill -9 of a session",
            Self::KillPostmaster => "kill -9 of the postmaster",
            Self::PowerCut => "kill -9 of all",
            Self::StopImmediate => "immediate stop",
            Self::StopFast => "clean stop",
            Self::CeilingSetBack => "setval, kill -9 of all",
            Self::Recreation => "DROP, CREATE, kill -9 of all",
            Self::Failover => "failover",
        }
    }
}

impl Clock {
    pub const ALL: [Self; 5] = [
        Self::Right,
        Self::SecondBack,
        Self::HourBack,
        Self::DayBack,
        Self::ForwardThenBack,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::SecondBack => "-1 s",
            Self::HourBack => "-1 h",
            Self::DayBack => "-1 d",
            Self::ForwardThenBack => "+30 min, back",
        }
    }

    /// Against the time that the lanes have seen, in seconds.
    fn step(self) -> i64 {
        match self {
            Self::Right => 0,
            Self::SecondBack => -1,
            Self::HourBack => -3_600,
            Self::DayBack => -86_400,
            Self::ForwardThenBack => -HALF_AN_HOUR,
        }
    }
}

const HALF_AN_HOUR: i64 = 1_800;

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// What was survived, and how often.
#[derive(Default)]
pub struct Tallies(BTreeMap<(Fault, Clock), Tally>);

#[derive(Default)]
struct Tally {
    survived: usize,
    ids: usize,
    refused: usize,
    slowest: Duration,
}

/// A server, and what it has gone through.
pub struct Ordeal {
    server: Server,
    ledger: Ledger,
    /// By how much the right time has moved, in seconds.
    right: i64,
    tallies: Tallies,
}

impl Ordeal {
    /// Starts the server. `None`, said out loud, without libfaketime.
    #[must_use]
    pub fn begin(name: &str, conf: &[&str]) -> Option<Self> {
        let builder = Server::build_with_clock(name)?.durable();
        let builder = conf
            .iter()
            .fold(builder, |builder, line| builder.conf(line));
        Some(Self {
            server: builder.start(),
            ledger: Ledger::default(),
            right: 0,
            tallies: Tallies::default(),
        })
    }

    /// How many ids were checked so far.
    #[must_use]
    pub fn ids(&self) -> usize {
        self.ledger.count
    }

    /// Puts the server through a fault while clients mint, and checks everything they were given.
    #[track_caller]
    pub fn survive(&mut self, fault: Fault, clock: Clock) {
        let statements = Ledger::statements();
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        let before = self.ledger.count;
        let place = self.server.place();
        let standby = (fault == Fault::Failover).then(|| self.standby());
        let mut slowest = Duration::ZERO;
        let mut records = while_asking(&place, &statements, || {
            slowest = self.strike(fault, clock, standby, &place);
        });
        let refused = self.judge(fault, clock, &records);
        self.ledger.enter(&mut records);
        // Every lane goes on, now that all is well again.
        self.ledger.draw(&self.server);

        let tally = self.tallies.0.entry((fault, clock)).or_default();
        tally.add(&Tally {
            survived: 1,
            ids: self.ledger.count - before,
            refused,
            slowest,
        });
    }

    /// Ends it.
    #[must_use]
    pub fn end(self) -> Tallies {
        self.tallies
    }

    /// Only a clock that is wrong, or an extension that is gone, is a reason to refuse.
    #[track_caller]
    fn judge(&self, fault: Fault, clock: Clock, records: &[Record]) -> usize {
        let refusals = || records.iter().flat_map(|record| &record.refusals);
        let is_due = |refusal: &Refusal| match refusal.code.as_str() {
            "58000" => clock.step() < -1,
            // No such function, type or relation.
            "42883" | "42704" | "42P01" | "55000" | "XX000" => fault == Fault::Recreation,
            _ => false,
        };
        if let Some(refusal) = refusals().find(|refusal| !is_due(refusal)) {
            panic!("{fault:?}, {clock:?}: {refusal}");
        }
        if clock.step() < -60 {
            let noticed = refusals().any(|refusal| refusal.code == "58000");
            assert!(noticed, "{fault:?}: nobody noticed the clock, {clock:?}");
        }
        refusals().count()
    }

    /// A standby whose clock is a second behind this server's.
    fn standby(&self) -> Server {
        let standby = self.server.standby("a standby");
        standby.set_clock(&format!("{:+}", self.right - 1));
        self.server.wait_for(&standby);
        standby
    }

    /// Returns how long it took from the fault to the first id of a clock that is not far back.
    fn strike(
        &mut self,
        fault: Fault,
        clock: Clock,
        standby: Option<Server>,
        place: &Place,
    ) -> Duration {
        // Not always at the same place between two raises of the ceiling.
        sleep(Duration::from_millis(300 + self.ledger.count as u64 % 400));
        if clock == Clock::ForwardThenBack {
            self.right += HALF_AN_HOUR;
            self.server.set_clock(&format!("{:+}", self.right));
            sleep(Duration::from_millis(300));
        }
        let wrong = format!("{:+}", self.right + clock.step());
        let begun = Instant::now();
        match fault {
            Fault::None => self.server.set_clock(&wrong),
            Fault::KillSession => {
                self.server.set_clock(&wrong);
                self.server.kill9_any();
            }
            Fault::Failover => {
                self.server.stop_immediate();
                if let Some(standby) = standby {
                    standby.set_clock(&format!("{:+}", self.right + clock.step().min(-1)));
                    standby.promote();
                    place.move_to(&standby.place());
                    self.server.replace_by(standby);
                }
            }
            _ => {
                self.stop(fault);
                self.server.set_clock(&wrong);
                self.server.start_again();
            }
        }
        let mut slowest = Duration::ZERO;
        if clock.step() >= -1 {
            self.ledger_waits();
            slowest = begun.elapsed();
        }
        sleep(Duration::from_millis(300));
        self.server.set_clock(&format!("{:+}", self.right));
        self.ledger_waits();
        sleep(Duration::from_millis(200));
        slowest
    }

    fn stop(&self, fault: Fault) {
        let mut session = self.server.connect("postgres");
        match fault {
            Fault::KillPostmaster => self.server.kill9_postmaster(),
            Fault::StopImmediate => self.server.stop_immediate(),
            Fault::StopFast => self.server.stop_fast(),
            Fault::CeilingSetBack => {
                session.run("SELECT setval('pg_mint_time_ceiling', 1)");
                // Whoever raises the ceiling next puts it right. Until then it is what it was set to.
                self.server.until("the ceiling is put right", || {
                    session.one("SELECT last_value > 1 FROM pg_mint_time_ceiling")
                });
                session.run("CHECKPOINT");
                self.server.cut_power();
            }
            Fault::Recreation => {
                session.run("DROP EXTENSION pg_mint");
                session.run("CREATE EXTENSION pg_mint");
                sleep(Duration::from_millis(200));
                self.server.cut_power();
            }
            _ => self.server.cut_power(),
        }
    }

    /// Waits until the clients' lanes are minted from again. The id is spent: nobody keeps it.
    fn ledger_waits(&self) {
        let server = &self.server;
        server.until_minted(|| {
            server
                .place()
                .try_connect()?
                .try_one::<i64>("SELECT snowflake_next_id(1000)")
        });
    }
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.survived += other.survived;
        self.ids += other.ids;
        self.refused += other.refused;
        self.slowest = self.slowest.max(other.slowest);
    }
}

impl Tallies {
    /// Takes those of another ordeal in.
    pub fn add(&mut self, other: &Self) {
        for (key, tally) in &other.0 {
            self.0.entry(*key).or_default().add(tally);
        }
    }
}

impl fmt::Display for Tallies {
    /// A table, and its sum.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<30}{:<15}{:>9}{:>13}{:>10}{:>13}",
            "fault", "clock", "survived", "ids, once", "refused", "slowest, s"
        )?;
        let mut all = Tally::default();
        for ((fault, clock), tally) in &self.0 {
            // Where the clock was far back, nothing was to be minted until it was right.
            let slowest = match tally.slowest {
                Duration::ZERO => "-".to_owned(),
                slowest => format!("{:.2}", slowest.as_secs_f64()),
            };
            writeln!(
                out,
                "{fault:<30}{clock:<15}{:>9}{:>13}{:>10}{slowest:>13}",
                tally.survived, tally.ids, tally.refused
            )?;
            all.add(tally);
        }
        write!(
            out,
            "{:<45}{:>9}{:>13}{:>10}",
            "all", all.survived, all.ids, all.refused
        )
    }
}
