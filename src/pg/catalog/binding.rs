//! Checks that the names in a statement of this extension mean the intended objects.
//!
//! A schema can be renamed after its name was looked up and before the server parses a statement with that name, also
//! while an earlier statement waits for a lock; its owner may have put another schema in its place. So the objects are
//! checked by oid, after the names are resolved and before anything runs.

use crate::pg::backend::local::Local;
use crate::pg::datum::list::{nodes, oids};
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_guard, pg_sys};
use std::ptr;

/// The objects, by oid, that statements can use besides the server's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bound<'a> {
    /// Tables.
    pub relations: &'a [pg_sys::Oid],
    /// Functions.
    pub functions: &'a [pg_sys::Oid],
    /// True if only the first statement is restricted: functions of an owner in it can use other objects.
    pub first_only: bool,
}

/// The server's data for counting statements.
#[cfg(feature = "pg19")]
type Jumble = *const pg_sys::JumbleState;
#[cfg(not(feature = "pg19"))]
type Jumble = *mut pg_sys::JumbleState;

/// The current restriction, if there is one.
static NOW: Local<Option<Bound<'static>>> = Local::new(None);
/// The hook of another library.
static PREVIOUS: Local<pg_sys::post_parse_analyze_hook_type> = Local::new(None);

/// Guard that restores the previous restriction; dropped also when an error unwinds.
struct Restore(Option<Bound<'static>>);

impl Drop for Restore {
    fn drop(&mut self) {
        NOW.set(self.0);
    }
}

/// Runs `work`, in whose statements names can mean only these objects.
pub fn restrict_to<T>(bound: Bound<'_>, work: impl FnOnce() -> T) -> T {
    static BEGUN: Local<bool> = Local::new(false);
    if !BEGUN.replace(true) {
        // SAFETY: the hook lives as long as the process, as a library is never unloaded.
        unsafe {
            PREVIOUS.set(pg_sys::post_parse_analyze_hook);
            pg_sys::post_parse_analyze_hook = Some(on_statement);
        }
    }
    // SAFETY: the arrays outlive `work`; the guard removes them when it ends.
    let bound = unsafe { std::mem::transmute::<Bound<'_>, Bound<'static>>(bound) };
    let _restore = Restore(NOW.replace(Some(bound)));
    work()
}

/// Checks each statement after its names are resolved, and before its views are expanded.
#[pg_guard]
unsafe extern "C-unwind" fn on_statement(
    state: *mut pg_sys::ParseState,
    query: *mut pg_sys::Query,
    jumble: Jumble,
) {
    // SAFETY: the arguments are the server's, and are passed on unchanged.
    unsafe {
        if let Some(previous) = PREVIOUS.get() {
            previous(state, query, jumble);
        }
        let Some(bound) = NOW.get() else {
            return;
        };
        let is_utility = (*query).commandType == pg_sys::CmdType::CMD_UTILITY;
        let is_meant = is_utility || is_within(bound, query);
        if !is_meant {
            refuse();
        }
        if bound.first_only {
            NOW.set(None);
        }
    }
}

/// Raises the error of a name that means another object by now.
#[cold]
#[track_caller]
pub fn refuse() -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "schema was renamed while its name was in use",
    )
    .detail("The name refers to another schema now.")
    .hint("Retry the statement.")
    .raise()
}

/// Returns whether a statement uses no other objects.
///
/// # Safety
/// `query` is a statement whose names are resolved.
unsafe fn is_within(bound: Bound<'_>, query: *mut pg_sys::Query) -> bool {
    let (mut relations, mut items, mut row_security) = (ptr::null_mut(), ptr::null_mut(), false);
    // SAFETY: the first list has oids, the second one invalidation items of the plan.
    unsafe {
        pg_sys::extract_query_dependencies(
            query.cast(),
            &raw mut relations,
            &raw mut items,
            &raw mut row_security,
        );
        let relations = oids(relations);
        let items = nodes(items).map(|item| &*item.cast::<pg_sys::PlanInvalItem>());
        let functions = pg_sys::SysCacheIdentifier::PROCOID as _;
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
            .all(|oid| is_builtin(oid) || bound.relations.contains(&oid))
            && items.into_iter().all(is_known)
    }
}

/// Returns whether initdb made the object.
fn is_builtin(oid: pg_sys::Oid) -> bool {
    oid.to_u32() < pg_sys::FirstNormalObjectId
}
