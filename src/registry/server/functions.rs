//! The function of the registry that members call.

use crate::pg::backend::recovery::{self, Refusal as Recovery};
use crate::pg::backend::{guc, transaction};
use crate::pg::datum::json::{JsonArgument, JsonText};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{report, sentence};
use crate::pg::worker::visitor;
use crate::registry::protocol::{
    self, MemberRequest, PROTOCOL, RegistryAnswer, RegistryReply, UnreadableMessage,
};
use crate::registry::server::state;
use pgrx::PgSqlErrorCode as Code;
use pgrx::prelude::*;

/// Answers a request of a member: for a lease, its renewal or its end. See [`protocol`]. **For members, not for people.**
///
/// # Errors
/// 25006 on a standby, 25001 in a transaction block, 0A000 at another isolation level than READ COMMITTED and of an unknown
/// protocol, 22023 of a request that cannot be read, 55000 where there is no registry, 55P03 when a lock is held.
#[pg_extern(sql = false)]
fn registry_request(request: JsonArgument) -> JsonText {
    /// The limit in milliseconds. Others wait for the locks from the answer to the commit.
    const COMMIT_WITHIN: i32 = 300;
    recovery::refuse(&Recovery {
        message: "cannot grant leases during recovery",
        detail: "The registry is on a standby server.",
        hint: "Lead the foreign server to the primary server, or promote this one.",
    });
    visitor::refuse_block(c"mint.registry_request()");
    if !transaction::sees_commits() {
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            "registry requires isolation level READ COMMITTED",
        )
        .detail("An older snapshot would not show leases that were granted in the meantime.")
        .hint("Use ALTER ROLE ... SET default_transaction_isolation = 'read committed' for the role that connects.")
        .raise();
    }
    // A crash must not forget a lease. Settings that also wait for standbys stay as they are.
    if transaction::commits_without_flush() {
        guc::set_local(c"synchronous_commit", c"on");
    }
    let request: MemberRequest =
        protocol::read(&request.0).unwrap_or_else(|why| refuse_request(why));
    let answer = state::answer(&request);
    let answer = answer.map_or_else(RegistryAnswer::Refusal, RegistryAnswer::Lease);
    visitor::commit_within(COMMIT_WITHIN);
    visitor::leave_when_stopping();
    JsonText(protocol::write(&RegistryReply { answer }))
}

#[cold]
fn refuse_request(why: UnreadableMessage) -> ! {
    match why {
        UnreadableMessage::Protocol(number) => report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("unsupported registry protocol {number}"),
        )
        .detail(format!("The registry supports protocol {PROTOCOL}."))
        .hint(if number < i64::from(PROTOCOL) {
            "Update pg_mint on the member."
        } else {
            "Update pg_mint on the registry before updating its members."
        }),
        UnreadableMessage::Malformed(why) => report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "invalid request to the registry",
        )
        .detail(sentence(&why)),
    }
    .raise()
}

/// Returns the place to which the rows of this database's registry belong: this system and this database. Rows of
/// another place were restored from a dump, or are replicated.
#[pg_extern(sql = false)]
fn registry_place() -> DecodedText {
    DecodedText(state::place())
}
