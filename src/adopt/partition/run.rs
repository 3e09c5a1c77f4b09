//! The maintenance of a table: steps, each of which is committed where that is possible, and repeated where it cannot have a lock.

use crate::adopt::partition::error;
use crate::adopt::partition::maintain::{Outcome, step};
use crate::adopt::partition::rules::Rules;
use crate::pg::backend::recovery::Refusal;
use crate::pg::backend::transaction::{Raised, StepEnd};
use crate::pg::backend::wait::WaitEvent;
use crate::pg::backend::{deadline, recovery, transaction};
use crate::pg::catalog::sql;
use crate::pg::error::{inform, report, required};
use crate::pg::machine::clock;
use mint_core::Micros;
use pgrx::datum::Interval;
use pgrx::{PgSqlErrorCode as Code, check_for_interrupts, pg_sys};

/// How long a step waits for its locks, how often it is repeated, and how it ends.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Milliseconds.
    lock_timeout: i32,
    pub retries: i32,
    end: StepEnd,
    /// How long a step can take; none is without a limit.
    limit: Option<Micros>,
}

impl Manner {
    /// Checks the arguments of a procedure, and where it is called.
    pub fn new(lock_timeout: Option<Interval>, retries: Option<i32>, end: StepEnd) -> Self {
        recovery::refuse(&Refusal {
            message: "cannot maintain partitions during recovery",
            detail: "A standby has the tables of its primary.",
            hint: "Call the procedure on the primary.",
        });
        if !transaction::sees_commits() {
            report(
                Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
                "cannot maintain partitions in a transaction that does not see what others have committed since it began",
            )
            .hint("Use isolation level READ COMMITTED.")
            .raise();
        }
        let refuse =
            |message: &str| -> ! { report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message).raise() };
        let micros = required(lock_timeout, "lock_timeout").as_micros();
        let lock_timeout = i32::try_from(micros / 1_000).unwrap_or(0);
        // All that others wait behind ends within a second.
        if !(1..=1_000).contains(&lock_timeout) {
            refuse("lock_timeout must be between 1 ms and 1 s");
        }
        let retries = required(retries, "retries");
        if !(0..=1000).contains(&retries) {
            refuse("retries must be between 0 and 1000");
        }
        Self {
            lock_timeout,
            retries,
            end,
            limit: None,
        }
    }

    /// Returns the manner in which no step takes longer: functions of an owner do not keep other tables waiting.
    pub fn with_limit(self, limit: Micros) -> Self {
        Self {
            limit: Some(limit),
            ..self
        }
    }

    /// Returns the manner that gives up at the first lock that it does not get.
    pub fn without_retries(self) -> Self {
        Self { retries: 0, ..self }
    }

    /// Ends a step: what the commit runs is of the owner of the table as well.
    ///
    /// # Errors
    /// Why it was rolled back.
    pub fn commit(self, table: pg_sys::Oid) -> Result<(), Raised> {
        let work = || self.end.commit();
        match self.limit {
            None => work(),
            Some(limit) => {
                deadline::within(limit, work, || transaction::caught(|| late(table, limit)))
            }
        }
    }
}

/// Does all that is to be done for a table of that owner, and says it.
///
/// # Errors
/// Why the next step cannot be done. Those before it are.
pub fn maintain(
    table: pg_sys::Oid,
    owner: pg_sys::Oid,
    rules: &Rules,
    manner: Manner,
) -> Result<(), Raised> {
    while advance(table, owner, rules, manner)? {}
    Ok(())
}

/// Does one step, and says it. Returns whether there was something to do.
///
/// # Errors
/// Why it cannot be done.
pub fn advance(
    table: pg_sys::Oid,
    owner: pg_sys::Oid,
    rules: &Rules,
    manner: Manner,
) -> Result<bool, Raised> {
    check_for_interrupts!();
    let done = match retried(table, owner, rules, manner)? {
        Outcome::Nothing => return Ok(false),
        Outcome::Created(name) => format!("created partition {name}"),
        Outcome::Moved(name, rows) => {
            format!("moved {rows} rows of the default partition to {name}")
        }
        Outcome::Dropped(name) => format!("dropped partition {name}"),
    };
    manner.commit(table)?;
    tell([done], |[done]| inform(done));
    Ok(true)
}

/// Tells the client texts with names and messages of others, in ASCII if its encoding does not have their letters.
pub fn tell<const N: usize>(texts: [String; N], tell: impl Fn([String; N])) {
    if transaction::caught(|| tell(texts.clone())).is_err() {
        tell(texts.map(|text| in_ascii(&text)));
    }
}

fn in_ascii(text: &str) -> String {
    let one = |character: char| match character {
        '\0'..='\x7f' => character.to_string(),
        _ => character.escape_unicode().to_string(),
    };
    text.chars().map(one).collect()
}

fn late<T>(table: pg_sys::Oid, limit: Micros) -> T {
    error::slow_step(&sql::name_of(table), limit / 1_000_000)
}

/// Attempts a step until it has its locks. Nothing is locked meanwhile.
fn retried(
    table: pg_sys::Oid,
    owner: pg_sys::Oid,
    rules: &Rules,
    manner: Manner,
) -> Result<Outcome, Raised> {
    let mut turn = 0;
    loop {
        let work = || step(table, owner, rules, manner.lock_timeout);
        let answer = transaction::caught(|| match manner.limit {
            None => work(),
            Some(limit) => deadline::within(limit, work, || late(table, limit)),
        });
        match answer {
            Err(error) if is_locked(&error) && turn < manner.retries => {}
            Err(error) if is_locked(&error) => {
                return transaction::caught(|| {
                    let name = sql::name_of(table);
                    error::no_locks(&name, turn + 1, manner.lock_timeout)
                });
            }
            answer => return answer,
        }
        manner.commit(table)?;
        wait(clock::up() + pause(turn));
        turn += 1;
    }
}

/// Returns whether a step ended as others have locks that it needs, also where these wait for one of its own.
pub fn is_locked(error: &Raised) -> bool {
    let codes = [
        Code::ERRCODE_LOCK_NOT_AVAILABLE,
        Code::ERRCODE_T_R_DEADLOCK_DETECTED,
    ];
    transaction::code(error).is_some_and(|code| codes.contains(&code))
}

/// Returns how long to wait after an attempt, longer after each.
pub fn pause(turn: i32) -> Micros {
    const SHORTEST: Micros = 50_000;
    const LONGEST: Micros = 10_000_000;
    (SHORTEST << turn.clamp(0, 10)).min(LONGEST)
}

/// Waits until that time, by [`clock::up`].
pub fn wait(until: Micros) {
    static EVENT: WaitEvent = WaitEvent::new(c"MintPartitions");
    while clock::up() < until {
        clock::pause(until - clock::up(), &EVENT);
    }
}
