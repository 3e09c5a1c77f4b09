//! What one session remembers: layouts it used, ids it reserved, and the last id it minted.

use super::errors::bad_layout_bytes;
use mint_core::{BUILTINS, Lane, Layout, Run};
use pgrx::pg_sys;
use std::ffi::c_char;
use std::ptr;

const LAYOUTS: usize = 16;
const RESERVED: usize = 64;

/// Bytes of a layout, as words, and what they mean.
type Known = (Words, Layout);
type Words = (u64, u64, u32);

struct Session {
    /// Direct-mapped by lane: ids taken at once, issued one by one.
    reserved: [Option<(&'static Lane, Run)>; RESERVED],
    last_id: Option<i64>,
}

static mut SESSION: Session = Session {
    reserved: [None; RESERVED],
    last_id: None,
};

/// A slot that no layout's bytes match: their first is never zero.
const BLANK: Known = ((0, 0, 0), BUILTINS[0].layout);

/// Direct-mapped by the bytes, so that a call need not take its layout apart again.
static mut KNOWN: [Known; LAYOUTS] = [BLANK; LAYOUTS];

/// The one of the call before, which most often is the next one's as well.
static mut RECENT: *const Known = ptr::addr_of!(KNOWN).cast();

fn session() -> &'static mut Session {
    // SAFETY: a backend is one thread, and no function of this module calls another, or the server,
    // while it holds the reference; what they lend lives in SESSION, which is never freed.
    unsafe { &mut *ptr::addr_of_mut!(SESSION) }
}

/// The layout of these bytes, which were checked when they became a value. Lent until the next call:
/// who needs two, or one for longer, copies.
#[inline]
pub fn layout(bytes: [u8; Layout::BYTES]) -> &'static Layout {
    let words = words(bytes);
    // SAFETY: a backend is one thread, and RECENT points to a slot of KNOWN.
    let (known, layout) = unsafe { &*RECENT };
    if *known == words {
        layout
    } else {
        other(words)
    }
}

/// A layout that is not the one of the call before.
fn other(words: Words) -> &'static Layout {
    // Fibonacci hashing, as of lanes; a clash only costs time.
    let mixed = (words.0 ^ words.1.rotate_left(32) ^ u64::from(words.2))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // SAFETY: a backend is one thread, and a function of SQL holds one layout at a time.
    let slot = unsafe { &mut (*ptr::addr_of_mut!(KNOWN))[(mixed >> 60) as usize % LAYOUTS] };
    if slot.0 != words {
        learn(slot, words);
    }
    // SAFETY: as above.
    unsafe { RECENT = slot };
    &slot.1
}

// Words, not a reference to the bytes, so that a call keeps them in registers.
#[inline]
fn words(bytes: [u8; Layout::BYTES]) -> Words {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, rest @ ..] = bytes;
    (
        u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        u64::from_ne_bytes([i, j, k, l, m, n, o, p]),
        u32::from_ne_bytes(rest),
    )
}

#[cold]
fn learn(slot: &mut Known, words: Words) {
    let mut bytes = [0; Layout::BYTES];
    bytes[..8].copy_from_slice(&words.0.to_ne_bytes());
    bytes[8..16].copy_from_slice(&words.1.to_ne_bytes());
    bytes[16..].copy_from_slice(&words.2.to_ne_bytes());
    match Layout::from_bytes(&bytes) {
        Ok(layout) => *slot = (words, layout),
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

/// Drops what is left of all reservations: it was taken under settings that have changed since.
pub fn forget_reservations() {
    session().reserved = [None; RESERVED];
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

// tcop/utility.h. Not pgrx's own binding: its guard catches every error that a statement raises and
// raises another in its place, without constraint, position and context, and with no SQLSTATE that it
// does not know.
unsafe extern "C-unwind" {
    fn standard_ProcessUtility(
        statement: *mut pg_sys::PlannedStmt,
        query: *const c_char,
        read_only_tree: bool,
        context: pg_sys::ProcessUtilityContext::Type,
        params: pg_sys::ParamListInfo,
        environment: *mut pg_sys::QueryEnvironment,
        destination: *mut pg_sys::DestReceiver,
        completion: *mut pg_sys::QueryCompletion,
    );
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
    super::statement::note();
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
        PREVIOUS_HOOK.unwrap_or(standard_ProcessUtility)(
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
            session().last_id = None;
            super::segment_session::forget_tickets();
        }
    }
}
