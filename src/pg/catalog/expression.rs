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

/// A default of a column that is one call of a function of the extension.
pub struct StoredDefault {
    /// The name of the function.
    pub function: String,
    /// Each as text, if it is a constant that is not null.
    pub arguments: Vec<Option<String>>,
    pub owner: pg_sys::Oid,
    /// The column and its owner, for a message.
    pub column: String,
    /// True if this server publishes the table and subscribes to it.
    pub is_exchanged: bool,
    /// True if the caller asked about the table.
    pub is_listed: bool,
    /// The number of columns of tables of this owner that have it, and are equal in the fields above.
    pub columns: usize,
}

/// The owner of a table can write a default of 1 GB; that of a generator has some hundred bytes. So of each role, 4 MB are
/// read. The length of a tree is known without reading it, and no expression is planned or printed. Equal trees are read
/// once: some versions of the server store where in a statement they were written.
const QUERY: &str = "SELECT g.tree, g.owner, format('column \"%s\" of table %s of role \"%s\"',
            g.names[1], g.tables[1]::regclass, pg_get_userbyid(g.owner)), g.columns, g.found, g.is_exchanged, g.is_listed
    FROM (
        SELECT d.owner, min(d.tree) AS tree, array_agg(d.attname ORDER BY d.length) AS names,
            array_agg(d.oid ORDER BY d.length) AS tables, count(*) AS columns, max(d.found) AS found, min(d.length) AS length,
            d.is_exchanged, d.is_listed
        FROM (
            SELECT d.adbin::text AS tree, c.oid, c.relowner AS owner, a.attname, c.oid = ANY ($2) AS is_listed,
                EXISTS (SELECT FROM pg_subscription_rel AS s WHERE s.srrelid = c.oid)
                    AND (EXISTS (SELECT FROM pg_publication AS p WHERE p.puballtables)
                        OR EXISTS (SELECT FROM pg_publication_rel AS p WHERE p.prrelid = c.oid)
                        OR EXISTS (SELECT FROM pg_publication_namespace AS p WHERE p.pnnspid = c.relnamespace)) AS is_exchanged,
                count(*) OVER () AS found, sum(octet_length(d.adbin::text)) OVER (
                    PARTITION BY c.relowner ORDER BY c.relispartition, octet_length(d.adbin::text), d.oid) AS length
            FROM pg_extension AS e
            JOIN pg_proc AS f ON f.pronamespace = e.extnamespace AND starts_with(f.proname::text, $1)
            JOIN pg_depend AS u ON u.refclassid = f.tableoid AND u.refobjid = f.oid AND u.classid = 'pg_attrdef'::regclass
            JOIN pg_attrdef AS d ON d.oid = u.objid AND octet_length(d.adbin::text) <= 32768
            JOIN pg_class AS c ON c.oid = d.adrelid AND c.relpersistence <> 't'
            JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
            WHERE e.extname = 'pg_mint'
        ) AS d
        WHERE d.length <= 4194304
        GROUP BY d.owner, regexp_replace(d.tree, ':location -?[0-9]+', '', 'g'), d.is_exchanged, d.is_listed
    ) AS g
    ORDER BY g.length";

/// Reads defaults that call functions whose names begin so: first those of owners with few, and of tables before those of
/// partitions. Returns as well how many others there are; none where another transaction has locked one of the catalogs.
/// `tables`: those that are told apart.
pub fn defaults_calling(
    prefix: &str,
    tables: Vec<pg_sys::Oid>,
) -> Option<(Vec<StoredDefault>, usize)> {
    let read = |row: &Row<'_>| {
        let [columns, found] = [4, 5].map(|column| row.need::<i64>(column) as usize);
        Some((columns, found, stored_default(row, columns)))
    };
    let select = || sql::rows(QUERY, &[prefix.into(), tables.clone().into()], read);
    let rows = attempt(|| guc::with(&[(c"lock_timeout", c"1")], select))?;
    let found = rows.first().map_or(0, |&(_, found, _)| found);
    let columns: usize = rows.iter().map(|&(columns, ..)| columns).sum();
    let all = rows.into_iter().filter_map(|(.., default)| default);
    Some((all.collect(), found - columns))
}

/// Returns a default; none if it is something else than one call of a function of the extension.
fn stored_default(row: &Row<'_>, columns: usize) -> Option<StoredDefault> {
    let (function, arguments) = stored_call(&row.need::<DecodedText>(1).0)?;
    Some(StoredDefault {
        function,
        arguments,
        owner: row.need(2),
        column: row.need::<DecodedText>(3).0,
        is_exchanged: row.need(6),
        is_listed: row.need(7),
        columns,
    })
}

/// Reads a default by its tree in the catalogs: the function of the extension that it calls, and the arguments. Returns none if
/// it is anything else than one such call, with nothing around it but casts of its result.
fn stored_call(tree: &str) -> Option<(String, Vec<Option<String>>)> {
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
unsafe fn arguments(call: &pg_sys::FuncExpr) -> Vec<Option<String>> {
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
        let mut all: Vec<(usize, Option<String>)> = all.map(placed).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, argument)| argument).collect()
    }
}

/// Returns what is below a cast; none if the node is something else.
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
        let is = |tag| !node.is_null() && is_a(node, tag);
        let inner = if is(pg_sys::NodeTag::T_CoerceViaIO) {
            (*node.cast::<pg_sys::CoerceViaIO>()).arg
        } else if is(pg_sys::NodeTag::T_RelabelType) {
            (*node.cast::<pg_sys::RelabelType>()).arg
        } else if is(pg_sys::NodeTag::T_CoerceToDomain) {
            (*node.cast::<pg_sys::CoerceToDomain>()).arg
        } else {
            return None;
        };
        Some(inner.cast())
    }
}

/// Returns the value of a constant as text.
///
/// # Safety
/// A tree of the planner, not null.
unsafe fn argument(node: *mut pg_sys::Node) -> Option<String> {
    // SAFETY: as the caller says; a constant that is not null is printed by the output function of its type.
    unsafe {
        let is_constant = is_a(node, pg_sys::NodeTag::T_Const);
        let value = is_constant.then(|| &*node.cast::<pg_sys::Const>());
        let value = value.filter(|value| !value.constisnull)?;
        let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
        pg_sys::getTypeOutputInfo(value.consttype, &raw mut output, &raw mut is_varlena);
        charset::decode_c(pg_sys::OidOutputFunctionCall(output, value.constvalue))
    }
}
