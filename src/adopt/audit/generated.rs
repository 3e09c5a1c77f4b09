//! Findings of a default that generates ids, before any id is looked at.

use crate::adopt::audit::subject::Subject;
use crate::adopt::audit::{Finding, Severity};
use crate::adopt::catalog::default::{IdKind, without_shard};
use crate::pg::citus;
use crate::pg::machine::clock;
use mint_core::clock::timestamp_text;
use mint_core::{Layout, Micros};
use pgrx::pg_sys;

const YEAR: Micros = 365 * 86_400_000_000;

/// Checks what a default generates against its column and its layout.
pub fn check(subject: &Subject, given: Option<&Layout>, found: &mut Vec<Finding>) {
    let Some(generated) = &subject.generated else {
        return;
    };
    let default = subject.default();
    match generated.kind {
        IdKind::Snowflake => {
            check_type(subject, default, found);
            if let (Some(layout), Some(shard)) = (&generated.layout, generated.shard) {
                check_shard(default, layout, shard, found);
                check_distributed(subject, layout, found);
            }
            if let (Some(layout), Some(given)) = (&generated.layout, given)
                && layout.key() != given.key()
            {
                let evidence = format!(
                    "The default is {default}, and the ids are said to be of layout {given}."
                );
                found.push(Finding::warning(
                    "default generates another layout",
                    evidence,
                ));
            }
        }
        IdKind::Uuid(4) => {
            let evidence =
                format!("The default is {default}: each id is in another place of the index.");
            let command = format!("SET DEFAULT {}.uuid_v7()", subject.home.schema);
            found.push(
                Finding::info("default generates random UUIDs", evidence)
                    .corrected_by(subject.alter(&command)),
            );
        }
        _ => {}
    }
}

fn check_type(subject: &Subject, default: &str, found: &mut Vec<Finding>) {
    if subject.column.base_type == pg_sys::INT8OID {
        return;
    }
    let evidence = format!(
        "The default is {default}, and the column is of type {}.",
        subject.column.type_name
    );
    found.push(
        Finding::error("column is too narrow for its default", evidence)
            .corrected_by(subject.alter("TYPE bigint")),
    );
}

fn check_shard(default: &str, layout: &Layout, shard: i64, found: &mut Vec<Finding>) {
    let max = layout.shard.max().cast_signed();
    if (0..=max).contains(&shard) {
        return;
    }
    let evidence =
        format!("The default is {default}, and shards of layout {layout} are 0 to {max}.");
    // No command: which shards are free is not known.
    found.push(Finding::error("shard is out of range", evidence));
}

/// Checks a default with a shard: all nodes of a Citus cluster evaluate those of its tables.
fn check_distributed(subject: &Subject, layout: &Layout, found: &mut Vec<Finding>) {
    if citus::distributed_tables().contains(&subject.column.table.to_u32()) {
        let default = subject.default();
        let evidence = format!("The default is {default}, and Citus has distributed the table.");
        let command = format!(
            "SET DEFAULT {}.{}",
            subject.home.schema,
            without_shard(default, layout)
        );
        found.push(
            Finding::warning("default of a distributed table passes a shard", evidence)
                .corrected_by(subject.alter(&command)),
        );
    }
}

/// Checks when a layout ends.
pub fn check_end(layout: &Layout, found: &mut Vec<Finding>) {
    let left = layout
        .end()
        .map(|end| (end, end.saturating_sub(clock::now())));
    let (severity, finding, end) = match left {
        Some((end, ..=0)) => (Severity::Error, "layout has ended", end),
        Some((end, left)) if left < 2 * YEAR => {
            (Severity::Warning, "layout ends within two years", end)
        }
        _ => return,
    };
    let evidence = format!(
        "There are no ids of layout {layout} from {} on.",
        timestamp_text(end)
    );
    found.push(Finding::new(severity, finding, evidence));
}
