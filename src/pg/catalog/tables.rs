//! Ordinary tables that a role of the database has made for the extension, in a schema of their own, and owns, dumps and
//! restores. Nothing in their place is trusted: the extension reads them with the rights of their owner.

use crate::pg::catalog::binding::Bound;
use crate::pg::catalog::relation::Defect;
use crate::pg::catalog::{binding, privilege, relation, spi};
use crate::pg::charset;
use crate::pg::error::report;
use pgrx::spi::SpiClient;
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
            let oid = oid.unwrap_or_else(|| refuse_missing(schema, owner, "table", name));
            match relation::owner_of_plain_table(oid) {
                Ok(Some(keeper)) if keeper == owner => {}
                Ok(Some(_)) => refuse(
                    schema,
                    name,
                    "The table and its schema have different owners.",
                    "Change the owner of the table to that of the schema.",
                ),
                Ok(None) => refuse_missing(schema, owner, "table", name),
                Err(defect) => refuse_defect(schema, name, defect),
            }
            oid
        });
        Some(Self { owner, oids })
    }

    /// Finds a view of the owner beside the tables. Only its privileges count, so what it shows is not checked.
    pub fn view(&self, schema: &str, name: &str) -> pg_sys::Oid {
        let place = relation::schema_and_owner(schema);
        let view = place.and_then(|(schema, _)| relation::find(schema, &charset::c_string(name)));
        view.filter(|&view| relation::owner_of_view(view) == Some(self.owner))
            .unwrap_or_else(|| refuse_missing(schema, self.owner, "view", name))
    }

    /// Runs `work` with the rights of the owner, as a security-restricted operation, in whose statements names can mean
    /// these tables and no others.
    pub fn as_owner<T>(&self, work: impl FnOnce(&mut SpiClient<'_>) -> T) -> T {
        let bound = Bound {
            relations: &self.oids,
            ..Bound::default()
        };
        privilege::as_role(self.owner, || {
            binding::restrict_to(bound, || spi::open(work))
        })
    }
}

#[cold]
#[track_caller]
fn refuse_missing(schema: &str, owner: pg_sys::Oid, kind: &str, name: &str) -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("schema \"{schema}\" has no {kind} \"{name}\""),
    )
    .detail(format!(
        "The owner of the schema is role \"{}\".",
        privilege::name_of(owner)
    ))
    .hint(format!(
        "Restore schema \"{schema}\" from a backup. If it is for something else, rename it."
    ))
    .raise()
}

#[cold]
#[track_caller]
fn refuse_defect(schema: &str, name: &str, defect: Defect) -> ! {
    let (detail, hint) = match defect {
        Defect::NotATable => (
            "The relation is not an ordinary table.",
            "Rename the relation, and restore the table from a backup.",
        ),
        Defect::NotPermanent => (
            "The table is not permanent.",
            "Use ALTER TABLE ... SET LOGGED.",
        ),
        Defect::Triggers => (
            "The table has triggers.",
            "Drop the triggers, and the foreign keys that refer to the table.",
        ),
        Defect::Rules => ("The table has rules.", "Drop the rules."),
        Defect::RowSecurity => (
            "The table has row security enabled.",
            "Use ALTER TABLE ... DISABLE ROW LEVEL SECURITY.",
        ),
    };
    refuse(schema, name, detail, hint)
}

#[cold]
#[track_caller]
fn refuse(schema: &str, name: &str, detail: &str, hint: &str) -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("pg_mint cannot trust table \"{schema}.{name}\""),
    )
    .detail(detail)
    .hint(hint)
    .raise()
}
