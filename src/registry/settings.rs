//! The registry that grants leases to this server: the settings `pg_mint.registry` and `registry_database`.

use crate::pg::backend::guc::{ParsedGuc, define_parsed, text};
use crate::pg::backend::local::{Cached, Local};
use crate::snowflake::node::grantor;
use crate::snowflake::node::grantor::Grantor;
use pgrx::{GucContext, GucSetting};
use std::ffi::CString;

static REGISTRY: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static DATABASE: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c"postgres"));

/// The hash of both, cleared when one is assigned.
static KEY: Cached<u64> = Cached::new();

/// The grantor of nodes once a registry is set.
static GRANTOR: Local<Option<&'static dyn Grantor>> = Local::new(None);

/// Returns a hash of the settings, which tells the leases of one registry from another's, and whether two processes use
/// the same registry.
pub fn registry_key() -> u64 {
    *KEY.get_or(|| {
        let texts = [&REGISTRY, &DATABASE].map(|setting| setting.get().unwrap_or_default());
        // Each text has its zero behind it, so that different pairs differ. The hash is FNV-1a, the same in all builds
        // of this library.
        let bytes = texts.iter().flat_map(|text| text.to_bytes_with_nul());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    })
}

/// Returns the foreign server by which the registry is reached.
pub fn registry() -> Option<String> {
    text(&REGISTRY)
}

/// Returns the database that has the foreign server.
pub fn registry_database() -> Option<String> {
    text(&DATABASE)
}

/// Defines the settings; with a registry set, nodes are leased through `grantor`. Called once, when the library is loaded.
pub fn init(grantor: &'static dyn Grantor) {
    GRANTOR.set(Some(grantor));
    define_parsed::<Registry>(
        c"pg_mint.registry",
        c"Sets the foreign server of the registry that grants leases of nodes.",
        c"Empty means that there is none: this server generates ids of any shard.",
        &REGISTRY,
        GucContext::Sighup,
    );
    define_parsed::<Registry<true>>(
        c"pg_mint.registry_database",
        c"Sets the database that has the foreign server of the registry, and dblink.",
        c"A change releases all leases, and requests new ones from there.",
        &DATABASE,
        GucContext::Sighup,
    );
}

/// The value of `pg_mint.registry`, or of its database: whether it is set.
#[derive(Default)]
struct Registry<const IS_DATABASE: bool = false>(bool);

impl<const IS_DATABASE: bool> ParsedGuc for Registry<IS_DATABASE> {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(!text.is_empty()))
    }

    fn assign(self) {
        KEY.clear();
        match IS_DATABASE {
            true => grantor::drop_cached(),
            false => grantor::set(GRANTOR.get().filter(|_| self.0)),
        }
    }
}
