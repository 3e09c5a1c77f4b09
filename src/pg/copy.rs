//! Generators as the defaults of columns that `COPY` fills.
//!
//! `COPY` writes rows in batches, but one by one where a default is volatile: such a function could read the table, and would
//! miss the rows that are not written yet. Of `nextval` the server knows that it reads no table, and of no other function. So in
//! `COPY` alone, the call of a generator becomes that of `mint.generated`, which is declared as stable and calls the generator for each
//! row. Elsewhere a generator stays volatile: `ALTER TABLE ADD COLUMN` would give one id to all rows.

use crate::pg::catalog::function::Executable;
use crate::pg::catalog::{extension, function};
use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, call, copy, list, simplified};
use crate::pg::quick::quick;
use pgrx::pg_sys::{FunctionCallInfo, NodeTag};
use pgrx::prelude::*;
use pgrx::{Internal, pg_sys};
use std::ffi::CStr;

#[pg_extern(sql = false)]
fn guarded_generator_support(request: Internal) -> Internal {
    // SAFETY: a request of the planner's.
    simplified(request, |asked| unsafe { in_copy(asked) })
}

// The planner of each statement asks.
quick!(
    generator_support_wrapper,
    pg_finfo_generator_support_wrapper,
    guarded_generator_support_wrapper,
    (request: Internal) => is_of_query(request).then_some(0_i64)
);

/// Returns whether a query is planned, and not an expression alone.
fn is_of_query(mut request: Internal) -> bool {
    // SAFETY: the argument of a support function is a node, whose tag says what it is.
    unsafe {
        request
            .get_mut::<pg_sys::SupportRequestSimplify>()
            .is_some_and(|asked| {
                asked.type_ != NodeTag::T_SupportRequestSimplify || !asked.root.is_null()
            })
    }
}

/// Returns what the call of a generator is replaced by; none if it stays.
///
/// # Safety
/// A request of the planner's, without a query.
unsafe fn in_copy(asked: &pg_sys::SupportRequestSimplify) -> Option<*mut pg_sys::Node> {
    // SAFETY: as the caller says; the result is in the memory of COPY.
    unsafe {
        // COPY plans a default without a query, in memory of this name. Nothing else does both with a generator.
        let is_copy = CStr::from_ptr((*pg_sys::CurrentMemoryContext).name) == c"COPY";
        let generator = &*asked.fcall;
        // A strict function is not called with NULL.
        let is_constant = |argument| {
            as_node::<pg_sys::Const>(argument, NodeTag::T_Const)
                .is_some_and(|constant| !(*constant).constisnull)
        };
        if !is_copy
            || !nodes(generator.args).all(is_constant)
            || function::executable(generator.funcid) == Executable::No
        {
            return None;
        }
        let types = [pg_sys::INTERNALOID];
        let generated = function::find(extension::namespace()?, c"generated", &types)?;
        if function::owner(generated) != function::owner(generator.funcid) {
            return None;
        }
        // A pointer, which no user of SQL can write. The request's own call does not outlast it.
        let (node, none) = (copy((&raw const *generator).cast()), pg_sys::InvalidOid);
        let node = pg_sys::Datum::from(node);
        let node = pg_sys::makeConst(types[0], -1, none, 8, node, false, true);
        Some(call(
            generated,
            generator.funcresulttype,
            list([node.cast()]),
        ))
    }
}

/// Calls the generator that [`in_copy`] has replaced, after the first call for a row.
///
/// # Safety
/// The server calls it, with a pointer to the replaced call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn generated_wrapper(call: FunctionCallInfo) -> pg_sys::Datum {
    // SAFETY: what the first call has kept. An error of the generator passes through here.
    unsafe {
        let kept: FunctionCallInfo = (*(*call).flinfo).fn_extra.cast();
        if kept.is_null() {
            return guarded_generated_wrapper(call);
        }
        let generated = next(kept);
        (*call).isnull = generated.is_none();
        generated.unwrap_or_else(pg_sys::Datum::null)
    }
}

/// Prepares the call of the generator, keeps it and makes it.
#[pg_extern(sql = false)]
fn guarded_generated(generator: Internal, call: FunctionCallInfo) -> Internal {
    // SAFETY: the argument is a pointer that `in_copy` has made. What is kept is in the memory of the calling function, and has
    // room for all arguments.
    unsafe {
        let caller = (*call).flinfo;
        let memory = (*caller).fn_mcxt;
        let Some(node) = generator.unwrap() else {
            return Internal::from(None);
        };
        let node: *mut pg_sys::FuncExpr = node.cast_mut_ptr();
        let function: *mut pg_sys::FmgrInfo = allocate(memory, size_of::<pg_sys::FmgrInfo>());
        pg_sys::fmgr_info_cxt((*node).funcid, function, memory);
        (*function).fn_expr = node.cast();
        let values: Vec<_> = nodes((*node).args).collect();
        let size = size_of::<pg_sys::FunctionCallInfoBaseData>()
            + values.len() * size_of::<pg_sys::NullableDatum>();
        let kept: FunctionCallInfo = allocate(memory, size);
        (*kept).flinfo = function;
        (*kept).fncollation = (*node).inputcollid;
        (*kept).nargs = values.len() as i16;
        let mut argument = (&raw mut (*kept).args).cast::<pg_sys::NullableDatum>();
        for value in values {
            // None is NULL.
            (*argument).value = (*value.cast::<pg_sys::Const>()).constvalue;
            argument = argument.add(1);
        }
        (*caller).fn_extra = kept.cast();
        Internal::from(next(kept))
    }
}

/// Makes a prepared call.
unsafe fn next(kept: FunctionCallInfo) -> Option<pg_sys::Datum> {
    // SAFETY: of `guarded_generated`, with arguments of the function's types.
    unsafe {
        (*kept).isnull = false;
        let result = (*(*kept).flinfo).fn_addr?(kept);
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
