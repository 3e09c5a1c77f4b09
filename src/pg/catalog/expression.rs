//! Expressions that a user wrote, for the default of a column: parsed as one expression, never as a statement, and printed
//! with exact names.

use crate::pg::catalog::access::Owned;
use crate::pg::catalog::privilege::restricted;
use crate::pg::catalog::sql;
use crate::pg::charset;
use crate::pg::datum::list::nodes;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{relay_errors, report};
use pgrx::{PgSqlErrorCode as Code, is_a, pg_sys};
use std::ffi::CString;
use std::ptr;

/// The column that an expression is the default of.
#[derive(Debug, Clone)]
pub struct Target {
    pub name: String,
    pub type_oid: pg_sys::Oid,
    pub type_modifier: i32,
}

/// A default, parsed.
#[derive(Debug)]
pub struct Default {
    /// As the server prints it, with the schema of each name that is not the server's own.
    pub text: String,
    /// What it is, if it is nothing but a call of a function.
    pub call: Option<Call>,
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
    /// The name of its type, with the schema.
    pub type_name: String,
    /// Its value as text, if it is a constant that is not null.
    pub constant: Option<String>,
    pub is_constant: bool,
    /// The relation, if it is a constant of type regclass.
    pub relation: Option<pg_sys::Oid>,
}

/// Returns the sequence of which a column's default is the next value; none if it is anything else.
pub fn drawn(table: pg_sys::Oid, column: i16) -> Option<pg_sys::Oid> {
    let query = "SELECT d.adbin::text FROM pg_attrdef AS d
        WHERE d.adrelid = $1::oid AND d.adnum = $2::int2
            AND octet_length(d.adbin::text) <= 8192";
    let tree: DecodedText = sql::ask_with(query, &[table.into(), column.into()])?;
    let tree = charset::c_string(&tree.0);
    // SAFETY: a tree that the server has written. Nothing of it is run.
    let call = relay_errors(|| unsafe { call(pg_sys::stringToNode(tree.as_ptr()).cast()) })?;
    match call.arguments.as_slice() {
        [argument] if call.function == pg_sys::Oid::from_u32(pg_sys::F_NEXTVAL) => {
            argument.relation
        }
        _ => None,
    }
}

/// Parses a text as the default of a column: with the names of the caller, whose text it is, and nothing of it or of the
/// column's type runs with more rights than those of `owner`, the owner of the table. (The server plans the constraints of a
/// domain as soon as it folds constants, and so calls their functions.)
pub fn parse_default(text: &str, target: &Target, owner: Owned) -> Default {
    let source = charset::c_string(text);
    let name = charset::c_string(&target.name);
    let cooked = restricted(|| {
        relay_errors(|| {
            let raw = expression_of(&source);
            // SAFETY: the parser's own steps for a default, which return trees in the current memory context.
            unsafe {
                let state = pg_sys::make_parsestate(ptr::null_mut());
                (*state).p_sourcetext = source.as_ptr();
                let cooked = pg_sys::cookDefault(
                    state,
                    raw,
                    target.type_oid,
                    target.type_modifier,
                    name.as_ptr(),
                    0,
                );
                pg_sys::free_parsestate(state);
                cooked
            }
        })
    });
    owner.as_owner(|| Default {
        // SAFETY: a tree of the parser; the text is a copy.
        text: relay_errors(|| unsafe {
            charset::decode_c(pg_sys::deparse_expression(
                cooked,
                ptr::null_mut(),
                false,
                false,
            ))
        }),
        // SAFETY: trees of the planner; constants are folded in a copy.
        call: relay_errors(|| unsafe {
            let copy = pg_sys::copyObjectImpl(cooked.cast()).cast();
            call(pg_sys::eval_const_expressions(ptr::null_mut(), copy))
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

/// The only element of a list; null if there are others or none.
///
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

/// The call that a tree is, below conversions that change no bytes.
///
/// # Safety
/// A tree of the planner.
unsafe fn call(mut node: *mut pg_sys::Node) -> Option<Call> {
    // SAFETY: each node has the type that its tag says, and is not null but where it is asked.
    unsafe {
        loop {
            if node.is_null() {
                return None;
            } else if is_a(node, pg_sys::NodeTag::T_RelabelType) {
                node = (*node.cast::<pg_sys::RelabelType>()).arg.cast();
            } else if is_a(node, pg_sys::NodeTag::T_CoerceToDomain) {
                node = (*node.cast::<pg_sys::CoerceToDomain>()).arg.cast();
            } else if is_a(node, pg_sys::NodeTag::T_FuncExpr) {
                let call = &*node.cast::<pg_sys::FuncExpr>();
                let arguments = nodes(call.args);
                return Some(Call {
                    function: call.funcid,
                    arguments: arguments
                        .into_iter()
                        .map(|node| argument(node.cast()))
                        .collect(),
                });
            } else {
                return None;
            }
        }
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
            type_name: charset::decode_c(pg_sys::format_type_be(type_oid)),
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
