//! A server under load that goes through one fault after another, with a ledger of all ids that clients saw.

use crate::faults::faults;
use crate::load::ledger::Ledger;
use crate::load::sessions::{Record, while_asking};
use crate::report::say;
use crate::server::process::Server;
use crate::server::session::{Place, Refusal};
use std::thread::sleep;
use std::time::{Duration, Instant};

faults! {
    /// A fault of the server. `CeilingSetBack` sets the ceiling's sequence to 1; `Failover` promotes a standby.
    Fault {
        None: "no fault",
        KillSession: "kill -9 of a session",
        KillPostmaster: "kill -9 of the postmaster",
        PowerCut: "kill -9 of all",
        StopImmediate: "immediate stop",
        StopFast: "clean stop",
        CeilingSetBack: "setval, kill -9 of all",
        Recreation: "DROP, CREATE, kill -9 of all",
        Failover: "failover",
    }
}

faults! {
    /// A clock step that comes with the fault and lasts until the end. `ForwardThenBack` has ids minted ahead.
    Clock {
        Right: "right",
        SecondBack: "-1 s",
        HourBack: "-1 h",
        DayBack: "-1 d",
        ForwardThenBack: "+30 min, back",
    }
}

impl Clock {
    /// Difference to the time that the lanes have seen, in seconds.
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

/// A server, and the ids that clients of it saw.
pub struct Torture {
    server: Server,
    ledger: Ledger,
    /// The seconds by which the server's correct time is ahead of the machine's.
    right: i64,
}

impl Torture {
    /// Starts the server.
    #[must_use]
    pub fn begin(name: &str, conf: &[&str]) -> Self {
        let builder = Server::build_with_clock(name).durable();
        Self {
            server: builder.conf(&conf.join("\n")).start(),
            ledger: Ledger::default(),
            right: 0,
        }
    }

    /// Returns the number of ids checked so far.
    #[must_use]
    pub fn ids(&self) -> usize {
        self.ledger.count
    }

    /// Inflicts a fault while clients mint, checks all ids that they got, and says how many.
    #[track_caller]
    pub fn survive(&mut self, fault: Fault, clock: Clock) {
        let before = self.ledger.count;
        let place = self.server.place();
        let standby = (fault == Fault::Failover).then(|| self.standby());
        let mut slowest = Duration::ZERO;
        let mut records = while_asking(&place, &Ledger::statements(), || {
            slowest = self.inflict(fault, clock, standby, &place);
        });
        let refused = self.count_refusals(fault, clock, &records);
        self.ledger.enter(&mut records);
        // Every lane continues after the fault.
        self.ledger.draw(&self.server);
        let ids = self.ledger.count - before;
        say(format!(
            "{fault}, clock {clock}: {ids} ids, each once, {refused} refused, the first after {slowest:.2?}"
        ));
    }

    /// Counts refusals, and asserts that each is due to a wrong clock or a dropped extension.
    #[track_caller]
    fn count_refusals(&self, fault: Fault, clock: Clock, records: &[Record]) -> usize {
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
        refusals().count()
    }

    /// Starts a standby whose clock is a second behind this server's.
    fn standby(&self) -> Server {
        let standby = self.server.standby("a standby");
        standby.set_clock(&format!("{:+}", self.right - 1));
        self.server.wait_for(&standby);
        standby
    }

    /// Returns the time from the fault to the first id; zero where the clock is too far back for any.
    fn inflict(
        &mut self,
        fault: Fault,
        clock: Clock,
        standby: Option<Server>,
        place: &Place,
    ) -> Duration {
        // Varies the time since the last raise of the ceiling.
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
            self.wait_until_minting();
            slowest = begun.elapsed();
        } else if clock.step() < -60 {
            self.server.until("a call is refused for the clock", || {
                self.mint().is_err_and(|refusal| refusal.code == "58000")
            });
        }
        sleep(Duration::from_millis(300));
        self.server.set_clock(&format!("{:+}", self.right));
        self.wait_until_minting();
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
                session.run("SELECT setval('mint.time_ceiling', 1)");
                // The next raise of the ceiling corrects it.
                self.server.until("the ceiling is corrected", || {
                    session.one("SELECT last_value > 1 FROM mint.time_ceiling")
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

    /// Waits until the server mints again, on a lane that is not in the ledger.
    fn wait_until_minting(&self) {
        self.server.until_minted(|| self.mint());
    }

    /// Asks for an id of a lane of the clients, which have advanced it.
    fn mint(&self) -> Result<i64, Refusal> {
        let mut session = self.server.place().try_connect()?;
        session.try_one("SELECT snowflake_next_id(7)")
    }
}
