//! User sequences: a sequence for each of very many users, as in WeChat's seqsvr.

use crate::counter::common::{check_count, check_range, range_row};
use crate::counter::user::family::{MOST_SECTIONS, constraint_name, look_up, section_name};
use crate::counter::user::{draw, sections};
use crate::pg::catalog::{binding, relation, sql};
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::timestamp;
use crate::pg::error::{report, required};
use mint_core::Values;
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

/// The longest step.
const MAX_STEP: i64 = 1_000_000_000;

/// Creates a family of user sequences: a table of that name, without rows, whose columns are its sections. The numbers of
/// its users begin above `above`.
#[pg_extern(sql = false)]
fn user_sequence_create(
    name: Option<DecodedText>,
    sections: Option<i32>,
    step: Option<i64>,
    above: Option<i64>,
) -> Regclass {
    let DecodedText(name) = required(name, "name");
    let (sections, step) = (required(sections, "sections"), required(step, "step"));
    check_range("sections", sections.into(), 1..=MOST_SECTIONS as i64);
    check_range("step", step, 2..=MAX_STEP);
    let above = required(above, "above");
    check_range("above", above, 0..=i64::MAX - 3);
    let start = above + 1;
    let sections = sections.unsigned_abs() as usize;
    let column = |section| {
        let name = section_name(section);
        format!("{name} int8 GENERATED ALWAYS AS IDENTITY (START {start} CACHE {step}), ")
    };
    let columns: String = (0..sections).map(column).collect();
    let constraint = constraint_name(sections);
    let (family, name) = sql::create(&sql::quoted(&name), |name| {
        format!("CREATE TABLE {name} ({columns}CONSTRAINT {constraint} CHECK (false))")
    });
    sql::run(&format!(
        "COMMENT ON TABLE {name} IS 'a family of user sequences: user_sequence_next() draws numbers of a user from the \
             section, a column, that has the user; there are no rows, and INSERT is the privilege to draw';
         COMMENT ON CONSTRAINT {constraint} ON {name} IS 'keeps the table empty, and says how many sections the family \
             was made with: in others, users would get numbers again'"
    ));
    Regclass(family)
}

/// Drops a family, which only its owner can.
#[pg_extern(sql = false)]
fn user_sequence_drop(family: Regclass) {
    // Never drop another table by mistake.
    look_up(family.0);
    sql::run(&format!("DROP TABLE {}", sql::exact_name_of(family.0)));
    if relation::kind(family.0).is_some() {
        binding::refuse();
    }
}

/// Returns the next number of a user.
///
/// - **Unique** among the numbers of one user in one family. Two users may have the same.
/// - **Ordered**: strictly increasing for each user, over all sessions, with gaps. That is the order of
///   drawing, not that of commits: see `user_sequence_next_for_commit`.
/// - **Overflow**: an error at the end of 64 bits (2200H).
/// - **Clock steps back**: no matter.
/// - **Crash and restart**, **failover**: continues from the section's ceiling, above all numbers that any of its
///   users got.
/// - **Standby**: refused during recovery (25006).
/// - **Read-only transaction**, **Parallel query**: draws.
#[pg_extern(sql = false)]
fn user_sequence_next(family: Regclass, uid: i64) -> i64 {
    draw::next(family.0, uid, 1)
}

/// Returns the next `count` numbers of a user in a row: the first, the last, and the step, which is 1; otherwise like
/// `user_sequence_next`.
#[pg_extern(sql = false)]
fn user_sequence_next_range(
    family: Regclass,
    uid: i64,
    count: i64,
) -> TableIterator<'static, (name!(first, i64), name!(last, i64), name!(step, i64))> {
    let count = check_count(count);
    range_row(Values {
        first: draw::next(family.0, uid, count),
        increment: 1,
        count,
    })
}

/// Returns an upper bound of the numbers that a user got; 0 before the first number of the section. While the user is
/// in memory, it is the last number. After a restart, on a standby, and for a user that was evicted from memory or is a
/// million behind others, it is above that, up to the ceiling of the section. **If you need the last number itself,
/// store it with the rows.**
#[pg_extern(sql = false)]
fn user_sequence_current(family: Regclass, uid: i64) -> i64 {
    draw::current(family.0, uid)
}

/// Returns the next number of a user, which becomes visible in the order of numbers: waits for transactions that drew a
/// number for the user before and have not ended. A client that polls for rows above the last number that it saw misses
/// none, **if every writer draws by this function**. `ROLLBACK TO` an earlier savepoint releases the lock, and makes
/// the number void. Otherwise it is like `user_sequence_next`.
#[pg_extern(sql = false)]
fn user_sequence_next_for_commit(family: Regclass, uid: i64) -> i64 {
    draw::lock(family.0, &[uid]);
    draw::next(family.0, uid, 1)
}

/// Returns the next number of each of many users, whose locks it takes in one order: two such calls cannot deadlock.
/// The numbers are in the order of the users; a user that is named twice gets two.
#[pg_extern(sql = false)]
fn user_sequences_next_for_commit(family: Regclass, uids: Vec<Option<i64>>) -> Vec<i64> {
    let uids: Option<Vec<i64>> = uids.into_iter().collect();
    let uids = uids.unwrap_or_else(|| {
        report(
            Code::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            "uids must not contain nulls",
        )
        .raise()
    });
    draw::lock(family.0, &uids);
    uids.into_iter()
        .map(|uid| draw::next(family.0, uid, 1))
        .collect()
}

/// Returns the sections of this database that are in shared memory, behind the view of the same name.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn user_sequences() -> TableIterator<
    'static,
    (
        name!(family, Regclass),
        name!(section, i32),
        name!(floor, i64),
        name!(ceiling, i64),
        name!(users, i64),
        name!(memory, i64),
        name!(last_raise, Option<TimestampWithTimeZone>),
    ),
> {
    TableIterator::new(sections::list().into_iter().map(|row| {
        (
            Regclass(row.family),
            row.section,
            row.floor,
            row.ceiling,
            row.users.cast_signed(),
            row.users.cast_signed() * size_of::<u64>() as i64,
            timestamp(row.used),
        )
    }))
}
