//! Checks of the server and of this database: versions and workers, and what the catalogs say of other servers.

use crate::monitor::health::finding::{Finding, Status};
use crate::objectid::generate as objectids;
use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
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
    /// Whether this database receives what other servers write.
    pub is_subscriber: bool,
    /// Whether the node is set for a role or the database.
    pub has_stored_node: bool,
    /// How many rows of other servers its subscriptions could not apply, as this database had their keys. Before
    /// PostgreSQL 18, all that they could not apply.
    pub conflicts: i64,
}

/// One row. Catalogs and functions that every role may read.
const QUERY: &str = "SELECT
    (SELECT e.extversion FROM pg_extension AS e
     WHERE e.extname = 'pg_mint'),
    EXISTS (
        SELECT FROM pg_subscription AS s
            JOIN pg_database AS d ON d.oid = s.subdbid
        WHERE d.datname = current_database()
    ),
    EXISTS (
        SELECT FROM pg_db_role_setting AS s
        WHERE 'pg_mint.node' IN (SELECT split_part(c, '=', 1) FROM unnest(s.setconfig) AS c)
            AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
    ),
    (
        SELECT sum(coalesce((to_jsonb(t) ->> 'confl_insert_exists')::int8, t.apply_error_count))::int8
        FROM pg_subscription AS s
            JOIN pg_database AS d ON d.oid = s.subdbid
            JOIN pg_stat_subscription_stats AS t ON t.subid = s.oid
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
            is_subscriber: row.get(2).unwrap_or(false),
            has_stored_node: row.get(3).unwrap_or(false),
            conflicts: row.get(4).unwrap_or(0),
        }
    }
}

/// Returns whether the background worker of a registry is missing.
pub fn workers() -> Finding {
    let is_missing = leases::lacks_worker();
    let detail = match is_missing {
        true => "Not running: \"pg_mint registry\", which renews leases.",
        false => "No background worker is missing.",
    };
    let finding = Finding::ok(detail.to_owned()).measured(is_missing.into(), 1.0, "workers");
    finding.with(
        Status::Critical.when(is_missing),
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
