//! Objects of other roles in what is parsed, planned or evaluated as a role: what their owners add to them would run with the
//! privileges of that role.
//!
//! The parser runs the checks of a constant of an array, a composite or a range, and the planner loads and folds those of each
//! domain that it sees a cast to. So a text is looked at before it is analyzed, and its tree before it is planned.

use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::charset;
use crate::pg::datum::list::nodes;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{relay_errors, report};
#[cfg(feature = "pg15")]
use crate::pg::ports;
use pgrx::{PgSqlErrorCode as Code, is_a, pg_guard, pg_sys};
use serde::Deserialize;
use std::ffi::c_void;
use std::ptr;

/// Objects that something is made of, by oid.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    pub types: Vec<pg_sys::Oid>,
    pub functions: Vec<pg_sys::Oid>,
    pub operators: Vec<pg_sys::Oid>,
    pub relations: Vec<pg_sys::Oid>,
}

impl Objects {
    /// Returns whether these call the same.
    pub fn call_as(&self, others: &Self) -> bool {
        (&self.functions, &self.operators) == (&others.functions, &others.operators)
    }
}

/// How something has objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// In a text that will be parsed: another object can take the name of one.
    ByName,
    /// In a tree.
    ByOid,
}

/// An object to which another role can add what would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Foreign {
    /// The oid of its catalog.
    class: u32,
    pub oid: u32,
    /// The other role.
    role: u32,
}

impl Foreign {
    /// Returns whether it is a relation, in the schema of the role.
    pub fn is_relation(&self) -> bool {
        pg_sys::Oid::from(self.class) == pg_sys::RelationRelationId
    }

    /// Returns what to do about it, where that is known; `otherwise` is about other objects.
    pub fn hint(&self, otherwise: &str) -> String {
        if !self.is_relation() {
            return otherwise.to_owned();
        }
        let oid = self.oid.into();
        let owner = relation::owner(oid).unwrap_or(pg_sys::InvalidOid);
        let schema = relation::schema_name(relation::schema(oid));
        remedy(&schema, self.role.into(), owner)
    }

    /// Returns the message that something has it.
    pub fn message(&self, what: &str) -> String {
        let named = |query| {
            let name = sql::ask_with::<DecodedText>(query, &[pg_sys::Oid::from(self.oid).into()]);
            name.map_or_else(String::new, |name| name.0)
        };
        match self.class.into() {
            pg_sys::ProcedureRelationId => {
                let name = named("SELECT $1::oid::regprocedure::text");
                format!("{what} calls function {name}")
            }
            pg_sys::OperatorRelationId => {
                let name = named("SELECT $1::oid::regoperator::text");
                format!("{what} calls operator {name}")
            }
            pg_sys::RelationRelationId => format!("{what} is in a schema of another role"),
            _ => {
                let name = relation::name_of_type(self.oid.into());
                format!("{what} has values of type {name}")
            }
        }
    }

    /// Returns the DETAIL of that.
    pub fn detail(&self) -> String {
        let role = privilege::name_of(self.role.into());
        if self.is_relation() {
            return format!(
                "Role \"{role}\", which owns the schema, can put another relation in its place, and what it has written for that would run with the privileges of the table's owner."
            );
        }
        format!(
            "Role \"{role}\", which owns it, a part of it or its schema, can change what it does, and that would run with the privileges of the table's owner."
        )
    }
}

/// Returns what to do about a schema of a role without the privileges of the owner of what is in it.
pub fn remedy(schema: &str, role: pg_sys::Oid, owner: pg_sys::Oid) -> String {
    let quoted = |role| sql::quoted_exactly(&privilege::name_of(role));
    let (schema, role_name, owner_name) =
        (sql::quoted_exactly(schema), quoted(role), quoted(owner));
    let is_member = || {
        let query = "SELECT pg_has_role($1::oid, $2::oid, 'MEMBER')";
        sql::ask_with(query, &[owner.into(), role.into()]) == Some(true)
    };
    let first = if privilege::is_superuser_role(owner) {
        "ALTER TABLE ... SET SCHEMA".to_owned()
    } else if is_member() {
        // A grant would be circular.
        format!("ALTER TABLE ... OWNER TO {role_name}")
    } else {
        format!("GRANT {owner_name} TO {role_name}")
    };
    format!("Use {first}, or ALTER SCHEMA {schema} OWNER TO {owner_name}.")
}

/// Returns what is said of relations.
pub fn relations(relations: &[pg_sys::Oid]) -> Objects {
    Objects {
        relations: relations.to_vec(),
        ..Objects::default()
    }
}

/// Returns the objects among these that are of a role without the privileges of `role`.
pub fn among(objects: &Objects, held: Held, role: pg_sys::Oid) -> Vec<Foreign> {
    let of_users = |oids: &Vec<pg_sys::Oid>| {
        let of_users = |oid: &&pg_sys::Oid| oid.to_u32() >= pg_sys::FirstNormalObjectId;
        let mut oids: Vec<pg_sys::Oid> = oids.iter().filter(of_users).copied().collect();
        oids.sort_by_key(|oid| oid.to_u32());
        oids.dedup();
        oids
    };
    let all = [
        &objects.types, &objects.functions, &objects.operators, &objects.relations,
    ];
    let all = all.map(of_users);
    if all.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let [types, functions, operators, relations] = all;
    let query = include_str!("../../../sql/catalog/foreign.sql");
    let arguments = [
        types.into(),
        functions.into(),
        operators.into(),
        role.into(),
        (held == Held::ByName).into(),
        relations.into(),
    ];
    let found: Option<Vec<Foreign>> = sql::read_now(query, &arguments);
    found.unwrap_or_default()
}

/// Checks that there is none.
///
/// # Errors
/// The first one.
pub fn refuse(objects: &Objects, held: Held, role: pg_sys::Oid) -> Result<(), Foreign> {
    let found = among(objects, held, role);
    found.first().map_or(Ok(()), |&one| Err(one))
}

/// Raises an error unless the name of a table stays its name while statements are parsed: no lock keeps that of its schema. No
/// statement on a sequence runs what a role has written.
pub fn refuse_moved(table: pg_sys::Oid, owner: pg_sys::Oid) {
    if relation::kind(table) == Some(pg_sys::RELKIND_SEQUENCE) {
        return;
    }
    if let Err(of) = refuse(&relations(&[table]), Held::ByName, owner) {
        raise(&format!("table {}", sql::name_of(table)), of);
    }
}

/// Raises the error of what has an object of another role.
#[cold]
#[track_caller]
pub fn raise(what: &str, of: Foreign) -> ! {
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, of.message(what))
        .detail(of.detail())
        .hint(of.hint("Give it and its parts to the owner of the table."))
        .raise()
}

/// Returns types that a text names.
pub fn types(types: Vec<pg_sys::Oid>) -> Objects {
    Objects {
        types,
        ..Objects::default()
    }
}

/// Returns the objects of a tree that the parser has made of a text.
pub fn in_tree(tree: &str) -> Objects {
    let mut objects = Objects::default();
    let mut field = "";
    for token in tree.split([' ', '(', ')', '{', '}']) {
        if let Some(name) = token.strip_prefix(':') {
            field = name;
        } else if let Ok(oid) = token.parse::<u32>() {
            // As in consttype, row_typeid and funccoltypes; opno and opnos; funcid, opfuncid and aggfnoid.
            let kind = if field.contains("typ") {
                &mut objects.types
            } else if field.starts_with("opno") {
                &mut objects.operators
            } else if field.contains("func") || field.ends_with("fnoid") {
                &mut objects.functions
            } else {
                continue;
            };
            kind.push(oid.into());
        }
    }
    objects
}

/// Returns the types that the statements of a text name, but for those of NULL, which nothing reads. Nothing is analyzed. Raises
/// the error of a type that does not exist.
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
    let mut names = Vec::new();
    // SAFETY: as the caller says. The names are parts of the tree; a lookup returns 0 for what can be missing.
    unsafe {
        collect(tree, (&raw mut names).cast());
        let all = names.into_iter();
        all.map(|TypeName(name, can_miss)| {
            pg_sys::LookupTypeNameOid(ptr::null_mut(), name, can_miss)
        })
        .filter(|&oid| oid != pg_sys::InvalidOid)
        .collect()
    }
}

/// The name of a type, and whether it can be missing.
struct TypeName(*mut pg_sys::TypeName, bool);

/// Collects names of types, and those of functions with one argument: what looks like a call can be a cast.
#[pg_guard]
unsafe extern "C-unwind" fn collect(node: *mut pg_sys::Node, names: *mut c_void) -> bool {
    // SAFETY: a node has the type that its tag says; the second argument is that of `named_in`.
    unsafe {
        if node.is_null() {
            return false;
        }
        if is_a(node, pg_sys::NodeTag::T_TypeName) {
            (*names.cast::<Vec<TypeName>>()).push(TypeName(node.cast(), false));
            return false;
        }
        if is_a(node, pg_sys::NodeTag::T_FuncCall) {
            let call = &*node.cast::<pg_sys::FuncCall>();
            if nodes(call.args).count() == 1 {
                let name = pg_sys::makeTypeNameFromNameList(call.funcname);
                (*names.cast::<Vec<TypeName>>()).push(TypeName(name, true));
            }
        }
        // The server's walk leaves out the type of a column of XMLTABLE.
        if is_a(node, pg_sys::NodeTag::T_RangeTableFuncCol) {
            let type_name = (*node.cast::<pg_sys::RangeTableFuncCol>()).typeName;
            if !type_name.is_null() {
                (*names.cast::<Vec<TypeName>>()).push(TypeName(type_name, false));
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
