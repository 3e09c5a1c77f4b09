//! The schema `mint_registry` of a database that is a registry: made, found and dropped.

use crate::pg::catalog::tables::OwnedTables;
use crate::pg::catalog::{privilege, sql};
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ffi::CStr;

const SCHEMA: &str = "mint_registry";
const SCHEMA_C: &CStr = c"mint_registry";

/// Who may use the registry.
#[derive(Debug, Clone, Copy)]
pub enum Caller {
    /// The owner, or a superuser.
    Owner,
    /// A role that may request leases: one with INSERT on the table of leases.
    Member,
}

/// The registry's tables.
pub struct Place(OwnedTables<2>);

/// Returns the registry of this database, if it is one.
pub fn find() -> Option<Place> {
    OwnedTables::find(SCHEMA, ["registry", "leases"]).map(Place)
}

/// Returns the registry of this database. Raises an error if it is none.
pub fn expect() -> Place {
    find().unwrap_or_else(|| {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "this database is not a registry of nodes",
        )
        .hint("Use SELECT mint.registry_create() to create a registry.")
        .raise()
    })
}

/// Makes the schema and the tables, with the caller's rights, and returns them.
pub fn create() -> Place {
    sql::run(include_str!("../../../sql/registry/tables.sql"));
    expect()
}

/// Drops the tables and the schema, with the caller's rights.
pub fn drop() {
    sql::run(
        "DROP VIEW IF EXISTS mint_registry.nodes RESTRICT;
         DROP TABLE mint_registry.leases, mint_registry.registry RESTRICT;
         DROP SCHEMA mint_registry RESTRICT",
    );
}

impl Place {
    /// Raises the server's own error unless the user may do this.
    pub fn demand(&self, caller: Caller) {
        let [_, leases] = self.0.oids;
        match caller {
            Caller::Owner => privilege::demand_ownership(SCHEMA_C, self.0.owner),
            Caller::Member => {
                let table = pg_sys::ObjectType::OBJECT_TABLE;
                privilege::demand(leases, "leases", pg_sys::ACL_INSERT, table);
            }
        }
    }

    /// Returns the oid of the table of the registry's state.
    pub fn registry(&self) -> pg_sys::Oid {
        let [registry, _] = self.0.oids;
        registry
    }

    /// Runs `work` with the rights of the tables' owner.
    pub fn as_owner<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.as_owner(work)
    }
}
