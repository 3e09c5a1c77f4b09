//! Leaf's table `leaf_alloc`, as a view of the sequences that were created through it. Their comments mark them, which
//! a dump keeps.

use crate::counter::segment::functions::create_exactly;
use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::charset;
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use crate::pg::sequence::Sequence;
use mint_core::bytes::excerpt::excerpt;
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::prelude::*;
use pgrx::{AllocatedByRust, Internal, PgSqlErrorCode as Code, PgTrigger, WhoAllocated, pg_sys};

/// Creates the sequence of a row that is inserted into the view, and refuses to change a row. Declared by hand, as a
/// function that pgrx declares a trigger panics when it is called as an ordinary function.
#[pg_extern(sql = false)]
fn leaf_alloc_change(call: pg_sys::FunctionCallInfo) -> Internal {
    // SAFETY: the call is the server's, as it came; all that it points to outlives the call of the function.
    let trigger = unsafe { PgTrigger::from_fcinfo(&*call) }.unwrap_or_else(|_| {
        report(
            Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
            "function \"leaf_alloc_change\" was not called by trigger manager",
        )
        .raise()
    });
    if let Some(old) = trigger.old() {
        refuse_change(&old, trigger.new().as_ref());
    }
    let row = insert_row(&trigger).and_then(PgHeapTuple::into_trigger_datum);
    // A trigger returns a null pointer, not NULL, for no row.
    Internal::from(Some(row.unwrap_or(pg_sys::Datum::null())))
}

/// The longest description, in bytes: the view leaves out longer comments.
const MAX_DESCRIPTION_BYTES: usize = 9_000;

/// Makes the segment of a row. Tags do not need to be names: `leaf-segment-test` is one in Leaf's own examples.
fn insert_row<'a>(trigger: &'a PgTrigger<'a>) -> Option<PgHeapTuple<'a, AllocatedByRust>> {
    let row = trigger.new()?;
    let number = |column: &str| row.get_by_name::<i64>(column).ok().flatten();
    let text = |column: &str| row.get_by_name::<DecodedText>(column).ok().flatten();
    let step = row.get_by_name::<i32>("step").ok().flatten();
    let missing = |column| -> ! {
        report(
            Code::ERRCODE_NOT_NULL_VIOLATION,
            format!("null value in column \"{column}\" of view \"mint.leaf_alloc\" is not allowed"),
        )
        .raise()
    };
    let DecodedText(tag) = text("biz_tag").unwrap_or_else(|| missing("biz_tag"));
    check_tag(&tag);
    let step = step.unwrap_or_else(|| missing("step"));
    let description = text("description").map_or_else(String::new, |text| text.0);
    if description.len() > MAX_DESCRIPTION_BYTES {
        report(
            Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("description is longer than {MAX_DESCRIPTION_BYTES} bytes"),
        )
        .raise();
    }
    let name = sql::quoted_exactly(&tag);
    let sequence = create_exactly(&name, step.into(), number("max_id").unwrap_or(1));
    let comment = if description.is_empty() {
        "Leaf tag".to_owned()
    } else {
        format!("Leaf tag: {description}")
    };
    let (name, comment) = (sql::exact_name_of(sequence.0), sql::literal(&comment));
    sql::run(&format!("COMMENT ON SEQUENCE {name} IS {comment}"));
    Some(row.into_owned())
}

/// Raises an error if a tag is empty, or longer than the name of a sequence: the server would cut it, and the program that
/// sends it would find no such sequence.
fn check_tag(tag: &str) {
    if tag.is_empty() {
        report(Code::ERRCODE_INVALID_NAME, "tag must not be empty").raise();
    }
    const LONGEST_NAME: usize = pg_sys::NAMEDATALEN as usize - 1;
    let bytes = charset::encode(tag).len();
    if bytes > LONGEST_NAME {
        report(
            Code::ERRCODE_NAME_TOO_LONG,
            format!("tag \"{}\" is too long", excerpt(tag)),
        )
        .detail(format!(
            "The tag has {bytes} bytes, and the name of a sequence has at most {LONGEST_NAME}."
        ))
        .hint("Use a shorter tag.")
        .raise();
    }
}

/// Returns the next value of a sequence; none if the role may not read it, or another session has locked it: a view of
/// all sequences must not wait for one that any role alters or drops.
#[pg_extern(sql = false)]
fn leaf_max_id(sequence: Regclass) -> Option<i64> {
    if !privilege::has_any(sequence.0, pg_sys::ACL_SELECT | pg_sys::ACL_USAGE) {
        return None;
    }
    let (row, rules) = (Sequence::peek(sequence.0)?, relation::sequence(sequence.0)?);
    let end = [rules.min, rules.max][usize::from(rules.increment > 0)];
    let steps = i64::from(row.is_called && row.last_value != end);
    Some(row.last_value.saturating_add(steps * rules.increment))
}

/// Refuses to change a row of the view, with the command that changes its sequence.
fn refuse_change<R: WhoAllocated>(old: &PgHeapTuple<'_, R>, new: Option<&PgHeapTuple<'_, R>>) -> ! {
    let number = |row: &PgHeapTuple<'_, R>, name| row.get_by_name::<i64>(name).ok().flatten();
    let step = |row: &PgHeapTuple<'_, R>| row.get_by_name::<i32>("step").ok().flatten();
    let tag = old.get_by_name::<DecodedText>("biz_tag").ok().flatten();
    let tag = tag.map_or_else(String::new, |tag| tag.0);
    let (verb, hint) = match new {
        Some(new) if step(old) != step(new) => {
            let step = step(new).unwrap_or_default();
            ("update", format!("Use ALTER SEQUENCE ... CACHE {step}."))
        }
        Some(new) if number(old, "max_id") != number(new, "max_id") => (
            "update",
            "Use segment_next_range() to take values, or ALTER SEQUENCE ... RESTART.".to_owned(),
        ),
        Some(_) => (
            "update",
            "Use ALTER SEQUENCE, or COMMENT ON SEQUENCE.".to_owned(),
        ),
        None => ("delete", "Use DROP SEQUENCE.".to_owned()),
    };
    report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        format!("cannot {verb} tag \"{tag}\" of view \"mint.leaf_alloc\""),
    )
    .detail("A tag is a sequence.")
    .hint(hint)
    .raise()
}
