//! Checks of the server and of this database: versions, workers, and the node beside others.

use crate::counter::segment::usage as segments;
use crate::monitor::health::finding::{Finding, Status};
use crate::objectid::generate as objectids;
use crate::pg::backend::transaction::attempt;
use crate::pg::backend::{guc, recovery};
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::shmem::segment;
use crate::registry::member::usage as leases;
use crate::snowflake::node::grantor;
use crate::snowflake::node::setting::{Node, node as node_setting};
use crate::uuid::lanes as uuids;

/// What the catalogs say.
pub struct Facts {
    /// The version of the extension's objects in this database.
    extension: Option<String>,
    /// The publications that have tables of a registry.
    pub publications: Vec<String>,
    /// Whether other servers receive what this one writes, by a connection or a slot.
    is_replicated: bool,
    /// Whether this database receives what other servers write.
    is_subscriber: bool,
}

/// One row. Catalogs and functions that every role may read.
const QUERY: &str = "SELECT
    (SELECT e.extversion FROM pg_extension AS e
     WHERE e.extname = 'pg_mint'),
    (SELECT array_agg(p.pubname::text ORDER BY p.pubname) FROM pg_publication AS p
     WHERE p.puballtables AND EXISTS (
             SELECT FROM pg_namespace AS n WHERE n.nspname = 'mint_registry'
         ) OR EXISTS (
             SELECT FROM pg_publication_namespace AS s
                 JOIN pg_namespace AS n ON n.oid = s.pnnspid
             WHERE s.pnpubid = p.oid
                 AND n.nspname = 'mint_registry'
         ) OR EXISTS (
             SELECT FROM pg_publication_rel AS r
                 JOIN pg_class AS c ON c.oid = r.prrelid
                 JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE r.prpubid = p.oid
                 AND n.nspname = 'mint_registry'
         )),
    EXISTS (SELECT FROM pg_get_replication_slots()) OR EXISTS (SELECT FROM pg_stat_get_wal_senders()),
    EXISTS (
        SELECT FROM pg_subscription AS s
            JOIN pg_database AS d ON d.oid = s.subdbid
        WHERE d.datname = current_database()
    )";

impl Facts {
    /// Reads the facts; none when another transaction has locked one of the catalogs.
    pub fn read() -> Option<Self> {
        let select = || sql::rows(QUERY, &[], |row| Some(Self::of(row))).pop();
        attempt(|| guc::with(&[(c"lock_timeout", c"1")], select)).flatten()
    }

    fn of(row: &Row<'_>) -> Self {
        Self {
            extension: row.get::<DecodedText>(1).map(|text| text.0),
            publications: row.get(2).unwrap_or_default(),
            is_replicated: row.get(3).unwrap_or(false),
            is_subscriber: row.get(4).unwrap_or(false),
        }
    }
}

/// Returns whether a fixed node is used beside other servers that may have the same one.
pub fn node(facts: Option<&Facts>) -> Finding {
    let node = match node_setting() {
        Node::Fixed(node) => node.to_string(),
        Node::Parts([upper, lower]) => format!("{upper}/{lower}"),
        Node::Unset | Node::Auto | Node::Assigned | Node::Citus => {
            return Finding::ok("The node of this server is not fixed.");
        }
    };
    let Some(facts) = facts else {
        return Finding::left_out();
    };
    let others = [
        (recovery::is_in_progress(), "this server is a standby"),
        (
            facts.is_replicated,
            "other servers receive what this one writes",
        ),
        (facts.is_subscriber, "this database has subscriptions"),
    ];
    let others = those(&others);
    if others.is_empty() || grantor::is_there() {
        let detail = format!("Node {node} is fixed, and no other server is known to use it.");
        return Finding::ok(detail);
    }
    let finding = Finding::ok(format!(
        "Node {node} is fixed, and {}.",
        others.join(", and ")
    ));
    finding.with(
        Status::Warning,
        "Make sure that each server has a \"pg_mint.node\" of its own in its postgresql.conf, or let a registry grant nodes.",
    )
}

/// Returns what is so.
fn those<'a>(facts: &[(bool, &'a str)]) -> Vec<&'a str> {
    let so = facts.iter().filter(|(is_so, _)| *is_so);
    so.map(|&(_, what)| what).collect()
}

/// Returns whether background workers are missing.
pub fn workers() -> Finding {
    let missing = [
        (
            leases::lacks_worker(),
            "\"pg_mint registry\", which renews leases",
        ),
        (
            segments::lacks_supplier(),
            "\"pg_mint segments\", which requests segments of other servers",
        ),
        (
            !recovery::is_in_progress() && segments::lacks_keeper(),
            "\"pg_mint give-back\", which gives values back at a shutdown",
        ),
    ];
    let (status, missing) = match missing[0].0 {
        true => (Status::Critical, those(&missing)),
        false => (Status::Warning, those(&missing)),
    };
    let detail = match missing.join("; ").as_str() {
        "" => "No background worker is missing.".to_owned(),
        missing => format!("Not running: {missing}."),
    };
    let status = status.when(!missing.is_empty());
    let finding = Finding::ok(detail).measured(missing.len() as f64, 1.0, "workers");
    finding.with(
        status,
        "Increase \"max_worker_processes\" and restart the server. Check the server log.",
    )
}

/// Returns whether the library, the extension and the shared memory are of one version.
pub fn versions(facts: Option<&Facts>) -> Finding {
    const LIBRARY: &str = env!("CARGO_PKG_VERSION");
    // The other checks have looked at all other memory.
    objectids::made_lane();
    uuids::made_lanes();
    if segment::has_other_version() {
        let detail = "Shared memory was created by another version of the library.";
        return Finding::ok(detail).with(Status::Critical, "Restart the server.");
    }
    let Some(facts) = facts else {
        return Finding::left_out();
    };
    let extension = facts.extension.as_deref().unwrap_or("unknown");
    let detail =
        format!("The library has version {LIBRARY}, the extension in this database {extension}.");
    let finding = Finding::ok(detail);
    finding.with(
        Status::Warning.when(extension != LIBRARY),
        "Use ALTER EXTENSION pg_mint UPDATE, and reconnect sessions of an older library.",
    )
}
