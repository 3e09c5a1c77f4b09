//! Expressions that a user wrote, for the default of a column: parsed as one expression, never as a statement, and printed
//! with exact names.

use crate::pg::catalog::access::Owned;
use crate::pg::catalog::foreign::{self, Foreign, Held, Objects};
use crate::pg::catalog::function;
use crate::pg::catalog::privilege::restricted;
use crate::pg::charset;
use crate::pg::datum::list::nodes;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{impossible, relay_errors, report};
use pgrx::{PgSqlErrorCode as Code, direct_function_call, is_a, pg_sys};
use std::ffi::CString;
use std::ptr;

/// The column that an expression is the default of.
#[derive(Debug, Clone)]
pub struct Target {
    pub name: String,
    /// No domain, whose checks the planner would run.
    pub base_type: pg_sys::Oid,
}

/// That of a type without one.
const NO_MODIFIER: i32 = -1;

/// A default, parsed.
#[derive(Debug)]
pub struct Default {
    /// As the server prints it, with the schema of each name that is not the server's own.
    pub text: String,
    /// What it is, if it is nothing but a call of a function.
    pub call: Option<Call>,
    /// What it has.
    pub objects: Objects,
}

/// A call of a function.
#[derive(Debug)]
pub struct Call {
    pub function: pg_sys::Oid,
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Debug)]
pub struct Argument {
    /// Its value as text, if it is a constant that is not null.
    pub constant: Option<String>,
    pub is_constant: bool,
    /// The relation, if it is a constant of type regclass.
    pub relation: Option<pg_sys::Oid>,
}

/// Returns the sequence of which a default is the next value, as a number of the column's type, by its tree in the catalogs;
/// none if it is anything else.
pub fn drawn(tree: &str) -> Option<pg_sys::Oid> {
    let tree = charset::c_string(tree);
    // SAFETY: a tree that the server has written. Nothing of it is run.
    let call = relay_errors(|| unsafe {
        let node = pg_sys::stringToNode(tree.as_ptr()).cast();
        let assigned = function_call(node)
            .filter(|call| call.funcformat == pg_sys::CoercionForm::COERCE_IMPLICIT_CAST);
        call(
            assigned
                .and_then(|call| nodes(call.args).next())
                .unwrap_or(node),
        )
    })?;
    match call.arguments.as_slice() {
        [argument] if call.function == pg_sys::Oid::from_u32(pg_sys::F_NEXTVAL) => {
            argument.relation
        }
        _ => None,
    }
}

/// Reads a default by its tree in the catalogs: what `known` says of the function that it calls, and the arguments. None if
/// it is anything else than one call of a known function, with nothing around it but casts of its result.
pub fn stored_call<T>(
    tree: &str,
    known: impl FnOnce(pg_sys::Oid) -> Option<T>,
) -> Option<(T, Vec<Argument>)> {
    let tree = charset::c_string(tree);
    // SAFETY: a tree that the server has written. Nothing of it is run but the output functions of the types of constants,
    // which take a superuser to create.
    relay_errors(|| unsafe {
        let mut node: *mut pg_sys::Node = pg_sys::stringToNode(tree.as_ptr()).cast();
        while let Some(inner) = below_cast(node) {
            node = inner;
        }
        let call = function_call(node)?;
        Some((known(call.funcid)?, arguments(call)))
    })
}

/// Parses a text as the default of a column: with the names of the caller, whose text it is, and nothing of it runs with more
/// rights than those of `owner`, the owner of the table. Raises the error of a text with a type of another role.
pub fn parse_default(text: &str, target: &Target, owner: Owned) -> Default {
    let source = charset::c_string(text);
    let name = charset::c_string(&target.name);
    let (raw, types) = restricted(|| {
        relay_errors(|| {
            let raw = expression_of(&source);
            // SAFETY: a tree of the raw parser.
            (raw, unsafe { foreign::named_in(raw) })
        })
    });
    foreign::refuse(&foreign::types(types), Held::ByName, owner.owner())
        .unwrap_or_else(|of| refuse_foreign(of));
    let cooked = restricted(|| {
        relay_errors(|| {
            // SAFETY: the parser's own steps for a default, which return trees in the current memory context.
            unsafe {
                let state = pg_sys::make_parsestate(ptr::null_mut());
                (*state).p_sourcetext = source.as_ptr();
                let cooked = pg_sys::cookDefault(
                    state,
                    raw,
                    target.base_type,
                    NO_MODIFIER,
                    name.as_ptr(),
                    0,
                );
                pg_sys::free_parsestate(state);
                cooked
            }
        })
    });
    // SAFETY: a tree of the parser.
    let tree = relay_errors(|| unsafe { charset::decode_c(pg_sys::nodeToString(cooked.cast())) });
    let objects = foreign::in_tree(&tree);
    foreign::refuse(&objects, Held::ByOid, owner.owner()).unwrap_or_else(|of| refuse_foreign(of));
    // What a user has written is not run to see what it is.
    let is_known =
        |&oid: &pg_sys::Oid| oid.to_u32() < pg_sys::FirstNormalObjectId || function::is_own(oid);
    let is_folded = objects.functions.iter().all(is_known);
    owner.as_owner(|| Default {
        objects,
        // SAFETY: a tree of the parser, and the function by which catalogs are read, so that the text is the one that they will
        // show; the text is a copy.
        text: relay_errors(|| unsafe {
            let tree = pg_sys::cstring_to_text(pg_sys::nodeToString(cooked.cast()));
            let arguments = [Some(tree.into()), Some(pg_sys::InvalidOid.into())];
            direct_function_call(pg_sys::pg_get_expr, &arguments)
                .map_or_else(|| impossible("default"), |DecodedText(text)| text)
        }),
        // SAFETY: trees of the planner; constants are folded in a copy.
        call: relay_errors(|| unsafe {
            let copy = pg_sys::copyObjectImpl(cooked.cast()).cast();
            call(if is_folded {
                pg_sys::eval_const_expressions(ptr::null_mut(), copy)
            } else {
                copy
            })
        }),
    })
}

/// Returns the tree of the only expression of a text. Raises an error if it is something else.
fn expression_of(source: &CString) -> *mut pg_sys::Node {
    // SAFETY: the server's parser, which raises errors and returns a list of trees.
    let select = unsafe {
        let mode = pg_sys::RawParseMode::RAW_PARSE_PLPGSQL_EXPR;
        let list = pg_sys::raw_parser(source.as_ptr(), mode);
        let statement = only(list).cast::<pg_sys::RawStmt>();
        statement
            .as_ref()
            .map(|statement| statement.stmt)
            .filter(|&node| is_a(node, pg_sys::NodeTag::T_SelectStmt))
            .and_then(|node| node.cast::<pg_sys::SelectStmt>().as_ref())
    };
    let Some(select) = select else { refuse() };
    let lists = [
        select.distinctClause, select.fromClause, select.groupClause, select.windowClause,
        select.valuesLists, select.sortClause, select.lockingClause,
    ];
    let nodes = [
        select.whereClause, select.havingClause, select.limitOffset, select.limitCount,
    ];
    let is_plain = lists.iter().all(|list| list.is_null())
        && nodes.iter().all(|node| node.is_null())
        && select.intoClause.is_null()
        && select.withClause.is_null()
        && select.op == pg_sys::SetOperation::SETOP_NONE;
    // SAFETY: the elements of a list of targets are targets.
    let target = unsafe { only(select.targetList).cast::<pg_sys::ResTarget>().as_ref() };
    match target {
        Some(target) if is_plain && target.name.is_null() && target.indirection.is_null() => {
            target.val
        }
        _ => refuse(),
    }
}

fn refuse() -> ! {
    report(
        Code::ERRCODE_SYNTAX_ERROR,
        "new default is not one expression",
    )
    .hint("Write what follows DEFAULT in CREATE TABLE, as in 'snowflake_next_id(5)'.")
    .raise()
}

fn refuse_foreign(of: Foreign) -> ! {
    report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        of.message("new default"),
    )
    .detail(of.detail())
    .hint("Write the default without the type.")
    .raise()
}

/// Returns the only element of a list; null of another list.
///
/// # Safety
/// A list of nodes, or null.
unsafe fn only(list: *mut pg_sys::List) -> *mut pg_sys::Node {
    // SAFETY: as the caller says.
    let mut all = unsafe { nodes(list) };
    let first = all.next().filter(|_| all.next().is_none());
    first.unwrap_or(ptr::null_mut())
}

/// Returns the call that a tree is, below conversions that change no bytes.
///
/// # Safety
/// A tree of the planner.
unsafe fn call(mut node: *mut pg_sys::Node) -> Option<Call> {
    // SAFETY: as the caller says.
    unsafe {
        while let Some(inner) = below_relabel(node) {
            node = inner;
        }
        function_call(node).map(|call| Call {
            function: call.funcid,
            arguments: arguments(call),
        })
    }
}

/// # Safety
/// A tree of the planner, or null.
unsafe fn function_call<'a>(node: *mut pg_sys::Node) -> Option<&'a pg_sys::FuncExpr> {
    // SAFETY: as the caller says; a node has the type that its tag says.
    unsafe {
        let is_call = !node.is_null() && is_a(node, pg_sys::NodeTag::T_FuncExpr);
        is_call.then(|| &*node.cast::<pg_sys::FuncExpr>())
    }
}

/// Returns the arguments of a call in their order, whatever that of their names is.
///
/// # Safety
/// A call in a tree of the planner.
unsafe fn arguments(call: &pg_sys::FuncExpr) -> Vec<Argument> {
    // SAFETY: as the caller says; no argument is null, and a node has the type that its tag says.
    unsafe {
        let placed = |(place, node): (usize, *mut pg_sys::Node)| {
            if is_a(node, pg_sys::NodeTag::T_NamedArgExpr) {
                let named = &*node.cast::<pg_sys::NamedArgExpr>();
                (named.argnumber as usize, argument(named.arg.cast()))
            } else {
                (place, argument(node))
            }
        };
        let all = nodes(call.args).enumerate();
        let mut all: Vec<(usize, Argument)> = all.map(placed).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, argument)| argument).collect()
    }
}

/// Returns what is below a conversion that changes no bytes; none if the node is something else.
///
/// # Safety
/// A tree of the planner, or null.
unsafe fn below_relabel(node: *mut pg_sys::Node) -> Option<*mut pg_sys::Node> {
    // SAFETY: as the caller says; a node has the type that its tag says.
    unsafe {
        if node.is_null() {
            None
        } else if is_a(node, pg_sys::NodeTag::T_RelabelType) {
            Some((*node.cast::<pg_sys::RelabelType>()).arg.cast())
        } else if is_a(node, pg_sys::NodeTag::T_CoerceToDomain) {
            Some((*node.cast::<pg_sys::CoerceToDomain>()).arg.cast())
        } else {
            None
        }
    }
}

/// Does as [`below_relabel`], for any cast.
///
/// # Safety
/// A tree of the planner, or null.
unsafe fn below_cast(node: *mut pg_sys::Node) -> Option<*mut pg_sys::Node> {
    // SAFETY: as the caller says; a node has the type that its tag says.
    unsafe {
        if let Some(call) = function_call(node) {
            let is_cast = [
                pg_sys::CoercionForm::COERCE_EXPLICIT_CAST,
                pg_sys::CoercionForm::COERCE_IMPLICIT_CAST,
            ]
            .contains(&call.funcformat);
            return nodes(call.args).next().filter(|_| is_cast);
        }
        if !node.is_null() && is_a(node, pg_sys::NodeTag::T_CoerceViaIO) {
            return Some((*node.cast::<pg_sys::CoerceViaIO>()).arg.cast());
        }
        below_relabel(node)
    }
}

/// # Safety
/// A tree of the planner, not null.
unsafe fn argument(node: *mut pg_sys::Node) -> Argument {
    // SAFETY: as the caller says; a constant that is not null is printed by the output function of its type.
    unsafe {
        let type_oid = pg_sys::exprType(node);
        let is_constant = is_a(node, pg_sys::NodeTag::T_Const);
        let value = is_constant.then(|| &*node.cast::<pg_sys::Const>());
        Argument {
            constant: value.filter(|value| !value.constisnull).map(|value| {
                let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
                pg_sys::getTypeOutputInfo(type_oid, &raw mut output, &raw mut is_varlena);
                charset::decode_c(pg_sys::OidOutputFunctionCall(output, value.constvalue))
            }),
            is_constant,
            relation: value
                .filter(|value| type_oid == pg_sys::REGCLASSOID && !value.constisnull)
                .map(|value| pg_sys::Oid::from_u32(value.constvalue.value() as u32)),
        }
    }
}
