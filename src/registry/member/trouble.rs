//! Why leases are not granted or renewed, each for itself, and what to do about it. The worker writes the reasons, and
//! sessions and views read them.

use crate::pg::catalog::extension;
use crate::pg::worker::note::Note;
use crate::registry::settings;

/// A lease that is wanted: the width, and the first and the last node; without these, any one node.
pub type Task = (u32, Option<(u64, u64)>);

/// Room for some 20 long reasons. The rest is in the server log.
pub type Troubles = Note<8_192>;

/// Why the last request of a task failed.
pub struct Trouble {
    pub task: Task,
    pub why: String,
}

/// Writes why tasks failed, a line for each.
pub fn write<'a>(failures: impl Iterator<Item = (Task, &'a str)>) -> String {
    let each = failures.map(|((width, nodes), why)| match nodes {
        None => format!("{width} - - {why}\n"),
        Some((first, last)) => format!("{width} {first} {last} {why}\n"),
    });
    each.collect()
}

/// Reads what was written.
pub fn read(troubles: &Troubles) -> Vec<Trouble> {
    let text = troubles.get().unwrap_or_default();
    text.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<Trouble> {
    let mut parts = line.splitn(4, ' ');
    let width = parts.next()?.parse().ok()?;
    let (first, last) = (parts.next()?, parts.next()?);
    let nodes = match first {
        "-" => None,
        _ => Some((first.parse().ok()?, last.parse().ok()?)),
    };
    Some(Trouble {
        task: (width, nodes),
        why: parts.next()?.to_owned(),
    })
}

impl Trouble {
    /// Returns whether it is about a node of a width; or, without a node, about any node of that width.
    pub fn is_of(&self, width: u32, node: Option<u64>) -> bool {
        let (own_width, nodes) = self.task;
        own_width == width
            && match (nodes, node) {
                (None, node) => node.is_none(),
                (Some((first, last)), Some(node)) => (first..=last).contains(&node),
                (Some(_), None) => false,
            }
    }
}

/// What to do, by words of the reason: those of this extension's own messages, as its registry writes them. What PostgreSQL says
/// in other words has no remedy here. The first that fits counts.
const REMEDIES: [(&str, &str); 25] = [
    ("lease slots have been used since", "Restart the server."),
    (
        "one of the two is a copy",
        "Stop the copy; if this server is to stay, use mint.registry_assign(node_bits, cluster_name, moved => true) on the registry.",
    ),
    (
        "another server of the name",
        "If this server replaces that one, use mint.registry_assign(node_bits, cluster_name, moved => true) on the registry; otherwise give it another \"cluster_name\".",
    ),
    (
        "this server might be a copy",
        "Check that the registry is running, and the network between the servers.",
    ),
    (
        "\" is not understood, and is kept as it is",
        "Move the file away, and use mint.registry_assign(node_bits, cluster_name, moved => true) on the registry.",
    ),
    (
        "no node (",
        "Use mint.registry_assign() on the registry, with the \"cluster_name\" of this server.",
    ),
    (
        " assigned to \"",
        "Use another node, or mint.registry_unassign() on the registry if the server of that name does not use it any more.",
    ),
    (
        "registry is in quarantine",
        "Wait until the quarantine ends; if the registry has forgotten no lease, use mint.registry_end_quarantine() there.",
    ),
    (
        "clock of the member is",
        "Correct the clock of this server, or of the registry.",
    ),
    (
        "clock of the registry is",
        "Correct the clock of the registry. If it is correct now, and was ahead, use mint.registry_accept_clock() there.",
    ),
    (
        " reserved for \"",
        "Use another node, or mint.registry_unreserve() on the registry if the server of that name does not use it any more.",
    ),
    (
        "connects as another role",
        "Correct the user mapping; if the role was changed for good, use mint.registry_assign(node_bits, cluster_name, moved => true) on the registry.",
    ),
    (
        " leased by \"",
        "Wait until that lease ends, or give each server a node of its own in \"pg_mint.node\" and \"pg_mint.nodes\".",
    ),
    (
        "are in use, or listed by this server",
        "Use mint.release_leases() on servers that need no node, or a layout with more node bits.",
    ),
    (
        " leases (maximum ",
        "Increase the limits with mint.registry_create() on the registry, or use another role.",
    ),
    (
        " more (maximum ",
        "Increase the limits with mint.registry_create() on the registry, or use another role.",
    ),
    (
        "lease is not known to the registry",
        "Retry the statement: the server requests a new lease.",
    ),
    (
        "registry of nodes is busy",
        "End the transactions of other sessions that use the schema \"mint_registry\" on the registry.",
    ),
    (
        "registry of nodes is on a standby server",
        "Lead the foreign server to the primary server, or promote this one.",
    ),
    (
        "changed without a new history",
        "Make sure that the foreign server leads to one registry only, and not to several by turns.",
    ),
    (
        "is not a registry of nodes",
        "Use mint.registry_create() there, or correct the foreign server.",
    ),
    (
        "permission denied for view nodes",
        "Grant INSERT on the view \"mint_registry.nodes\" to the role that connects.",
    ),
    (
        "does not exist, which",
        "Correct \"pg_mint.registry_database\", or create the database.",
    ),
    (
        "\" did not respond",
        "Check that the registry is running, and the network between the servers.",
    ),
    (
        "could not establish connection",
        "Check that the registry is running, and the options of the foreign server and its user mapping.",
    ),
];

/// Returns why no worker can start, if its database does not exist: then it cannot say so. In a session.
pub fn missing_database() -> Option<String> {
    let name = settings::registry_database()?;
    (!extension::has_database(&name)).then(|| {
        format!("database \"{name}\" does not exist, which \"pg_mint.registry_database\" names")
    })
}

/// Returns what to do about a reason, as the HINT of an error.
pub fn remedy(why: &str) -> &'static str {
    let remedy = REMEDIES.iter().find(|(words, _)| why.contains(words));
    remedy.map_or(
        "Check mint.leases, mint_registry.nodes of the registry, and the server log.",
        |(_, remedy)| remedy,
    )
}

/// Strips digits, so that an error that repeats with other times in it is logged once.
pub fn without_numbers(reason: &str) -> String {
    reason
        .chars()
        .filter(|sign| !sign.is_ascii_digit())
        .collect()
}
