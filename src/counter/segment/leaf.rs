//! Leaf's table `leaf_alloc`, as a view of the sequences that are drawn from in steps.

use crate::counter::segment::functions::create_exactly;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::prelude::*;
use pgrx::{AllocatedByRust, PgSqlErrorCode as Code, PgTriggerError};

/// Makes the segment of a row that is inserted into the view. Tags need not be names: `leaf-segment-test` is
/// one in Leaf's own examples.
#[pg_trigger]
fn leaf_alloc_insert<'a>(
    trigger: &'a pgrx::PgTrigger<'a>,
) -> Result<Option<PgHeapTuple<'a, AllocatedByRust>>, PgTriggerError> {
    let Some(row) = trigger.new() else {
        return Ok(None);
    };
    let number = |column: &str| row.get_by_name::<i64>(column).ok().flatten();
    let text = |column: &str| {
        let text = row.get_by_name::<DecodedText>(column).ok().flatten();
        text.map(|text| text.0)
    };
    let (Some(tag), Some(step)) = (
        text("biz_tag"),
        row.get_by_name::<i32>("step").ok().flatten(),
    ) else {
        report(
            Code::ERRCODE_NOT_NULL_VIOLATION,
            "biz_tag and step of leaf_alloc must not be null",
        )
        .raise()
    };
    let name = sql::quoted_exactly(&tag);
    let sequence = create_exactly(&name, step.into(), number("max_id").unwrap_or(1));
    if let Some(description) = text("description").filter(|text| !text.is_empty()) {
        let text = sql::literal(&description);
        let name = sql::exact_name_of(sequence.0);
        sql::run(&format!("COMMENT ON SEQUENCE {name} IS {text}"));
    }
    Ok(Some(row.into_owned()))
}

extension_sql_file!(
    "../../../sql/counter/leaf_alloc.sql",
    name = "leaf_alloc",
    requires = ["segments", leaf_alloc_insert]
);
