//! What the server reads besides a partitioned table when a partition is attached or detached: the tables that foreign keys
//! connect with it, and the keys of all that these and the table are partitions of.
//!
//! It plans and evaluates that as the owner of the table, and its queries of the other ends of foreign keys are texts, with
//! names and with the keys of the tables above.

use crate::adopt::catalog::casts;
use crate::pg::catalog::access::Owned;
use crate::pg::catalog::foreign::{self, Held};
use crate::pg::catalog::scan::names;
use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::datum::json::list;
use crate::pg::error::{impossible, report};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use serde::Deserialize;

/// What foreign keys connect with tables, and what these are partitions of.
#[derive(Deserialize)]
struct Ends {
    /// Tables of roles with the privileges of the owner.
    #[serde(deserialize_with = "list")]
    own: Vec<pg_sys::Oid>,
    /// Tables of other roles.
    #[serde(deserialize_with = "list")]
    others: Vec<pg_sys::Oid>,
    /// The types of the columns of foreign keys.
    #[serde(deserialize_with = "list")]
    types: Vec<pg_sys::Oid>,
    /// Types of the keys of the table and of those above it, if foreign keys refer to it.
    #[serde(deserialize_with = "list")]
    key_types: Vec<pg_sys::Oid>,
    /// What one of these keys is, if another role can say what its text means.
    key: Option<String>,
    /// The schemas of other roles whose names are in the queries.
    #[serde(deserialize_with = "list")]
    schemas: Vec<pg_sys::Oid>,
}

impl Ends {
    fn find(tables: &[pg_sys::Oid], owner: pg_sys::Oid, table: pg_sys::Oid) -> Self {
        let query = include_str!("../../../sql/adopt/partition_ends.sql");
        let arguments = [tables.to_vec().into(), owner.into(), table.into()];
        let found = sql::read_now(query, &arguments);
        found.unwrap_or_else(|| impossible("no foreign keys"))
    }

    /// Raises an error for what another role than the owner of the table has written.
    fn refuse_written(self, owner: pg_sys::Oid, table: pg_sys::Oid, detaches: bool) {
        let of_table = |what: &str| format!("{what} of table \"{}\"", sql::name_of(table));
        for (what, types) in [
            ("partition key", self.key_types),
            ("foreign key", self.types),
        ] {
            if let Err(of) = foreign::refuse(&foreign::types(types), Held::ByOid, owner) {
                foreign::raise(&of_table(what), of);
            }
        }
        if let Some(key) = self.key.filter(|_| detaches) {
            refuse_key(&key, &sql::name_of(table));
        }
        // All in one query: a table can have a thousand partitions.
        if casts::written(&self.others).is_some() {
            for other in self.others {
                if let Some(object) = casts::written(&[other]) {
                    refuse_end(other, &object, &sql::name_of(table));
                }
            }
        }
        let planned = casts::planned(&self.own, owner);
        if let Some((object, of)) = planned.into_iter().next() {
            foreign::raise(&object, of);
        }
    }
}

/// Locks tables and those of other roles that foreign keys connect with them, in the order of their oids: so does whoever
/// maintains the table at the other end meanwhile, and neither waits for the other in a circle. Returns false, and locks nothing,
/// if there are no others.
pub fn lock(own: &Owned, table: pg_sys::Oid, tables: &[pg_sys::Oid], millis: i32) -> bool {
    let others = Ends::find(tables, own.owner(), table).others;
    let mut all = [tables, &others].concat();
    all.sort_by_key(|oid| oid.to_u32());
    all.dedup();
    if !others.is_empty() {
        own.lock_connected(&all, millis);
    }
    !others.is_empty()
}

/// Raises an error if attaching or detaching a partition of a table would plan, as its owner, what another role has written.
/// `tables` has the table, the partitions, and all below these. The tables of other roles are locked, so that their owners add
/// nothing until the transaction ends, and so are the names of schemas of others.
pub fn refuse_connected(
    own: &Owned,
    table: pg_sys::Oid,
    tables: &[pg_sys::Oid],
    detaches: bool,
    millis: i32,
) {
    let (mut locked, mut kept) = (Vec::new(), Vec::new());
    let ends = loop {
        let ends = Ends::find(tables, own.owner(), table);
        let mut new = ends.others.clone();
        new.retain(|table| !locked.contains(table));
        if new.is_empty() && ends.schemas == kept {
            break ends;
        }
        own.lock_connected(&new, millis);
        names::keep(&ends.schemas, millis);
        locked.extend(new);
        kept = ends.schemas;
    };
    ends.refuse_written(own.owner(), table, detaches);
}

/// Raises an error if a table above has what another role than the owner has written: a query of the table reads its key.
pub fn refuse_keys(owner: pg_sys::Oid, table: pg_sys::Oid) {
    Ends::find(&[], owner, table).refuse_written(owner, table, false);
}

/// Refuses a key whose text can mean what another role makes later: an overload of a function that it calls, or an operator.
#[cold]
#[track_caller]
fn refuse_key(key: &str, table: &str) -> ! {
    let message = format!("partition key of table \"{table}\", or of one above, is {key}");
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .detail("When a partition is detached, the server writes the keys into a query of the tables whose foreign keys refer to the table.")
        .hint("Use columns of types of the server as partition keys, or drop the foreign keys.")
        .raise()
}

/// Refuses a table of another role at the other end of a foreign key, or of which one is a partition, with an object that this
/// role can have written.
#[cold]
#[track_caller]
fn refuse_end(other: pg_sys::Oid, object: &str, table: &str) -> ! {
    let role = relation::owner(other).map_or_else(String::new, privilege::name_of);
    let other = sql::name_of(other);
    let message =
        format!("table \"{other}\", which is connected with table \"{table}\", has another owner");
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(format!(
            "Role \"{role}\" can have written {object}, which the server runs with the privileges of the owner of table \"{table}\" when a partition is attached or detached."
        ))
        .hint("Drop it, or the foreign key or partition that connects the tables, or use ALTER TABLE ... OWNER TO to give both tables the same owner.")
        .raise()
}
