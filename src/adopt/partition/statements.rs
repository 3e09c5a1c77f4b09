//! The statements that make partitions and remove them.

use crate::adopt::partition::parent::{Parent, Partition};
use mint_core::adopt::keys::Key;

/// Returns the statements that make a partition. CREATE TABLE ... PARTITION OF would lock the parent against everything.
pub fn create(parent: &Parent, name: &str, from: Key, until: Option<Key>) -> String {
    // Citus takes one statement at a time, and distributes what is made so.
    if parent.is_distributed {
        let range = range(parent, from, until);
        return format!("CREATE TABLE {name} PARTITION OF {} {range};", parent.name);
    }
    let attach = attach(parent, name, from, until);
    format!("{}\n{attach}", create_alone(parent, name))
}

/// Returns the statement that makes the table of a partition.
pub fn create_alone(parent: &Parent, name: &str) -> String {
    format!(
        "CREATE TABLE {name} (LIKE {} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED \
         INCLUDING STORAGE INCLUDING COMPRESSION){};",
        parent.name, parent.storage
    )
}

/// Returns the statement that makes a table a partition.
pub fn attach(parent: &Parent, name: &str, from: Key, until: Option<Key>) -> String {
    let range = range(parent, from, until);
    format!(
        "ALTER TABLE {} ATTACH PARTITION {name} {range};",
        parent.name
    )
}

/// Returns the statement that makes a partition a table of its own.
pub fn detach(parent: &Parent, name: &str, how: &str) -> String {
    format!("ALTER TABLE {} DETACH PARTITION {name}{how};", parent.name)
}

fn range(parent: &Parent, from: Key, until: Option<Key>) -> String {
    let bound = |key| format!("'{}'", parent.keys.text(key));
    let until = until.map_or_else(|| "MAXVALUE".to_owned(), bound);
    format!("FOR VALUES FROM ({}) TO ({until})", bound(from))
}

/// Returns the statements that detach a partition and drop it.
pub fn remove(parent: &Parent, part: &Partition, concurrently: bool) -> [String; 2] {
    let how = match (part.is_detaching, concurrently) {
        (true, _) => " FINALIZE",
        (false, true) => " CONCURRENTLY",
        (false, false) => "",
    };
    let kind = if part.is_foreign {
        "FOREIGN TABLE"
    } else {
        "TABLE"
    };
    [
        detach(parent, &part.name, how),
        format!("DROP {kind} {};", part.name),
    ]
}
