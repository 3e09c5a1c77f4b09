//! Generators as the defaults of columns that `COPY` fills.
//!
//! `COPY` writes rows in batches, but one by one if a default is volatile: such a function could read the table, and
//! would miss the rows that are not written yet. The server knows only of `nextval` that it reads no table. So in
//! `COPY` the call of a generator becomes that of `mint.generated`, which is declared as stable and calls the generator
//! for each row. Elsewhere a generator stays volatile: `ALTER TABLE ADD COLUMN` would give one id to all rows.
//!
//! The server can keep planned defaults in the memory of `COPY`: PostgreSQL 19 does so with the checks of domains. So a
//! replaced call is as good as the original: it points to nothing, and the rights and the arguments are those of the
//! generator when it is called.

use crate::pg::catalog::function::Executable;
use crate::pg::catalog::{extension, function};
use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, copy, simplified};
use crate::pg::error::report;
use crate::pg::quick::quick;
use pgrx::pg_sys::{FunctionCallInfo, NodeTag};
use pgrx::prelude::*;
use pgrx::{Internal, pg_sys};
use std::ffi::CStr;

#[pg_extern(sql = false)]
fn guarded_generator_support(mut request: Internal) -> Internal {
    // SAFETY: a request of the planner's, whose tag says what it is.
    unsafe {
        if let Some(asked) = request.get_mut::<pg_sys::SupportRequestCost>()
            && asked.type_ == NodeTag::T_SupportRequestCost
            && let Some(call) = as_node::<pg_sys::FuncExpr>(asked.node, NodeTag::T_FuncExpr)
            && is_replaced(&*call)
        {
            restore(&mut *call);
        }
        simplified(request, |asked| in_copy(asked))
    }
}

// The planner of each statement calls this.
quick!(
    generator_support_wrapper,
    pg_finfo_generator_support_wrapper,
    guarded_generator_support_wrapper,
    (request: Internal) => has_no_answer(request).then_some(0_i64)
);

/// Returns whether there is nothing to do: a query is planned, or the cost of another call is asked for.
fn has_no_answer(mut request: Internal) -> bool {
    // SAFETY: the argument of a support function is a node, whose tag says what it is.
    unsafe {
        let Some(tag) = request.get_mut::<pg_sys::Node>().map(|node| node.type_) else {
            return true;
        };
        match tag {
            NodeTag::T_SupportRequestSimplify => request
                .get_mut::<pg_sys::SupportRequestSimplify>()
                .is_none_or(|asked| !asked.root.is_null()),
            NodeTag::T_SupportRequestCost => request
                .get_mut::<pg_sys::SupportRequestCost>()
                .is_none_or(|asked| {
                    !asked.root.is_null()
                        || as_node(asked.node, NodeTag::T_FuncExpr)
                            .is_none_or(|call: *mut pg_sys::FuncExpr| !is_replaced(&*call))
                }),
            _ => true,
        }
    }
}

/// Makes a replaced call the generator's again. Without a query, the server asks for its cost only before it inlines a
/// function in SQL that has the call as an argument and would evaluate it several times. It inlines no volatile one so.
unsafe fn restore(call: &mut pg_sys::FuncExpr) {
    // SAFETY: a call that `in_copy` made, with the oid of the generator before its arguments.
    unsafe {
        let oid = nodes(call.args).next().unwrap_or(std::ptr::null_mut());
        if let Some(oid) = as_node::<pg_sys::Const>(oid, NodeTag::T_Const) {
            call.funcid = pg_sys::Oid::from_u32((*oid).constvalue.value() as u32);
            call.args = pg_sys::list_delete_first(call.args);
        }
    }
}

/// Returns whether a call is one of `mint.generated`: no other has an argument that is a constant of this type.
unsafe fn is_replaced(call: &pg_sys::FuncExpr) -> bool {
    // SAFETY: a call of the planner's, whose arguments are nodes.
    unsafe {
        nodes(call.args)
            .next()
            .and_then(|first| as_node::<pg_sys::Const>(first, NodeTag::T_Const))
            .is_some_and(|first| (*first).consttype == pg_sys::INTERNALOID)
    }
}

/// Returns the call that replaces that of a generator; none if it stays.
///
/// # Safety
/// A request of the planner's, without a query.
unsafe fn in_copy(asked: &pg_sys::SupportRequestSimplify) -> Option<*mut pg_sys::Node> {
    // SAFETY: as the caller says; the result is in the memory of COPY.
    unsafe {
        let generator = &*asked.fcall;
        // If calls of functions are counted, they must be the generator's.
        if !is_default()
            || is_replaced(generator)
            || pg_sys::pgstat_track_functions == pg_sys::TrackFunctionsLevel::TRACK_FUNC_ALL as i32
            || function::executable(generator.funcid) == Executable::No
        {
            return None;
        }
        let generated = function::find(extension::namespace()?, c"generated", &ARGUMENTS)?;
        if function::executable(generated) != Executable::ByAll
            || function::owner(generated) != function::owner(generator.funcid)
        {
            return None;
        }
        // The oid of the generator, before its arguments.
        let (oid, none) = (generator.funcid.into(), pg_sys::InvalidOid);
        let oid = pg_sys::makeConst(ARGUMENTS[0], -1, none, 8, oid, false, true);
        let replaced = copy((&raw const *generator).cast()).cast::<pg_sys::FuncExpr>();
        (*replaced).funcid = generated;
        (*replaced).args = pg_sys::lcons(oid.cast(), (*replaced).args);
        Some(replaced.cast())
    }
}

/// Returns whether a statement COPY FROM plans the default of a column: in memory of this name, which belongs to the
/// statement itself. COPY TO also has such memory, in which the server plans expressions of relations that it keeps.
fn is_default() -> bool {
    // SAFETY: there is always a current context, and a portal has a list of statements.
    unsafe {
        let memory = &*pg_sys::CurrentMemoryContext;
        let Some(portal) = pg_sys::ActivePortal.as_ref() else {
            return false;
        };
        memory.parent == portal.portalContext
            && CStr::from_ptr(memory.name) == c"COPY"
            && nodes(portal.stmts)
                .next()
                .and_then(|first| as_node::<pg_sys::PlannedStmt>(first, NodeTag::T_PlannedStmt))
                .and_then(|first| {
                    as_node::<pg_sys::CopyStmt>((*first).utilityStmt, NodeTag::T_CopyStmt)
                })
                .is_some_and(|copy| (*copy).is_from)
    }
}

/// Values of this type cannot be written in SQL.
const ARGUMENTS: [pg_sys::Oid; 1] = [pg_sys::INTERNALOID];

/// Calls the generator that [`in_copy`] has replaced, after the first call for a row.
///
/// # Safety
/// The server calls it, with the generator and its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn generated_wrapper(call: FunctionCallInfo) -> pg_sys::Datum {
    // SAFETY: the call that the first call has kept. An error of the generator passes through here.
    unsafe {
        let kept: FunctionCallInfo = (*(*call).flinfo).fn_extra.cast();
        if kept.is_null() {
            return guarded_generated_wrapper(call);
        }
        let generated = next(kept, call);
        (*call).isnull = generated.is_none();
        generated.unwrap_or_else(pg_sys::Datum::null)
    }
}

/// Prepares the call of the generator as the server does, keeps the call and makes it.
#[pg_extern(sql = false)]
fn guarded_generated(generator: Internal, call: FunctionCallInfo) -> Internal {
    let oid = generator.unwrap().map_or(0, |oid| oid.value() as u32);
    let oid = pg_sys::Oid::from_u32(oid);
    // SAFETY: the call has as many arguments as it says, of the types of its expression. The kept call is in the memory
    // of the calling function, and has room for all arguments.
    unsafe {
        let caller = (*call).flinfo;
        let count = (*call).nargs - 1;
        let types: Vec<_> = (1..=count)
            .map(|place| pg_sys::get_fn_expr_argtype(caller, place.into()))
            .collect();
        if !is_generator(oid) || types != function::arguments(oid) {
            report(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                "function \"mint.generated\" can only be called by COPY",
            )
            .raise();
        }
        function::demand(oid);
        let memory = (*caller).fn_mcxt;
        let function: *mut pg_sys::FmgrInfo = allocate(memory, size_of::<pg_sys::FmgrInfo>());
        pg_sys::fmgr_info_cxt(oid, function, memory);
        let size = size_of::<pg_sys::FunctionCallInfoBaseData>()
            + types.len() * size_of::<pg_sys::NullableDatum>();
        let kept: FunctionCallInfo = allocate(memory, size);
        (*kept).flinfo = function;
        (*kept).fncollation = (*call).fncollation;
        (*kept).nargs = count;
        (*caller).fn_extra = kept.cast();
        drop(types);
        Internal::from(next(kept, call))
    }
}

/// Returns whether a function asks this library how to plan its calls, as generators do.
fn is_generator(function: pg_sys::Oid) -> bool {
    let own = extension::namespace()
        .and_then(|schema| function::find(schema, c"generator_support", &ARGUMENTS));
    // SAFETY: a lookup in the catalogs, inside a transaction.
    own.is_some_and(|own| unsafe { pg_sys::get_func_support(function) } == own)
}

/// Makes a prepared call with the arguments of another, but for the first of them.
unsafe fn next(kept: FunctionCallInfo, call: FunctionCallInfo) -> Option<pg_sys::Datum> {
    // SAFETY: a call of `guarded_generated`, which has compared the number and the types of the arguments.
    unsafe {
        let to = (&raw mut (*kept).args).cast::<pg_sys::NullableDatum>();
        let from = (&raw const (*call).args).cast::<pg_sys::NullableDatum>();
        let function = (*kept).flinfo;
        for place in 0..usize::try_from((*kept).nargs).ok()? {
            let argument = *from.add(place + 1);
            if argument.isnull && (*function).fn_strict {
                return None;
            }
            *to.add(place) = argument;
        }
        (*kept).isnull = false;
        let result = (*function).fn_addr?(kept);
        (!(*kept).isnull).then_some(result)
    }
}

/// Allocates bytes that are zero.
unsafe fn allocate<T>(memory: pg_sys::MemoryContext, size: usize) -> *mut T {
    // SAFETY: memory of the server, in a call of it.
    unsafe { pg_sys::MemoryContextAllocZero(memory, size).cast() }
}

/// Returns the version of the calling convention.
#[unsafe(no_mangle)]
pub extern "C" fn pg_finfo_generated_wrapper() -> &'static pg_sys::Pg_finfo_record {
    const RECORD: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };
    &RECORD
}
