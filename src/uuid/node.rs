//! The node of UUIDs of versions 1, 2 and 6: the setting `pg_mint.uuid_node`.

use crate::pg::backend::guc::{self, ParsedGuc};
use crate::pg::backend::local::Local;
use crate::pg::error::report;
use crate::pg::machine::host::first_address;
use mint_core::uuid::version::parse_mac;
use pgrx::{GucContext, GucSetting, PgSqlErrorCode};
use std::ffi::CString;
use std::path::Path;

static SETTING: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"random"));

/// The value of the setting.
#[derive(Clone, Copy, Default)]
enum Choice {
    /// A node drawn at each start of the server.
    #[default]
    Random,
    /// The machine's MAC address, looked up at the first use.
    Machine,
    /// A node by its number.
    Fixed([u8; 6]),
}

static CHOICE: Local<Choice> = Local::new(Choice::Random);

impl ParsedGuc for Choice {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("random") {
            return Ok(Choice::Random);
        }
        if text.eq_ignore_ascii_case("mac") {
            return Ok(Choice::Machine);
        }
        parse_mac(text).map(Choice::Fixed).ok_or_else(|| {
            "The value must be \"random\", \"mac\", or a MAC address such as 00:50:56:21:93:95."
                .to_owned()
        })
    }

    fn assign(self) {
        CHOICE.set(self);
    }
}

/// Returns the node that the setting chooses; none if the random node of this server is to be used.
#[inline]
pub fn node() -> Option<[u8; 6]> {
    match CHOICE.get() {
        Choice::Random => None,
        Choice::Fixed(node) => Some(node),
        Choice::Machine => Some(machine()),
    }
}

/// Returns the machine's MAC address.
#[cold]
fn machine() -> [u8; 6] {
    let Some(node) = first_address(Path::new("/sys/class/net")) else {
        report(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "could not find a MAC address on this machine",
        )
        .detail("Parameter \"pg_mint.uuid_node\" is \"mac\".")
        .hint("Set \"pg_mint.uuid_node\" to a MAC address or to \"random\".")
        .raise()
    };
    // The address is cached until the setting is assigned again.
    CHOICE.set(Choice::Fixed(node));
    node
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    guc::define_parsed::<Choice>(
        c"pg_mint.uuid_node",
        c"Sets the node of UUIDs of versions 1, 2 and 6.",
        c"\"random\" draws one at each start of the server, \"mac\" is the machine's MAC address, a MAC address sets the node itself.",
        &SETTING,
        GucContext::Suset,
    );
}
