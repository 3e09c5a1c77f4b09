//! Leaf's table `leaf_alloc`, as a view of the sequences that are drawn from in steps.

use super::segments::create_exactly;
use crate::pg::errors::report;
use crate::pg::naming;
use crate::pg::varlena::Words;
use pgrx::PgSqlErrorCode as Code;
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::prelude::*;
use pgrx::{AllocatedByRust, PgTriggerError};

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
        let text = row.get_by_name::<Words>(column).ok().flatten();
        text.map(|text| text.0)
    };
    let (Some(tag), Some(step)) = (
        text("biz_tag"),
        row.get_by_name::<i32>("step").ok().flatten(),
    ) else {
        report(
            Code::ERRCODE_NOT_NULL_VIOLATION,
            "biz_tag and step of leaf_alloc must not be null".to_owned(),
            None,
            None,
        )
    };
    let name = naming::quoted_exactly(&tag);
    let sequence = create_exactly(&name, step.into(), number("max_id").unwrap_or(1));
    if let Some(description) = text("description").filter(|text| !text.is_empty()) {
        let text = naming::literal(&description);
        let name = naming::exact_name_of(sequence.0);
        naming::run(&format!("COMMENT ON SEQUENCE {name} IS {text}"));
    }
    Ok(Some(row.into_owned()))
}

extension_sql_file!(
    "../../sql/leaf_alloc.sql",
    name = "leaf_alloc",
    requires = ["segments", leaf_alloc_insert]
);
