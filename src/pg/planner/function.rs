//! The functions of an id's time.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::backend::local::Local;
use crate::pg::planner::bounds::Bounds;
use pgrx::pg_sys;
use std::ffi::CStr;

/// A strict, immutable function of an id, and of other arguments that say how to read it, which returns a timestamptz
/// in whose order the ids are.
pub struct TimeFunction {
    /// Functions of a timestamp and of those other arguments, in the schema of this one: the smallest id at or after
    /// it, the smallest after it, the largest at or before it, the largest before it; NULL where there is no such id.
    pub bounds: [&'static CStr; 4],
    /// Whether ids are in the order of their time, by the bytes of the other arguments, which are constants.
    pub is_ordered: fn(&[&[u8]]) -> bool,
    /// Whether it raises an error for some ids: those below the first or above the last of its times.
    pub is_partial: bool,
    /// The order holds only among ids of which that function of the extension, of an id alone, has that value.
    pub only_where: Option<(&'static CStr, i32)>,
    /// This function and its support function, once that was called.
    known: Local<(pg_sys::Oid, pg_sys::Oid)>,
    /// The functions of the bounds, once they were looked up.
    pub(super) found: Local<Option<Bounds>>,
}

static KNOWN: Callbacks<&'static TimeFunction> = Callbacks::new();

impl TimeFunction {
    pub const fn new(
        bounds: [&'static CStr; 4],
        is_ordered: fn(&[&[u8]]) -> bool,
        is_partial: bool,
        only_where: Option<(&'static CStr, i32)>,
    ) -> Self {
        Self {
            bounds,
            is_ordered,
            is_partial,
            only_where,
            known: Local::new((pg_sys::InvalidOid, pg_sys::InvalidOid)),
            found: Local::new(None),
        }
    }

    /// Notes the oids that a support function was called with.
    pub(super) fn note(&'static self, function: pg_sys::Oid, support: pg_sys::Oid) {
        if self.known.replace((function, support)).0 == pg_sys::InvalidOid {
            KNOWN.add(self);
        }
    }

    /// Returns which of the functions has this oid.
    pub(super) fn of(function: pg_sys::Oid) -> Option<&'static Self> {
        KNOWN.all().find(|known| known.known.get().0 == function)
    }

    /// Returns the oid of this function, unless it has meanwhile become another one.
    pub(super) fn oid(&self) -> Option<pg_sys::Oid> {
        let (function, support) = self.known.get();
        // SAFETY: a lookup in the catalogs, inside a transaction.
        let current = unsafe { pg_sys::get_func_support(function) };
        (current == support).then_some(function)
    }
}
