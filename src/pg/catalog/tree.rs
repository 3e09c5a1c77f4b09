//! Trees of queries, as catalogs keep them.

use crate::pg::charset;
use crate::pg::datum::list::nodes;
use crate::pg::error::relay_errors;
use pgrx::pg_sys;
use std::ptr;

/// Parses a query, and resolves its names. Returns its tree; of other statements than one nothing.
pub(in crate::pg) fn of_query(query: &str) -> String {
    let source = charset::c_string(query);
    // SAFETY: the server's parser, which raises errors, and the function that writes trees into catalogs.
    relay_errors(|| unsafe {
        let list = pg_sys::raw_parser(source.as_ptr(), pg_sys::RawParseMode::RAW_PARSE_DEFAULT);
        let mut statements = nodes(list);
        let (Some(raw), None) = (statements.next(), statements.next()) else {
            return String::new();
        };
        let (types, environment) = (ptr::null(), ptr::null_mut());
        let text = source.as_ptr();
        let tree = pg_sys::parse_analyze_fixedparams(raw.cast(), text, types, 0, environment);
        charset::decode_c(pg_sys::nodeToString(tree.cast()))
    })
}
