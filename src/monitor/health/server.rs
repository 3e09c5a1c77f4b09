//! Checks of the server and of this database: versions, workers, and facts about other servers in the catalogs.

use crate::monitor::health::finding::{Finding, Status};
use crate::objectid::generate as objectids;
use crate::pg::backend::{guc, transaction::attempt};
use crate::pg::catalog::{spi::Row, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::shmem::segment;
use crate::registry::member::usage as leases;
use crate::uuid::lanes as uuids;

/// The facts in the catalogs.
pub struct Facts {
    /// The version of the extension's objects in this database.
    extension: String,
    /// True if this is a standby or receives rows of other servers, or the node is set for a role or the database.
    pub is_elsewhere: bool,
    /// The number of rows of other servers that its subscriptions could not apply, as this database had their keys.
    /// Before PostgreSQL 18, all that they could not apply.
    pub conflicts: i64,
}

/// One row, from catalogs and functions that every role may read.
const QUERY: &str = "SELECT e.extversion,
        pg_is_in_recovery() OR EXISTS (SELECT FROM pg_subscription AS s WHERE s.subdbid = d.oid)
            OR EXISTS (SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS c
                WHERE split_part(c, '=', 1) = 'pg_mint.node' AND s.setdatabase IN (0, d.oid)),
        (SELECT coalesce(sum(coalesce((to_jsonb(t) ->> 'confl_insert_exists')::int8, t.apply_error_count)), 0)::int8
            FROM pg_subscription AS s JOIN pg_stat_subscription_stats AS t ON t.subid = s.oid WHERE s.subdbid = d.oid)
    FROM pg_extension AS e JOIN pg_database AS d ON d.datname = current_database() WHERE e.extname = 'pg_mint'";

impl Facts {
    /// Reads the facts; none when another transaction has locked one of the catalogs.
    pub fn read() -> Option<Self> {
        let read = |row: &Row<'_>| {
            Some(Self {
                extension: row.need::<DecodedText>(1).0,
                is_elsewhere: row.need(2),
                conflicts: row.need(3),
            })
        };
        let select = || sql::rows(QUERY, &[], read).pop();
        attempt(|| guc::with(&[(c"lock_timeout", c"1")], select))?
    }
}

/// Returns whether the background worker that renews leases is missing.
pub fn workers() -> Finding {
    if leases::lacks_worker() {
        let detail = "Not running: \"pg_mint registry\", which renews leases.";
        let hint =
            "Increase \"max_worker_processes\" and restart the server. Check the server log.";
        return Finding::new(Status::Critical, detail, hint);
    }
    Finding::ok("No background worker is missing.")
}

/// Returns whether the library, the extension and the shared memory are of one version.
pub fn versions(facts: Option<&Facts>) -> Finding {
    const LIBRARY: &str = env!("CARGO_PKG_VERSION");
    // The other checks have read all other memory.
    objectids::made_lane();
    uuids::made_lanes();
    if segment::has_other_version() {
        let detail = "Shared memory was created by another version of the library.";
        return Finding::new(Status::Critical, detail, "Restart the server.");
    }
    let Some(Facts { extension, .. }) = facts else {
        return Finding::ok("The catalogs are locked by another transaction.");
    };
    let detail = format!("The library has version {LIBRARY}, the extension here {extension}.");
    let hint = "Use ALTER EXTENSION pg_mint UPDATE, and reconnect sessions of an older library.";
    Finding::new(Status::Warning.when(extension != LIBRARY), detail, hint)
}
