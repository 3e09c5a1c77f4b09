//! Checks of the server and of this database: versions and workers, and what the catalogs say of other servers.

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
use crate::uuid::lanes as uuids;

/// What the catalogs say.
pub struct Facts {
    /// The version of the extension's objects in this database.
    extension: Option<String>,
    /// The publications that have tables of a registry.
    pub publications: Vec<String>,
    /// Whether other servers receive what this one writes, by a connection or a slot.
    pub is_replicated: bool,
    /// Whether this database receives what other servers write.
    pub is_subscriber: bool,
    /// Whether the node is set for a role or the database, which standbys and copies have, too.
    pub has_stored_node: bool,
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
    ),
    EXISTS (
        SELECT FROM pg_db_role_setting AS s
        WHERE 'pg_mint.node' IN (SELECT split_part(c, '=', 1) FROM unnest(s.setconfig) AS c)
            AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
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
            has_stored_node: row.get(5).unwrap_or(false),
        }
    }
}

/// Returns what is so.
pub fn those<'a>(facts: &[(bool, &'a str)]) -> Vec<&'a str> {
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
