//! Types of other roles in what is parsed, planned or evaluated as a role: their owners can add checks, which would run with
//! the privileges of that role.
//!
//! The parser runs those of a constant of an array, a composite or a range, and the planner loads and folds those of each domain
//! that it sees a cast to. So a text is looked at before it is analyzed, and its tree before it is planned.

use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::charset;
use crate::pg::datum::list::nodes;
use crate::pg::error::relay_errors;
#[cfg(feature = "pg15")]
use crate::pg::ports;
use pgrx::{is_a, pg_guard, pg_sys};
use serde::Deserialize;
use std::ffi::c_void;
use std::ptr;

/// A type of another role, or with a part that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ForeignType {
    #[serde(rename = "type")]
    pub oid: u32,
    /// The other role.
    pub owner: u32,
}

impl ForeignType {
    /// Returns the message that something has values of it.
    pub fn message(&self, what: &str) -> String {
        let type_name = relation::name_of_type(self.oid.into());
        format!("{what} has values of type {type_name}")
    }

    /// Returns the DETAIL of that.
    pub fn detail(&self) -> String {
        let role = privilege::name_of(self.owner.into());
        format!(
            "Role \"{role}\", which owns the type or a part of it, can add checks, and these would run with the privileges of the table's owner."
        )
    }
}

/// Returns the types among these, and among those that functions take and return, which are of a role without the privileges
/// of `role`.
pub fn among(
    types: &[pg_sys::Oid],
    functions: &[pg_sys::Oid],
    role: pg_sys::Oid,
) -> Vec<ForeignType> {
    let of_users = |oid: &&pg_sys::Oid| oid.to_u32() >= pg_sys::FirstNormalObjectId;
    let [types, functions] = [types, functions].map(|oids| {
        let mut oids: Vec<pg_sys::Oid> = oids.iter().filter(of_users).copied().collect();
        oids.sort_by_key(|oid| oid.to_u32());
        oids.dedup();
        oids
    });
    if types.is_empty() && functions.is_empty() {
        return Vec::new();
    }
    let query = include_str!("../../../sql/catalog/foreign_types.sql");
    let arguments = [types.into(), functions.into(), role.into()];
    let found: Option<Vec<ForeignType>> = sql::read_now(query, &arguments);
    found.unwrap_or_default()
}

/// Checks that there is none.
///
/// # Errors
/// The first one.
pub fn refuse(
    types: &[pg_sys::Oid],
    functions: &[pg_sys::Oid],
    role: pg_sys::Oid,
) -> Result<(), ForeignType> {
    among(types, functions, role)
        .first()
        .map_or(Ok(()), |&one| Err(one))
}

/// Checks the types and the functions of a tree that the parser has made of a text, before it is planned.
///
/// # Errors
/// The first type of another role.
pub fn refuse_in_tree(tree: &str, role: pg_sys::Oid) -> Result<(), ForeignType> {
    let (mut types, mut functions) = (Vec::new(), Vec::new());
    let mut field = "";
    for token in tree.split([' ', '(', ')', '{', '}']) {
        if let Some(name) = token.strip_prefix(':') {
            field = name;
        } else if let Ok(oid) = token.parse::<u32>() {
            // As in consttype, row_typeid and funccoltypes; funcid, opfuncid and aggfnoid.
            if field.contains("typ") {
                types.push(oid.into());
            } else if field.contains("func") || field.ends_with("fnoid") {
                functions.push(oid.into());
            }
        }
    }
    refuse(&types, &functions, role)
}

/// Returns the types that the statements of a text name, but for those of NULL, which nothing reads. Nothing is analyzed.
pub fn named(text: &str) -> Vec<pg_sys::Oid> {
    let source = charset::c_string(text);
    relay_errors(|| {
        // SAFETY: the server's parser, which returns a list of statements.
        unsafe {
            let mode = pg_sys::RawParseMode::RAW_PARSE_DEFAULT;
            let statements = nodes(pg_sys::raw_parser(source.as_ptr(), mode));
            let all = statements.map(|one| named_in((*one.cast::<pg_sys::RawStmt>()).stmt));
            all.flatten().collect()
        }
    })
}

/// Does the same, of a tree of the raw parser.
///
/// # Safety
/// It is such a tree, or null.
pub unsafe fn named_in(tree: *mut pg_sys::Node) -> Vec<pg_sys::Oid> {
    let mut names: Vec<*mut pg_sys::TypeName> = Vec::new();
    // SAFETY: as the caller says. The names are parts of the tree; a lookup returns 0 for what is missing.
    unsafe {
        collect(tree, (&raw mut names).cast());
        let all = names.into_iter();
        all.map(|name| pg_sys::LookupTypeNameOid(ptr::null_mut(), name, true))
            .filter(|&oid| oid != pg_sys::InvalidOid)
            .collect()
    }
}

/// Collects names of types.
#[pg_guard]
unsafe extern "C-unwind" fn collect(node: *mut pg_sys::Node, names: *mut c_void) -> bool {
    // SAFETY: a node has the type that its tag says; the second argument is that of `named_in`.
    unsafe {
        if node.is_null() {
            return false;
        }
        if is_a(node, pg_sys::NodeTag::T_TypeName) {
            (*names.cast::<Vec<*mut pg_sys::TypeName>>()).push(node.cast());
            return false;
        }
        // The server's walk leaves out the type of a column of XMLTABLE.
        if is_a(node, pg_sys::NodeTag::T_RangeTableFuncCol) {
            let type_name = (*node.cast::<pg_sys::RangeTableFuncCol>()).typeName;
            if !type_name.is_null() {
                (*names.cast::<Vec<*mut pg_sys::TypeName>>()).push(type_name);
            }
        }
        if is_a(node, pg_sys::NodeTag::T_TypeCast) {
            let value = (*node.cast::<pg_sys::TypeCast>()).arg;
            let is_constant = !value.is_null() && is_a(value, pg_sys::NodeTag::T_A_Const);
            if is_constant && (*value.cast::<pg_sys::A_Const>()).isnull {
                return false;
            }
        }
        #[cfg(feature = "pg15")]
        return pg_sys::ffi::pg_guard_ffi_boundary(|| {
            ports::raw_expression_tree_walker(node, Some(collect), names)
        });
        #[cfg(not(feature = "pg15"))]
        pg_sys::raw_expression_tree_walker_impl(node, Some(collect), names)
    }
}
