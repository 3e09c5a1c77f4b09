//! Hearing of DISCARD ALL and DISCARD SEQUENCES.

use super::callbacks::Callbacks;
use super::local::Local;
use super::statement;
use crate::pg::ports::standard_ProcessUtility;
use pgrx::pg_sys;
use std::ffi::c_char;

static HEARERS: Callbacks<fn()> = Callbacks::new();
static PREVIOUS: Local<pg_sys::ProcessUtility_hook_type> = Local::new(None);

/// Calls `hearer` after each DISCARD ALL and DISCARD SEQUENCES of the session.
pub fn on_discard(hearer: fn()) {
    HEARERS.add(hearer);
}

/// Takes part in these statements, as `lastval()` does. Called once, when the library is loaded.
pub fn init() {
    // SAFETY: called before any statement uses the hook.
    unsafe {
        PREVIOUS.set(pg_sys::ProcessUtility_hook);
        pg_sys::ProcessUtility_hook = Some(on_utility);
    }
}

/// Errors of the statement jump over this function, as over the server's own. So it is not guarded,
/// owns nothing that would have to be dropped, and cannot panic.
#[allow(clippy::too_many_arguments, reason = "the hook's signature")]
unsafe extern "C-unwind" fn on_utility(
    statement: *mut pg_sys::PlannedStmt,
    query: *const c_char,
    read_only_tree: bool,
    context: pg_sys::ProcessUtilityContext::Type,
    params: pg_sys::ParamListInfo,
    environment: *mut pg_sys::QueryEnvironment,
    destination: *mut pg_sys::DestReceiver,
    completion: *mut pg_sys::QueryCompletion,
) {
    statement::note();
    // SAFETY: the arguments are handed on as they came; the statement is the server's, and is looked
    // at before it runs, as running may free it. A node's tag says what it is.
    unsafe {
        let node = (*statement).utilityStmt;
        let discards = !node.is_null()
            && (*node).type_ == pg_sys::NodeTag::T_DiscardStmt
            && matches!(
                (*node.cast::<pg_sys::DiscardStmt>()).target,
                pg_sys::DiscardMode::DISCARD_ALL | pg_sys::DiscardMode::DISCARD_SEQUENCES
            );
        PREVIOUS.get().unwrap_or(standard_ProcessUtility)(
            statement,
            query,
            read_only_tree,
            context,
            params,
            environment,
            destination,
            completion,
        );
        if discards {
            HEARERS.all().for_each(|hearer| hearer());
        }
    }
}
