//! The file of the nodes that are assigned to this server, in the data directory.

use crate::pg::machine::{random, state_file};
use mint_core::Micros;
use mint_core::registry::assigned_rules::AgreedKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Its name.
const FILE: &str = "pg_mint.assigned";
/// The number of its format.
const FORMAT: u32 = 1;

/// What the file says.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct AssignedFile {
    format: u32,
    /// What this server has chosen at its first request.
    pub(super) origin: i64,
    /// For each width of nodes, what is assigned.
    pub(super) nodes: BTreeMap<u32, KnownNode>,
}

/// What is known of the assigned node of a width.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct KnownNode {
    /// The last keys, the oldest first. The last one is proposed before it is agreed on.
    pub(super) keys: Vec<AgreedKey>,
    /// The counter of the last key that was agreed on.
    pub(super) agreed: i64,
    /// Whether the registry has said that another server has the node.
    pub(super) is_stranger: bool,
    pub(super) grant: Option<LastGrant>,
}

/// The last lease of a node.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LastGrant {
    pub(super) node: u64,
    /// The key of the settings by which the registry was found.
    pub(super) registry: u64,
    /// The longest outage that the registry was told of then: it keeps the node for so long.
    pub(super) max_outage: Option<Micros>,
    /// When it was granted, by this server's clock. In the file it is up to one renewal older.
    pub(super) at: Micros,
    /// Where the server was: its machine and its data directory.
    pub(super) place: String,
}

impl AssignedFile {
    /// Reads the file.
    ///
    /// # Errors
    /// When it is there and cannot be read or understood.
    pub(super) fn read() -> Result<Self, String> {
        let refusal = |why: &dyn std::fmt::Display| {
            format!("file \"{FILE}\" is not understood, and is kept as it is: {why}")
        };
        let Some(text) = state_file::read(FILE).map_err(|error| refusal(&error))? else {
            return Ok(Self {
                format: FORMAT,
                origin: random::bits().cast_signed(),
                nodes: BTreeMap::new(),
            });
        };
        let memory: Self = serde_json::from_str(&text).map_err(|error| refusal(&error))?;
        if memory.format != FORMAT {
            return Err(refusal(&format!("its format is {}", memory.format)));
        }
        Ok(memory)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self) -> Result<(), String> {
        let text = serde_json::to_string(self).map_err(|error| error.to_string())?;
        state_file::write(FILE, &text)
            .map_err(|error| format!("could not write file \"{FILE}\": {error}"))
    }
}
