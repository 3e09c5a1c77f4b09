//! Ordinary tables that a role of the database has made for the extension, in a schema of their own, and owns, dumps and
//! restores. Nothing in their place is trusted: the extension reads them with the rights of their owner.

use crate::pg::catalog::binding::Bound;
use crate::pg::catalog::{binding, privilege, relation};
use crate::pg::charset;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Tables of one owner, as they were found.
pub struct OwnedTables<const N: usize> {
    /// The owner of the tables and of their schema.
    pub owner: pg_sys::Oid,
    /// In the order of their names.
    pub oids: [pg_sys::Oid; N],
}

impl<const N: usize> OwnedTables<N> {
    /// Finds the tables of these names; none if there is no such schema. Raises an error unless each is a permanent,
    /// ordinary table of the owner of the schema.
    pub fn find(schema: &str, names: [&str; N]) -> Option<Self> {
        let (namespace, owner) = relation::schema_and_owner(schema)?;
        let oids = names.map(|name| {
            let oid = relation::find(namespace, &charset::c_string(name));
            match oid.filter(|&oid| relation::owner_of_plain_table(oid) == Some(owner)) {
                Some(oid) => oid,
                None => refuse(schema, name),
            }
        });
        Some(Self { owner, oids })
    }

    /// Runs `work` with the rights of the owner, as a security-restricted operation, in whose statements names may mean
    /// these tables and no others.
    pub fn as_owner<T>(&self, work: impl FnOnce() -> T) -> T {
        let bound = Bound {
            relations: &self.oids,
            ..Bound::default()
        };
        privilege::as_role(self.owner, || binding::restrict_to(bound, work))
    }
}

#[cold]
fn refuse(schema: &str, name: &str) -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("schema \"{schema}\" has no table \"{name}\" that pg_mint can trust"),
    )
    .detail("The table must be an ordinary, permanent table without triggers, rules, and row security, and have the same owner as the schema.")
    .hint(format!("Drop or rename schema \"{schema}\"."))
    .raise()
}
