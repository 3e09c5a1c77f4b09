//! Where this extension is.

use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

/// What others need to name objects of this extension, and to know its types.
#[derive(Debug, Deserialize)]
pub struct Home {
    /// The schema of this extension's functions, quoted.
    pub schema: String,
    /// The type `objectid`.
    pub objectid: pg_sys::Oid,
}

impl Home {
    pub fn find() -> Self {
        let query =
            "SELECT jsonb_build_object('schema', quote_ident(n.nspname), 'objectid', t.oid::int8)
            FROM pg_extension AS e
            JOIN pg_namespace AS n ON n.oid = e.extnamespace
            JOIN pg_type AS t ON t.typnamespace = n.oid AND t.typname = 'objectid'
            WHERE e.extname = 'pg_mint'";
        let none = Self {
            schema: String::new(),
            objectid: pg_sys::InvalidOid,
        };
        sql::read(query, &[]).pop().unwrap_or(none)
    }

    /// Returns the types that ids have.
    pub fn id_types(&self) -> Vec<pg_sys::Oid> {
        vec![
            pg_sys::INT2OID,
            pg_sys::INT4OID,
            pg_sys::INT8OID,
            pg_sys::UUIDOID,
            pg_sys::TEXTOID,
            pg_sys::VARCHAROID,
            pg_sys::BPCHAROID,
            self.objectid,
        ]
    }
}
