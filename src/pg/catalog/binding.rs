//! To which objects the names in SQL of ours may be bound.
//!
//! A schema can be renamed between the moment its name is looked up and the moment the server reads a statement with it,
//! also while the statement before waits for a lock. Its owner can then have put another one in its place. So
//! what the server found is looked at by oid, after it was found and before anything of it runs.

use crate::pg::backend::local::Local;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_guard, pg_sys};
use std::ptr;

/// What statements may touch besides the server's own objects, each by its oid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bound<'a> {
    /// Tables.
    pub relations: &'a [pg_sys::Oid],
    /// Functions.
    pub functions: &'a [pg_sys::Oid],
}

/// What holds now, if anything does.
static NOW: Local<Option<Bound<'static>>> = Local::new(None);
/// The hook that was there before.
static OTHERS: Local<pg_sys::post_parse_analyze_hook_type> = Local::new(None);

/// Sets back what held before, also when an error unwinds.
struct Restore(Option<Bound<'static>>);

impl Drop for Restore {
    fn drop(&mut self) {
        NOW.set(self.0);
    }
}

/// Runs `work`, whose statements may be bound to nothing else.
pub fn to<T>(bound: Bound<'_>, work: impl FnOnce() -> T) -> T {
    static BEGUN: Local<bool> = Local::new(false);
    if !BEGUN.replace(true) {
        // SAFETY: a hook is a function of ours, which lives as long as the process, as a library is never unloaded.
        unsafe {
            OTHERS.set(pg_sys::post_parse_analyze_hook);
            pg_sys::post_parse_analyze_hook = Some(on_statement);
        }
    }
    // SAFETY: the slices outlive `work`, and what held before is set back when it ends.
    let bound = unsafe { std::mem::transmute::<Bound<'_>, Bound<'static>>(bound) };
    let _restore = Restore(NOW.replace(Some(bound)));
    work()
}

/// Called with each statement when its names have been looked up, and before views in it are read.
#[pg_guard]
unsafe extern "C-unwind" fn on_statement(
    state: *mut pg_sys::ParseState,
    query: *mut pg_sys::Query,
    jumble: *mut pg_sys::JumbleState,
) {
    // SAFETY: the arguments are the server's, and go on to the next as they came.
    unsafe {
        if let Some(others) = OTHERS.get() {
            others(state, query, jumble);
        }
        let bound = NOW.get();
        if let Some(bound) = bound
            && (*query).commandType != pg_sys::CmdType::CMD_UTILITY
            && !is_within(bound, query)
        {
            report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "a schema was renamed while its name was in use",
            )
            .detail("The name means another one now.")
            .hint("Repeat the statement.")
            .raise();
        }
    }
}

/// Whether a statement touches what it may, and nothing else.
///
/// # Safety
/// `query` is a statement whose names have been looked up.
unsafe fn is_within(bound: Bound<'_>, query: *mut pg_sys::Query) -> bool {
    let (mut relations, mut items, mut row_security) = (ptr::null_mut(), ptr::null_mut(), false);
    // SAFETY: the lists are of what their names say: oids, and entries by which plans hear of changes.
    unsafe {
        pg_sys::extract_query_dependencies(
            query.cast(),
            &raw mut relations,
            &raw mut items,
            &raw mut row_security,
        );
        let relations = cells(relations).iter().map(|cell| cell.oid_value);
        let items = cells(items)
            .iter()
            .map(|cell| &*cell.ptr_value.cast::<pg_sys::PlanInvalItem>());
        let functions = pg_sys::SysCacheIdentifier::PROCOID.cast_signed();
        let none = pg_sys::Datum::from(0);
        let is_known = |item: &pg_sys::PlanInvalItem| {
            let is_it = |&oid: &pg_sys::Oid| {
                let hash = pg_sys::GetSysCacheHashValue(functions, oid.into(), none, none, none);
                item.hashValue == hash
            };
            item.cacheId == functions && bound.functions.iter().any(is_it)
        };
        relations
            .into_iter()
            .all(|oid| is_server_s(oid) || bound.relations.contains(&oid))
            && items.into_iter().all(is_known)
    }
}

/// Whether an object came with the server.
fn is_server_s(oid: pg_sys::Oid) -> bool {
    oid.to_u32() < pg_sys::FirstNormalObjectId
}

/// # Safety
/// `list` is a list that lasts, or none.
unsafe fn cells<'a>(list: *mut pg_sys::List) -> &'a [pg_sys::ListCell] {
    // SAFETY: as the caller says; a list that is there has as many elements as it says.
    unsafe {
        list.as_ref().map_or(&[], |list| {
            std::slice::from_raw_parts(list.elements, usize::try_from(list.length).unwrap_or(0))
        })
    }
}
