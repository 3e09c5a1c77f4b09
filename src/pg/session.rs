//! What one session remembers: layouts it used, ids it reserved, and the last id it minted.

use super::errors::bad_layout_bytes;
use mint_core::{BUILTINS, Lane, Layout, Run};
use pgrx::{pg_guard, pg_sys};
use std::ffi::c_char;
use std::ptr;

const LAYOUTS: usize = 16;
const RESERVED: usize = 64;

/// Bytes of a layout and what they mean.
type Known = ([u8; Layout::BYTES], Layout);

struct Session {
    /// Direct-mapped by lane: ids taken at once, issued one by one.
    reserved: [Option<(&'static Lane, Run)>; RESERVED],
    last_id: Option<i64>,
}

static mut SESSION: Session = Session {
    reserved: [None; RESERVED],
    last_id: None,
};

/// Direct-mapped by the bytes, so that a call need not take its layout apart again.
static mut KNOWN: [Option<Known>; LAYOUTS] = [None; LAYOUTS];

fn session() -> &'static mut Session {
    // SAFETY: a backend is one thread, and no function of this module calls another, or the server,
    // while it holds the reference; what they lend lives in SESSION, which is never freed.
    unsafe { &mut *ptr::addr_of_mut!(SESSION) }
}

/// The layout of these bytes, which were checked when they became a value. Lent until the next call:
/// who needs two, or one for longer, copies.
#[inline]
pub fn layout(bytes: &[u8; Layout::BYTES]) -> &'static Layout {
    // Widths and epoch tell nearly all layouts apart; a clash only costs time.
    let mix = bytes[1] ^ bytes[2] ^ bytes[4] ^ bytes[17] ^ bytes[18] ^ bytes[19];
    // SAFETY: a backend is one thread, and a function of SQL holds one layout at a time.
    let slot = unsafe { &mut (*ptr::addr_of_mut!(KNOWN))[usize::from(mix ^ (mix >> 4)) % LAYOUTS] };
    if slot.as_ref().is_none_or(|(known, _)| known != bytes) {
        *slot = Some(learn(bytes));
    }
    match slot {
        Some((_, layout)) => layout,
        None => &BUILTINS[0].layout,
    }
}

#[cold]
fn learn(bytes: &[u8; Layout::BYTES]) -> Known {
    match Layout::from_bytes(bytes) {
        Ok(layout) => (*bytes, layout),
        Err(error) => bad_layout_bytes(&error),
    }
}

/// What is left of the session's reservation on a lane, to be changed in place.
pub fn reservation(lane: &'static Lane) -> &'static mut Option<(&'static Lane, Run)> {
    let place = ptr::from_ref(lane).addr() / size_of::<Lane>() % RESERVED;
    let slot = &mut session().reserved[place];
    if slot.is_some_and(|(owner, _)| !ptr::eq(owner, lane)) {
        // Another lane's leftovers: they are lost, as those of a past tick are.
        *slot = None;
    }
    slot
}

/// Remembers the id that was minted last.
#[inline]
pub fn set_last_id(id: i64) {
    session().last_id = Some(id);
}

/// The id that was minted last, since the session began or was discarded.
pub fn last_id() -> Option<i64> {
    session().last_id
}

static mut PREVIOUS_HOOK: pg_sys::ProcessUtility_hook_type = None;

/// Takes part in DISCARD ALL and DISCARD SEQUENCES, as `lastval()` does.
pub fn init() {
    // SAFETY: called once, when the library is loaded, before any statement uses the hook.
    unsafe {
        PREVIOUS_HOOK = pg_sys::ProcessUtility_hook;
        pg_sys::ProcessUtility_hook = Some(on_utility);
    }
}

#[pg_guard]
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
        match PREVIOUS_HOOK {
            Some(hook) => {
                hook(
                    statement,
                    query,
                    read_only_tree,
                    context,
                    params,
                    environment,
                    destination,
                    completion,
                );
            }
            None => pg_sys::standard_ProcessUtility(
                statement,
                query,
                read_only_tree,
                context,
                params,
                environment,
                destination,
                completion,
            ),
        }
        if discards {
            session().last_id = None;
        }
    }
}
