//! What the catalogs say of a sequence.

use crate::pg::catalog::relation;
use pgrx::pg_sys;

/// The row of pg_sequence; see `FormData_pg_sequence`, which pgrx does not bind.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SequenceDefinition {
    pub sequence: pg_sys::Oid,
    pub value_type: pg_sys::Oid,
    pub start: i64,
    pub increment: i64,
    pub max: i64,
    pub min: i64,
    pub cache: i64,
    pub cycle: bool,
}

/// Returns the row of a sequence; none if it is gone.
pub fn definition(sequence: pg_sys::Oid) -> Option<SequenceDefinition> {
    // SAFETY: the cache is of this catalog, by the oid.
    unsafe { relation::row(pg_sys::SysCacheIdentifier::SEQRELID, sequence.into()) }
}
