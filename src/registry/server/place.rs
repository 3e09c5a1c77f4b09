//! The schema `mint_registry` of a database that is a registry: made, found and dropped.

use crate::pg::catalog::tables::OwnedTables;
use crate::pg::catalog::{extension, privilege, relation, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ffi::CStr;

const SCHEMA: &str = "mint_registry";
const SCHEMA_C: &CStr = c"mint_registry";

/// The roles that may use the registry.
#[derive(Debug, Clone, Copy)]
pub enum Caller {
    /// The owner, or a superuser.
    Owner,
    /// A role that may request leases: one with INSERT on the view of nodes.
    Member,
}

/// The registry's tables.
pub struct RegistryTables(OwnedTables<2>);

/// Returns whether there is a schema of that name, whatever is in it.
pub fn may_be_there() -> bool {
    relation::schema_and_owner(SCHEMA).is_some()
}

/// Returns the registry of this database, if it is one.
pub fn find() -> Option<RegistryTables> {
    OwnedTables::find(SCHEMA, ["registry", "leases"]).map(RegistryTables)
}

/// Returns the registry of this database. Raises an error if it is none.
pub fn expect() -> RegistryTables {
    find().unwrap_or_else(|| missing())
}

/// Raises the error of a database that is no registry.
#[cold]
#[track_caller]
pub fn missing() -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!(
            "database \"{}\" is not a registry of nodes",
            extension::name_of_database(extension::database().into()).unwrap_or_default()
        ),
    )
    .hint("Use mint.registry_create() to create a registry.")
    .raise()
}

/// Returns the registry of this database. Makes it, with the caller's rights, where there is none.
pub fn find_or_create() -> RegistryTables {
    if is_left_empty() {
        sql::run("DROP SCHEMA mint_registry RESTRICT");
    }
    find().unwrap_or_else(|| {
        sql::run(include_str!("../../../sql/registry/tables.sql"));
        expect()
    })
}

/// Returns whether the schema is there, empty, and of the caller or the database's owner: some programs dump the names
/// of all schemas, and the tables of some.
fn is_left_empty() -> bool {
    let query = "SELECT EXISTS (SELECT FROM pg_namespace AS n
        WHERE n.nspname = $1::name
            AND pg_has_role(n.nspowner, 'USAGE')
            AND (pg_get_userbyid(n.nspowner) = CURRENT_USER OR EXISTS (
                SELECT FROM pg_database AS d
                WHERE d.datname = current_database()
                    AND d.datdba = n.nspowner
            ))
            AND NOT EXISTS (
                SELECT FROM pg_depend AS d
                WHERE d.refclassid = 'pg_namespace'::regclass
                    AND d.refobjid = n.oid
                    AND d.deptype = 'n'
            ))";
    sql::ask(query, DecodedText(SCHEMA.to_owned()).into()).unwrap_or(false)
}

/// Drops the tables and the schema, with the caller's rights.
pub fn drop() {
    sql::run(
        "DROP VIEW IF EXISTS mint_registry.nodes RESTRICT;
         DROP TABLE mint_registry.leases, mint_registry.registry RESTRICT;
         DROP SCHEMA mint_registry RESTRICT",
    );
}

impl RegistryTables {
    /// Returns whether planning a query on the tables calls no function of the owner: none of an index, a statistics object, a
    /// constraint or a child.
    pub fn are_plain(&self) -> bool {
        let query = "SELECT NOT EXISTS (
                SELECT FROM pg_depend AS o
                JOIN pg_depend AS f ON f.classid = o.classid AND f.objid = o.objid
                WHERE o.refclassid = 'pg_class'::regclass
                    AND o.refobjid = ANY ($1::oid[])
                    AND o.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_statistic_ext'::regclass)
                    AND f.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass,
                        'pg_opfamily'::regclass, 'pg_type'::regclass)
            )
            AND NOT EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhparent = ANY ($1::oid[]))";
        sql::ask(query, self.0.oids.to_vec().into()).unwrap_or(false)
    }

    /// Raises the server's own error unless the user may do this.
    pub fn demand(&self, caller: Caller) {
        match caller {
            Caller::Owner => privilege::demand_ownership(
                pg_sys::ObjectType::OBJECT_SCHEMA,
                SCHEMA_C,
                self.0.owner,
            ),
            Caller::Member => {
                let view = self.0.view(SCHEMA, "nodes");
                let kind = pg_sys::ObjectType::OBJECT_VIEW;
                privilege::demand(view, "nodes", pg_sys::ACL_INSERT, kind);
            }
        }
    }

    /// Runs `work` with the rights of the tables' owner.
    pub fn as_owner<T>(&self, work: impl FnOnce(&mut SpiClient<'_>) -> T) -> T {
        self.0.as_owner(work)
    }
}
