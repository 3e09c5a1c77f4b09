//! What the texts that are created again call: a text that the server has printed can mean other functions and operators when it
//! is read again, with another type of a column or without the search path of before.

use crate::adopt::convert::online::closure::Closure;
use crate::pg::catalog::sql;
use mint_core::adopt::rename::unquoted;
use std::collections::BTreeMap;

pub const QUERY: &str = include_str!("../../../../sql/adopt/convert_meanings.sql");

/// Functions and operators by the name of what calls them.
pub type Meanings = BTreeMap<String, Vec<String>>;

/// Reads what texts call: those of the catalogs, and others by their names and trees.
pub fn read(closure: &Closure, others: &[(String, String)]) -> Meanings {
    let (names, trees): (Vec<&str>, Vec<&str>) = others
        .iter()
        .map(|(name, tree)| (name.as_str(), tree.as_str()))
        .unzip();
    let arguments = [relations(closure).into(), names.into(), trees.into()];
    sql::read_now(QUERY, &arguments).unwrap_or_default()
}

/// Returns the quoted names of all tables and views that have such texts.
pub fn relations(closure: &Closure) -> Vec<String> {
    let tables = closure.changed().map(|member| member.quoted_table());
    let views = closure.recreated.iter().filter_map(|one| {
        let (schema, name) = one.view.as_ref()?;
        Some(format!("{schema}.{name}"))
    });
    let mut found: Vec<String> = tables.chain(views).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the name that a constraint of a table has there.
pub fn constraint(table: &str, name: &str) -> String {
    format!("constraint \"{name}\" of table {table}")
}

/// Returns the name that an index of a table has there.
pub fn index(table: &str, name: &str) -> String {
    format!("index \"{name}\" of table {table}")
}

/// Returns whether a text has a cast of an integer to bigint that somebody has written.
pub fn has_casts(all: &Meanings, name: &str) -> bool {
    all.contains_key(&format!("casts of {name}"))
}

/// Returns how many casts to bigint a text that the server has printed loses when it is parsed, by its tree: those of what is a
/// bigint then. Casts that the server adds are not in the text.
pub fn lost_casts(text: &str, tree: &str) -> usize {
    /// What follows the types of casts that are written, and of functions int8() of integers.
    const WRITTEN: [&str; 6] = [
        ":funcresulttype 20 :funcretset false :funcvariadic false :funcformat 1 ",
        ":funcid 481 :funcresulttype 20 :funcretset false :funcvariadic false :funcformat 0 ",
        ":funcid 754 :funcresulttype 20 :funcretset false :funcvariadic false :funcformat 0 ",
        ":resulttype 20 :resultcollid 0 :coerceformat 1 ",
        ":resulttype 1016 :resultcollid 0 :coerceformat 1 ",
        ":resulttype 20 :resulttypmod -1 :resultcollid 0 :relabelformat 1 ",
    ];
    let is_of_name = |of: char| of.is_alphanumeric() || "_$\".".contains(of);
    let text = unquoted(text);
    // One to an array has one of its elements in the tree.
    let casts = text.matches(")::bigint");
    let calls = text.match_indices("int8(");
    let calls = calls.filter(|&(at, _)| !text[..at].ends_with(is_of_name));
    let printed = casts.count() + calls.count();
    let parsed = WRITTEN.iter().map(|one| tree.matches(one).count());
    printed.saturating_sub(parsed.sum())
}

/// Returns whether it is a constant, whose value does not depend on the types of columns.
pub fn is_constant(call: &str) -> bool {
    call.starts_with("constant ")
}

/// Returns whether something that is called is not of the server itself: it has no name here.
pub fn is_other(call: &str) -> bool {
    !call.ends_with(')')
}

/// Returns whether a text that has this call calls the same with a bigint in place of an integer: it takes none, or is an operator
/// that all types of integers have.
pub fn is_plain(call: &str) -> bool {
    const ALIKE: [&str; 11] = ["=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%"];
    let is_alike = ALIKE
        .iter()
        .any(|name| call == format!("operator {name} (bigint,bigint)"));
    let takes = |kind: &str| call.contains(kind);
    is_alike || !is_other(call) && !has_own_type(call) && !takes("bigint") && !takes("any")
}

/// Returns whether a call has the type of an integer, as its value depends on that.
pub fn has_own_type(call: &str) -> bool {
    call.contains("integer") || call.contains("smallint")
}
