//! The settings under which the server prints texts that are read again, and reads them: a constant has the same value then,
//! whatever a session, a role or a database has set.

use crate::pg::backend::guc;
use crate::pg::catalog::privilege::SEARCH_PATH;
use std::ffi::CStr;

/// All that the output and the input of a type of the server consult, and the parser: pg_dump sets most of them as well.
const SETTINGS: [(&CStr, &CStr); 11] = [
    (c"standard_conforming_strings", c"on"),
    (c"quote_all_identifiers", c"off"),
    (c"transform_null_equals", c"off"),
    (c"extra_float_digits", c"3"),
    (c"DateStyle", c"ISO, MDY"),
    (c"IntervalStyle", c"postgres"),
    (c"TimeZone", c"UTC"),
    (c"array_nulls", c"on"),
    (c"bytea_output", c"hex"),
    (c"lc_monetary", c"C"),
    (c"xmloption", c"content"),
];

/// Runs `work`, which prints texts or reads them.
pub fn fixed<T>(work: impl FnOnce() -> T) -> T {
    guc::with(&SETTINGS, work)
}

/// Returns the settings of a script and their values, as rows of VALUES.
pub fn rows() -> String {
    // Queries of the catalogs run under locks, and to compile one takes seconds.
    let of_queries = [(c"search_path", SEARCH_PATH), (c"jit", c"off")];
    let all = of_queries.into_iter().chain(SETTINGS);
    let rows = all.map(|(name, value)| {
        let [name, value] = [name, value].map(CStr::to_string_lossy);
        format!("('{name}', '{value}')")
    });
    rows.collect::<Vec<_>>().join(", ")
}
