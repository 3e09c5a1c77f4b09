//! The functions whose calls are bounds of an id.

use crate::pg::catalog::function;
use crate::pg::planner::function::TimeFunction;
use pgrx::pg_sys;
use std::ffi::CStr;

/// Oids of functions of the extension.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// The function of a time that they are for.
    time: pg_sys::Oid,
    /// As of [`TimeFunction::bounds`].
    functions: [pg_sys::Oid; 4],
    /// Conversions of a date and of a timestamp without time zone, without an error where they are out of range.
    of_date: pg_sys::Oid,
    of_timestamp: pg_sys::Oid,
    /// That of [`TimeFunction::only_where`].
    pub only_where: pg_sys::Oid,
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
    /// Looks the functions up, once for an oid of the function of a time. None if one of them is not there.
    pub fn of(time: &TimeFunction) -> Option<Self> {
        let oid = time.oid()?;
        let known = time.found.get().filter(|known| known.time == oid);
        let bounds = match known {
            Some(known) => known,
            None => {
                let bounds = Self::find(time, oid)?;
                time.found.set(Some(bounds));
                bounds
            }
        };
        Some(bounds)
    }

    /// Functions of the same extension alone count, whatever else has their names.
    #[cold]
    fn find(time: &TimeFunction, oid: pg_sys::Oid) -> Option<Self> {
        let (schema, extension) = (function::schema(oid), function::extension(oid)?);
        let own = |schema, name: &CStr, arguments: &[pg_sys::Oid]| {
            function::find(schema, name, arguments)
                .filter(|found| function::extension(*found) == Some(extension))
        };
        let given = function::arguments(oid);
        let (id, others) = given.split_first()?;
        let mut arguments = vec![pg_sys::TIMESTAMPTZOID];
        arguments.extend_from_slice(others);
        let internal = crate::pg::catalog::extension::namespace()?;
        let converted = |of| own(internal, c"timestamptz_of", &[of]);
        let mut functions = [pg_sys::InvalidOid; 4];
        for (found, name) in functions.iter_mut().zip(time.bounds) {
            *found = own(schema, name, &arguments)?;
        }
        Some(Self {
            time: oid,
            functions,
            of_date: converted(pg_sys::DATEOID)?,
            of_timestamp: converted(pg_sys::TIMESTAMPOID)?,
            only_where: match time.only_where {
                Some((name, _)) => own(schema, name, &[*id])?,
                None => pg_sys::InvalidOid,
            },
        })
    }

    /// Returns the function of a bound.
    pub const fn function(&self, bound: Bound) -> pg_sys::Oid {
        self.functions[bound as usize]
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
