//! Defaults of columns, read from their trees in the catalogs. Nothing of a user's is parsed, planned or run.

use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::{function, sql};
use crate::pg::charset;
use crate::pg::datum::list::nodes;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::relay_errors;
use pgrx::{is_a, pg_sys};

/// An argument of a call.
#[derive(Debug)]
pub struct Argument {
    /// Its value as text, if it is a constant that is not null.
    pub constant: Option<String>,
}

/// A default of a column that is one call of a function of the extension.
pub struct StoredDefault {
    /// The name of the function.
    pub function: String,
    pub arguments: Vec<Argument>,
    pub owner: pg_sys::Oid,
    pub table: pg_sys::Oid,
    /// The column and its owner, for a message.
    pub column: String,
    /// True if this server publishes the table and subscribes to it.
    pub is_exchanged: bool,
}

/// The owner of a table can write a default of 1 GB; that of a generator has some hundred bytes. So 4 MB of each role
/// are read, and 4,096 defaults of all together. The length of a tree is known before it is read.
const QUERY: &str = "SELECT g.tree, g.owner, format('column \"%s\" of table %s of role \"%s\"',
            g.attname, g.oid::regclass, pg_get_userbyid(g.owner)), g.oid, g.found,
        EXISTS (SELECT FROM pg_subscription_rel AS s WHERE s.srrelid = g.oid)
            AND (EXISTS (SELECT FROM pg_publication AS p WHERE p.puballtables)
                OR EXISTS (SELECT FROM pg_publication_rel AS p WHERE p.prrelid = g.oid)
                OR EXISTS (SELECT FROM pg_publication_namespace AS p WHERE p.pnnspid = g.schema))
    FROM (
        SELECT d.adbin::text AS tree, c.oid, c.relnamespace AS schema, c.relowner AS owner, a.attname,
            count(*) OVER () AS found, sum(octet_length(d.adbin::text)) OVER (
                PARTITION BY c.relowner ORDER BY c.relispartition, octet_length(d.adbin::text), d.oid) AS length
        FROM pg_extension AS e
        JOIN pg_proc AS f ON f.pronamespace = e.extnamespace AND starts_with(f.proname::text, $1)
        JOIN pg_depend AS u ON u.refclassid = f.tableoid AND u.refobjid = f.oid AND u.classid = 'pg_attrdef'::regclass
        JOIN pg_attrdef AS d ON d.oid = u.objid AND octet_length(d.adbin::text) <= 32768
        JOIN pg_class AS c ON c.oid = d.adrelid AND c.relpersistence <> 't'
        JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE e.extname = 'pg_mint'
    ) AS g
    WHERE g.length <= 4194304
    ORDER BY g.length LIMIT 4096";

/// Reads defaults that call functions whose names begin so: first those of owners with few, and of tables before those
/// of partitions. Also returns how many others there are; none if another transaction has locked one of the catalogs.
pub fn defaults_calling(prefix: &str) -> Option<(Vec<StoredDefault>, i64)> {
    let read = |row: &Row<'_>| Some((row.need::<i64>(5), stored_default(row)));
    let select = || sql::rows(QUERY, &[prefix.into()], read);
    let rows = attempt(|| guc::with(&[(c"lock_timeout", c"1")], select))?;
    let found = rows.first().map_or(0, |&(found, _)| found);
    let left_out = found - rows.len() as i64;
    let all = rows.into_iter().filter_map(|(_, default)| default);
    Some((all.collect(), left_out))
}

/// Returns a default; none if it is not exactly one call of a function of the extension.
fn stored_default(row: &Row<'_>) -> Option<StoredDefault> {
    let (function, arguments) = stored_call(&row.need::<DecodedText>(1).0)?;
    Some(StoredDefault {
        function,
        arguments,
        owner: row.need(2),
        table: row.need(4),
        column: row.need::<DecodedText>(3).0,
        is_exchanged: row.need(6),
    })
}

/// Reads a default by its tree in the catalogs: the function of the extension that it calls, and the arguments. The
/// result is none unless it is one such call, with nothing around it but casts of its result.
fn stored_call(tree: &str) -> Option<(String, Vec<Argument>)> {
    let tree = charset::c_string(tree);
    // SAFETY: a tree that the server has written. Only the output functions of the types of constants run, and only a
    // superuser can create these.
    relay_errors(|| unsafe {
        let mut node: *mut pg_sys::Node = pg_sys::stringToNode(tree.as_ptr()).cast();
        while let Some(inner) = below_cast(node) {
            node = inner;
        }
        let call = function_call(node)?;
        let name = function::name(call.funcid).filter(|_| function::is_own(call.funcid))?;
        Some((name, arguments(call)))
    })
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

/// Returns the arguments of a call in the order of their parameters, even if they are named.
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

/// Returns the node below a conversion that changes no bytes; none if the node is not a conversion.
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

/// Does the same as [`below_relabel`], for any cast.
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
        let is_constant = is_a(node, pg_sys::NodeTag::T_Const);
        let value = is_constant.then(|| &*node.cast::<pg_sys::Const>());
        Argument {
            constant: value.filter(|value| !value.constisnull).and_then(|value| {
                let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
                pg_sys::getTypeOutputInfo(value.consttype, &raw mut output, &raw mut is_varlena);
                charset::decode_c(pg_sys::OidOutputFunctionCall(output, value.constvalue))
            }),
        }
    }
}
