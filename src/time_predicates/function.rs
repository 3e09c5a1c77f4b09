//! The functions of an id's time, and those whose calls are bounds of an id.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::backend::local::Local;
use crate::pg::catalog::{extension, function};
use pgrx::pg_sys;
use std::ffi::CStr;

/// A strict, immutable function of an id, and of other arguments that determine how to read it. It returns a
/// timestamptz, by which the ids are in order.
pub struct TimeFunction {
    /// Functions of a timestamp and of those other arguments: the smallest id at or after it, the smallest after it, the
    /// largest at or before it, the largest before it; NULL where there is no such id. The first and third are in the
    /// schema of this one, the others in `mint`.
    pub bounds: [&'static CStr; 4],
    /// Returns whether ids are in the order of their time, by the bytes of the other arguments, which are constants.
    pub is_ordered: fn(&[&[u8]]) -> bool,
    /// True if it raises an error for some ids: those below the first or above the last of its times.
    pub is_partial: bool,
    /// True if the ids between the bounds of a time are exactly those that have this time, so that bounds can replace a
    /// condition.
    pub is_exact: bool,
    /// True if the order holds only among UUIDs of version 7.
    pub is_of_version_7: bool,
    /// This function and its support function, once that was called.
    pub known: Local<(pg_sys::Oid, pg_sys::Oid)>,
    /// The functions of the bounds, once they were looked up.
    pub found: Local<Option<Bounds>>,
}

static KNOWN: Callbacks<&'static TimeFunction> = Callbacks::new();

impl TimeFunction {
    /// Makes a function that raises no error, and whose bounds cannot replace a condition.
    pub const fn new(bounds: [&'static CStr; 4]) -> Self {
        Self {
            bounds,
            is_ordered: |_| true,
            is_partial: false,
            is_exact: false,
            is_of_version_7: false,
            known: Local::new((pg_sys::InvalidOid, pg_sys::InvalidOid)),
            found: Local::new(None),
        }
    }

    /// Notes the oids that a support function was called with.
    pub fn note(&'static self, function: pg_sys::Oid, support: pg_sys::Oid) {
        if self.known.replace((function, support)).0 == pg_sys::InvalidOid {
            KNOWN.add(self);
        }
    }

    /// Returns which of the functions has this oid.
    pub fn of(function: pg_sys::Oid) -> Option<&'static Self> {
        KNOWN.all().find(|known| known.known.get().0 == function)
    }

    /// Returns the oid of this function, unless it has meanwhile become another one.
    pub fn oid(&self) -> Option<pg_sys::Oid> {
        let (function, support) = self.known.get();
        // SAFETY: a lookup in the catalogs, inside a transaction.
        let current = unsafe { pg_sys::get_func_support(function) };
        (current == support).then_some(function)
    }
}

/// Oids of functions of the extension.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// The function of a time to which they belong.
    pub time: pg_sys::Oid,
    /// The functions of [`TimeFunction::bounds`].
    pub functions: [pg_sys::Oid; 4],
    /// Conversions of a date and of a timestamp without time zone, without an error if they are out of range.
    of_date: pg_sys::Oid,
    of_timestamp: pg_sys::Oid,
    /// The functions of the version of a UUID: the extension's, and the server's own, which is invalid if it has none.
    pub versions: [pg_sys::Oid; 2],
}

/// One of the four bounds.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    AtOrAfter,
    After,
    AtOrBefore,
    Before,
}

impl Bounds {
    /// Looks the functions up, once for each oid of the function of a time. Returns none if one of them is missing.
    pub fn of(time: &TimeFunction) -> Option<Self> {
        let oid = time.oid()?;
        let known = time.found.get().filter(|known| known.time == oid);
        let bounds = known.or_else(|| Self::find(time, oid))?;
        time.found.set(Some(bounds));
        Some(bounds)
    }

    /// Finds the functions of the bounds. Only those of this library count, not others of the same names.
    #[cold]
    fn find(time: &TimeFunction, oid: pg_sys::Oid) -> Option<Self> {
        let schema = function::schema(oid);
        let own = |schema, name: &CStr, arguments: &[pg_sys::Oid]| {
            function::find(schema, name, arguments).filter(|&found| function::is_own(found))
        };
        let given = function::arguments(oid);
        let others = given.get(1..)?;
        let mut arguments = vec![pg_sys::TIMESTAMPTZOID];
        arguments.extend_from_slice(others);
        let internal = extension::namespace()?;
        let converted = |of| own(internal, c"timestamptz_of", &[of]);
        let mut functions = [pg_sys::InvalidOid; 4];
        let schemas = [schema, internal, schema, internal];
        for (found, (schema, name)) in functions
            .iter_mut()
            .zip(schemas.into_iter().zip(time.bounds))
        {
            *found = own(schema, name, &arguments)?;
        }
        Some(Self {
            time: oid,
            functions,
            of_date: converted(pg_sys::DATEOID)?,
            of_timestamp: converted(pg_sys::TIMESTAMPOID)?,
            versions: [
                own(schema, c"uuid_version_of", &[pg_sys::UUIDOID])?,
                function::UUID_EXTRACT_VERSION,
            ],
        })
    }

    /// Returns the function that converts a type to timestamptz, or that none is needed; none for other types.
    pub fn conversion(&self, from: pg_sys::Oid) -> Option<Option<pg_sys::Oid>> {
        match from {
            pg_sys::TIMESTAMPTZOID => Some(None),
            pg_sys::DATEOID => Some(Some(self.of_date)),
            pg_sys::TIMESTAMPOID => Some(Some(self.of_timestamp)),
            _ => None,
        }
    }
}
