//! Callbacks on DISCARD ALL and DISCARD SEQUENCES.

use super::callbacks::Callbacks;
use super::local::Local;
use super::statement;
use crate::pg::ports::standard_ProcessUtility;
use pgrx::pg_sys;
use std::ffi::c_char;

static ON_DISCARD: Callbacks<fn()> = Callbacks::new();
static PREVIOUS: Local<pg_sys::ProcessUtility_hook_type> = Local::new(None);

/// Calls `callback` after each DISCARD ALL and DISCARD SEQUENCES of the session.
pub fn on_discard(callback: fn()) {
    ON_DISCARD.add(callback);
}

/// Hooks into utility statements. Called once, when the library is loaded.
pub fn init() {
    // SAFETY: no statement uses the hook yet.
    unsafe {
        PREVIOUS.set(pg_sys::ProcessUtility_hook);
        pg_sys::ProcessUtility_hook = Some(on_utility);
    }
}

/// Runs a statement. Its errors jump over this function, as over the server's own. So it is not guarded, owns nothing that
/// needs to be dropped, and cannot panic.
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
    statement::detect_begin();
    // SAFETY: the arguments are passed on unchanged. The statement is read before it runs, which can free it; a node's
    // tag says what it is.
    unsafe {
        let node = (*statement).utilityStmt;
        let discards = !node.is_null()
            && (*node).type_ == pg_sys::NodeTag::T_DiscardStmt
            && matches!(
                (*node.cast::<pg_sys::DiscardStmt>()).target,
                pg_sys::DiscardMode::DISCARD_ALL | pg_sys::DiscardMode::DISCARD_SEQUENCES
            );
        PREVIOUS.get().unwrap_or(standard_ProcessUtility)(
            statement, query, read_only_tree, context, params, environment, destination, completion,
        );
        if discards {
            ON_DISCARD.all().for_each(|callback| callback());
        }
    }
}
