//! Findings of foreign keys: a column that is narrower than the one it refers to.

use crate::adopt::audit::subject::Subject;
use crate::adopt::audit::{Finding, Severity};
use crate::adopt::catalog::column::IdColumn;
use crate::adopt::catalog::default::IdKind;
use crate::adopt::catalog::foreign_key::{KeyColumn, Reference};
use crate::pg::catalog::relation;
use pgrx::pg_sys;

/// Checks the foreign keys of a column, and those that refer to it.
pub fn check(subject: &Subject, found: &mut Vec<Finding>) {
    for Reference { from, to } in Reference::read(Some(subject.column.place())) {
        let (Some(narrow), Some(wide)) = (width(&from), width(&to)) else {
            continue;
        };
        if narrow >= wide {
            continue;
        }
        let referred = IdColumn::find(to.table, &to.name);
        let generated = referred.and_then(|column| column.generated());
        // Then the next id does not fit, and not only one in years.
        let is_near = generated.is_some_and(|generated| generated.kind == IdKind::Snowflake);
        let severity = if is_near {
            Severity::Error
        } else {
            Severity::Warning
        };
        let evidence = format!(
            "{} of type {} refers to {} of type {}.",
            from.full_name(),
            from.type_name,
            to.full_name(),
            to.type_name
        );
        found.push(
            Finding::new(
                severity,
                "foreign key is narrower than what it refers to",
                evidence,
            )
            .corrected_by(format!(
                "ALTER TABLE {} ALTER COLUMN {} TYPE {};",
                from.table_name,
                from.quoted(),
                to.type_name
            )),
        );
    }
}

/// Returns the bytes of an integer type; none of another type.
fn width(column: &KeyColumn) -> Option<u8> {
    match relation::base_type(column.type_oid) {
        pg_sys::INT2OID => Some(2),
        pg_sys::INT4OID => Some(4),
        pg_sys::INT8OID => Some(8),
        _ => None,
    }
}
