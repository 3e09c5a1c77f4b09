//! Adds bounds of an id to conditions on its time.

use crate::pg::catalog::function;
use crate::pg::catalog::function::Executable;
use crate::pg::planner::bounds::{Bound, Bounds};
use crate::pg::planner::key::Table;
use crate::pg::planner::node::{as_node, copy, list, nodes};
use crate::pg::planner::predicate::{Candidate, candidate};
use crate::pg::planner::{estimate, is_on, key, proof};
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use std::slice;

/// The operators of dates and timestamps: see pg_opfamily.dat.
const DATETIME_OPERATORS: pg_sys::Oid = pg_sys::Oid::from_u32(434);
/// Strategies of a B-tree.
const LESS: u32 = pg_sys::BTLessStrategyNumber;
const LESS_EQUAL: u32 = pg_sys::BTLessEqualStrategyNumber;
const EQUAL: u32 = pg_sys::BTEqualStrategyNumber;
const GREATER_EQUAL: u32 = pg_sys::BTGreaterEqualStrategyNumber;
const GREATER: u32 = pg_sys::BTGreaterStrategyNumber;

/// What is being planned.
#[derive(Clone, Copy)]
struct Planning {
    root: *mut pg_sys::PlannerInfo,
    table: Table,
}

/// Adds to the conditions of a query what follows from those on the time of an id of the table.
///
/// # Safety
/// The planner has called its hook for the table.
pub unsafe fn derive(
    root: *mut pg_sys::PlannerInfo,
    planned: *mut pg_sys::RelOptInfo,
    relation: pg_sys::Oid,
    has_children: bool,
) {
    if !is_on() {
        return;
    }
    let table = Table {
        planned,
        relation,
        has_children,
    };
    // SAFETY: as the caller says.
    unsafe {
        Planning { root, table }.visit((*(*root).parse).jointree.cast());
    }
}

impl Planning {
    /// Visits a part of the join tree, and returns whether the table is in it.
    ///
    /// A bound stands beside its condition, and is true wherever that is. So it is right in every kind of join. But it
    /// is of use only where the planner tests it on rows of the table alone.
    unsafe fn visit(self, tree: *mut pg_sys::Node) -> bool {
        // SAFETY: the tag says what a node is. Conditions are lists by now.
        unsafe {
            let own = (*self.table.planned).relid;
            match tree.as_ref().map(|node| node.type_) {
                Some(NodeTag::T_RangeTblRef) => {
                    (*tree.cast::<pg_sys::RangeTblRef>()).rtindex as pg_sys::Index == own
                }
                Some(NodeTag::T_FromExpr) => {
                    let from = &mut *tree.cast::<pg_sys::FromExpr>();
                    let mut is_in = false;
                    for part in nodes(from.fromlist) {
                        is_in |= self.visit(part);
                    }
                    if is_in {
                        from.quals = self.extend(from.quals.cast()).cast();
                    }
                    is_in
                }
                Some(NodeTag::T_JoinExpr) => {
                    let join = &mut *tree.cast::<pg_sys::JoinExpr>();
                    let (left, right) = (self.visit(join.larg), self.visit(join.rarg));
                    let tests_alone = match join.jointype {
                        pg_sys::JoinType::JOIN_INNER | pg_sys::JoinType::JOIN_SEMI => left || right,
                        // Rows of the left side are kept whether or not a condition is true.
                        pg_sys::JoinType::JOIN_LEFT | pg_sys::JoinType::JOIN_ANTI => right,
                        _ => false,
                    };
                    if tests_alone {
                        join.quals = self.extend(join.quals.cast()).cast();
                    }
                    left || right
                }
                _ => false,
            }
        }
    }

    /// Returns conditions with their bounds before them.
    unsafe fn extend(self, conditions: *mut pg_sys::List) -> *mut pg_sys::List {
        // SAFETY: a list of conditions of the planner's, in whose memory this runs.
        unsafe {
            let mut extended = std::ptr::null_mut();
            for condition in nodes(conditions) {
                if let Some(candidate) = candidate(condition, (*self.table.planned).relid)
                    && let Some(bounds) = self.bounds(&candidate)
                {
                    for bound in bounds {
                        // A copy of the query, as for min() and max(), may have them.
                        if !pg_sys::list_member(conditions, bound.cast()) {
                            extended = pg_sys::lappend(extended, bound.cast());
                        }
                    }
                    estimate::note(self.root, candidate.comparison);
                }
                extended = pg_sys::lappend(extended, condition.cast());
            }
            extended
        }
    }

    /// Returns the bounds that follow from a condition, if that is right and of use.
    unsafe fn bounds(self, found: &Candidate) -> Option<Vec<*mut pg_sys::Node>> {
        // SAFETY: nodes of the planner's.
        unsafe {
            let bounds = Bounds::of(found.function)?;
            let (strategy, with_type) = strategy(found)?;
            let conversion = bounds.conversion(with_type)?;
            let is_fixed = !pg_sys::contain_var_clause(found.with)
                && !pg_sys::contain_subplans(found.with)
                && !pg_sys::contain_volatile_functions(found.with);
            let settings: Option<Vec<&[u8]>> =
                found.others.iter().map(|&node| constant(node)).collect();
            if !is_fixed || !(found.function.is_ordered)(&settings?) {
                return None;
            }
            if let Some((_, value)) = found.function.only_where
                && !proof::says(self.table, found.column, bounds.only_where, value)
            {
                return None;
            }
            let both: &[(Bound, u32)] = match strategy {
                LESS => &[(Bound::Before, LESS_EQUAL)],
                LESS_EQUAL => &[(Bound::AtOrBefore, LESS_EQUAL)],
                EQUAL => &[
                    (Bound::AtOrAfter, GREATER_EQUAL),
                    (Bound::AtOrBefore, LESS_EQUAL),
                ],
                GREATER_EQUAL => &[(Bound::AtOrAfter, GREATER_EQUAL)],
                GREATER => &[(Bound::After, GREATER_EQUAL)],
                _ => return None,
            };
            both.iter()
                .map(|&(bound, strategy)| {
                    let operator = self.operator(found, strategy)?;
                    let value = self.call(found, bounds.function(bound), conversion)?;
                    Some(compare(operator, copy(found.id), value))
                })
                .collect()
        }
    }

    /// Returns the operator that compares ids, if it is of use and may be used.
    unsafe fn operator(self, found: &Candidate, strategy: u32) -> Option<pg_sys::Oid> {
        // SAFETY: lookups in the catalogs, inside a transaction; the table has its entry.
        unsafe {
            let id = pg_sys::exprType(found.id);
            let order = pg_sys::lookup_type_cache(id, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32);
            let operator = pg_sys::get_opfamily_member((*order).btree_opf, id, id, strategy as i16);
            if operator == pg_sys::InvalidOid || !key::leads(self.table, found.column, operator) {
                return None;
            }
            // Under row security an index is searched only by what cannot leak.
            let entry = *(*self.root)
                .simple_rte_array
                .add((*self.table.planned).relid as usize);
            let is_free = (*entry).securityQuals.is_null()
                || pg_sys::get_func_leakproof(pg_sys::get_opcode(operator));
            is_free.then_some(operator)
        }
    }

    /// Returns the call of a bound, or its value if that is constant; none if the user may not call it.
    unsafe fn call(
        self,
        found: &Candidate,
        bound: pg_sys::Oid,
        conversion: Option<pg_sys::Oid>,
    ) -> Option<*mut pg_sys::Node> {
        // SAFETY: nodes and memory of the planner's.
        unsafe {
            for function in [Some(bound), conversion].into_iter().flatten() {
                match function::executable(function) {
                    Executable::ByAll => {}
                    // Another role must make a plan of its own.
                    Executable::ByUser => (*(*self.root).glob).dependsOnRole = true,
                    Executable::No => return None,
                }
            }
            let mut at = copy(found.with);
            if let Some(conversion) = conversion {
                at = call(conversion, pg_sys::TIMESTAMPTZOID, list([at]));
            }
            let others = found.others.iter().map(|&node| copy(node));
            let arguments = list([at].into_iter().chain(others));
            let value = call(bound, pg_sys::exprType(found.id), arguments);
            Some(pg_sys::eval_const_expressions(self.root, value))
        }
    }
}

/// Returns which comparison of a time a condition is, as seen from the time, and the type that the time is compared
/// with.
unsafe fn strategy(found: &Candidate) -> Option<(u32, pg_sys::Oid)> {
    // SAFETY: lookups in the catalogs, inside a transaction; types are written by the call.
    unsafe {
        let operator = (*found.comparison).opno;
        let strategy = pg_sys::get_op_opfamily_strategy(operator, DATETIME_OPERATORS);
        let (mut left, mut right) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::op_input_types(operator, &raw mut left, &raw mut right);
        let (time, with) = if found.commuted {
            (right, left)
        } else {
            (left, right)
        };
        let strategy = match (strategy.unsigned_abs(), found.commuted) {
            (LESS, true) => GREATER,
            (LESS_EQUAL, true) => GREATER_EQUAL,
            (GREATER_EQUAL, true) => LESS_EQUAL,
            (GREATER, true) => LESS,
            (strategy, _) => strategy,
        };
        (time == pg_sys::TIMESTAMPTZOID).then_some((strategy, with))
    }
}

/// Returns the bytes of a constant of fixed length that is passed by reference, and is not NULL.
unsafe fn constant<'a>(node: *mut pg_sys::Node) -> Option<&'a [u8]> {
    // SAFETY: the tag says that it is a constant, which has as many bytes as it says.
    unsafe {
        let constant = &*as_node::<pg_sys::Const>(node, NodeTag::T_Const)?;
        let is_fixed = constant.constlen > 0 && !constant.constbyval && !constant.constisnull;
        let length = usize::try_from(constant.constlen).ok()?;
        is_fixed.then(|| slice::from_raw_parts(constant.constvalue.cast_mut_ptr(), length))
    }
}

/// Makes the call of a function.
unsafe fn call(
    function: pg_sys::Oid,
    result: pg_sys::Oid,
    arguments: *mut pg_sys::List,
) -> *mut pg_sys::Node {
    // SAFETY: as the caller says; ids and timestamps have no collation.
    unsafe {
        let none = pg_sys::InvalidOid;
        let form = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
        pg_sys::makeFuncExpr(function, result, arguments, none, none, form).cast()
    }
}

/// Makes a comparison.
unsafe fn compare(
    operator: pg_sys::Oid,
    left: *mut pg_sys::Node,
    right: *mut pg_sys::Node,
) -> *mut pg_sys::Node {
    // SAFETY: as the caller says; ids have no collation.
    unsafe {
        let none = pg_sys::InvalidOid;
        let comparison = pg_sys::make_opclause(
            operator,
            pg_sys::BOOLOID,
            false,
            left.cast(),
            right.cast(),
            none,
            none,
        );
        pg_sys::set_opfuncid(comparison.cast());
        comparison.cast()
    }
}
