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
    match retried(table, owner, rules, manner)? {
        Outcome::Nothing => return Ok(false),
        Outcome::Created(name) => inform(format!("created partition {name}")),
        Outcome::Moved(name, rows) => {
            inform(format!(
                "moved {rows} rows of the default partition to {name}"
            ));
        }
        Outcome::Dropped(name) => inform(format!("dropped partition {name}")),
    }
    manner.end.commit();
    Ok(true)
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
        let late = |limit: Micros| error::slow_step(&sql::name_of(table), limit / 1_000_000);
        let answer = transaction::caught(|| match manner.limit {
            None => work(),
            Some(limit) => deadline::within(limit, work, || late(limit)),
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
        manner.end.commit();
        wait(turn);
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

/// Waits between two attempts, longer after each.
pub fn wait(turn: i32) {
    const SHORTEST: Micros = 50_000;
    const LONGEST: Micros = 10_000_000;
    static EVENT: WaitEvent = WaitEvent::new(c"MintPartitions");
    let span = (SHORTEST << turn.clamp(0, 10)).min(LONGEST);
    let until = clock::up() + span;
    while clock::up() < until {
        clock::pause(until - clock::up(), &EVENT);
    }
}
