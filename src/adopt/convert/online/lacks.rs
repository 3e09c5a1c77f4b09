//! What the steps of the script need besides a table that is the owner's: privileges that can be revoked from an owner too, rows
//! that can be updated, and names.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::online::closure::Closure;
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

/// Something that is lacking. All names are quoted.
#[derive(Debug, Deserialize)]
struct Lack {
    #[serde(flatten)]
    kind: Kind,
    name: String,
    owner: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "of")]
enum Kind {
    /// The privileges.
    Privilege(String),
    /// A publication.
    Identity(String),
    /// A tablespace.
    Tablespace(String),
    /// What has the name of the successor of an index.
    Taken(String),
    /// The constraint that has the name of the successor of another, with its table.
    Constraint(String),
}

/// Returns what is lacking.
pub fn blockers(closure: &Closure) -> Vec<Blocker> {
    let tables: Vec<pg_sys::Oid> = closure.places().into_iter().map(|(oid, _)| oid).collect();
    let indexes = closure.indexes.iter();
    let indexes: Vec<pg_sys::Oid> = indexes.map(|index| index.oid.into()).collect();
    let query = include_str!("../../../../sql/adopt/convert_lacks.sql");
    let far: Vec<pg_sys::Oid> = closure.keys.iter().map(|key| key.to.into()).collect();
    let keys = closure.keys.iter().map(|key| key.oid);
    let constraints = keys.chain(closure.checks.iter().map(|check| check.oid));
    let constraints: Vec<pg_sys::Oid> = constraints.map(Into::into).collect();
    let arguments = [tables, indexes, far, constraints].map(Into::into);
    let lacks: Option<Vec<Lack>> = sql::read_now(query, &arguments);
    lacks.into_iter().flatten().map(Lack::blocker).collect()
}

impl Lack {
    fn blocker(self) -> Blocker {
        let Self { kind, name, owner } = self;
        match kind {
            Kind::Privilege(privileges) => Blocker::state(
                format!("owner of table {name} lacks privileges on it"),
                "The script reads and updates its rows, and creates triggers and foreign keys.",
                format!("Use GRANT {privileges} ON {name} TO {owner}."),
            )
            .privilege(),
            Kind::Identity(publication) => Blocker::state(
                format!(
                    "table {name} has no replica identity, and publication {publication} publishes its updates"
                ),
                "The backfill could not update its rows.",
                format!("Use ALTER TABLE {name} REPLICA IDENTITY FULL, or add a primary key."),
            ),
            Kind::Tablespace(tablespace) => Blocker::state(
                format!("owner of index {name} cannot create indexes in tablespace {tablespace}"),
                "The index is built again beside itself.",
                format!("Use GRANT CREATE ON TABLESPACE {tablespace} TO {owner} for the time of the conversion."),
            )
            .privilege(),
            Kind::Taken(other) => Blocker::state(
                format!("the name of relation {other} is needed for an index"),
                format!("Index {name} is built again beside itself, under that name."),
                "Rename that relation, or drop it.",
            ),
            Kind::Constraint(other) => Blocker::state(
                format!("the name of constraint {other} is needed for another"),
                format!("Constraint {name} is built again beside itself, under that name."),
                "Rename the former, or drop it.",
            ),
        }
    }
}
