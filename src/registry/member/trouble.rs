//! The reasons why requests of nodes fail, with a remedy. The worker writes them, and sessions and views read them.

use crate::pg::catalog::extension;
use crate::pg::worker::transaction::{Failure, FailureKind, one_line};
use crate::registry::member::memory::LeasesHead;
use crate::registry::{bits, settings};
use mint_core::clock::duration_text;
use mint_core::registry::ring::{Refusal, RingRules};
use pgrx::PgSqlErrorCode as Code;

/// The reason why the last request for a node failed, and the HINT of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub why: String,
    pub remedy: String,
}

impl Trouble {
    pub fn new(why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            remedy: remedy.into(),
        }
    }

    /// Returns why the registry has refused to lease a node of a width.
    pub fn of_refusal(width: u32, refusal: Refusal) -> Self {
        match refusal {
            Refusal::Clock { ahead } => Self::new(
                format!(
                    "clock of this server is {} {} the clock of the registry (maximum {})",
                    duration_text(ahead.saturating_abs()),
                    if ahead < 0 { "behind" } else { "ahead of" },
                    duration_text(RingRules::STANDARD.skew)
                ),
                "Correct the clock of this server, or that of the registry if other servers have the same trouble.",
            ),
            Refusal::Width => Self::new(
                format!(
                    "a registry leases nodes of {} and more, but not of {}",
                    bits(RingRules::STANDARD.smallest_width),
                    bits(width)
                ),
                "Set \"pg_mint.node\" to a number, or use a layout with more bits of shard.",
            ),
            Refusal::Wait { left } => Self::new(
                format!(
                    "registry grants no new leases for another {}",
                    duration_text(left)
                ),
                "Retry after that time. A registry that was created, started, restored, moved or changed by hand waits until the leases that it can have granted before are over.",
            ),
            Refusal::Full { nodes, leased } => Self::new(
                format!(
                    "no node is free: {leased} of {nodes} nodes ({}) are leased or kept out",
                    bits(width)
                ),
                "Use a layout with more bits of shard, or mint.release_leases() on servers that need no node. A node rests for some seconds after its lease.",
            ),
            Refusal::Over => Self::new(
                "lease is not renewed by the registry",
                "Retry the statement: this server requests another node.",
            ),
        }
    }

    /// Returns why a request was not answered. The registry's own errors have a hint.
    pub fn of_failure(failure: Failure) -> Self {
        let kind = failure.kind;
        let remedy = match failure.code {
            _ if kind == FailureKind::Expired => "Check the registry, its standby, the network.",
            Code::ERRCODE_QUERY_CANCELED => {
                "Set \"statement_timeout\" to 0 on the registry, for the role that connects."
            }
            Code::ERRCODE_INSUFFICIENT_PRIVILEGE => {
                "Grant EXECUTE on function mint.registry_request(jsonb) to the role that connects, all on the registry's tables to the owner of the function, and USAGE on the foreign server to its own owner."
            }
            Code::ERRCODE_UNDEFINED_FUNCTION => {
                "Use ALTER EXTENSION pg_mint UPDATE in the database of the registry."
            }
            Code::ERRCODE_UNDEFINED_OBJECT => {
                "Use CREATE USER MAPPING for the foreign server in the database that \"pg_mint.registry_database\" names."
            }
            Code::ERRCODE_READ_ONLY_SQL_TRANSACTION => {
                "Set \"default_transaction_read_only\" to off on the registry, for its database and for the role that connects."
            }
            Code::ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED => {
                "Set a password in the user mapping, or let a superuser own the foreign server."
            }
            _ if kind == FailureKind::Lost => {
                "Check that the registry accepts the connection: its \"pg_hba.conf\" and \"max_connections\", and the options of the foreign server and the user mapping."
            }
            _ => "Check the server log of this server and of the registry.",
        };
        let remedy = failure.hint.unwrap_or_else(|| remedy.to_owned());
        Self::new(failure.why, remedy)
    }

    /// Returns that no worker can start, if its database does not exist, as then no worker can report it. In a session.
    pub fn of_missing_database() -> Option<Self> {
        let name = settings::registry_database()?;
        let why = format!(
            "database \"{name}\" does not exist, which \"pg_mint.registry_database\" names"
        );
        let remedy = "Correct \"pg_mint.registry_database\", or create the database.";
        (!extension::has_database(&name)).then(|| Self::new(why, remedy))
    }

    /// Returns the reason without digits, so that one that repeats with other times in it is logged once.
    pub fn pattern(&self) -> String {
        let signs = self.why.chars();
        signs.filter(|sign| !sign.is_ascii_digit()).collect()
    }
}

impl LeasesHead {
    /// Publishes why requests for nodes of these widths failed, a line for each. **For the worker.**
    pub fn set_troubles<'a>(&self, troubles: impl Iterator<Item = (u32, &'a Trouble)>) {
        let line = |(width, trouble): (u32, &Trouble)| {
            let [why, remedy] = [&trouble.why, &trouble.remedy].map(|text| one_line(text));
            format!("{width}\t{why}\t{remedy}\n")
        };
        self.troubles.set(&troubles.map(line).collect::<String>());
    }

    /// Returns why the last request for a node of a width failed, if it did.
    pub fn trouble(&self, width: u32) -> Option<Trouble> {
        let (text, begin) = (self.troubles.get()?, format!("{width}\t"));
        let line = text.lines().find_map(|line| line.strip_prefix(&begin))?;
        let (why, remedy) = line.split_once('\t')?;
        Some(Trouble::new(why, remedy))
    }
}
