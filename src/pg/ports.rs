//! Functions of the server that pgrx does not bind, or not as they are needed here, under their own names.
//!
//! pgrx guards each call of a function that it binds against the server's errors. That costs as much as an id, and raises
//! another error in place of one that passes through. What is here is called without a guard: because it raises no error, or
//! because its errors have to pass as they are. What can raise one on a path of Rust's is called inside of
//! `pg_guard_ffi_boundary`.

use pgrx::pg_sys;
use std::ffi::{c_char, c_int, c_void};

unsafe extern "C-unwind" {
    // miscadmin.h: reads a variable.
    pub fn GetUserId() -> pg_sys::Oid;

    // access/xact.h: read variables.
    pub fn GetCurrentTransactionStartTimestamp() -> i64;
    pub fn GetCurrentStatementStartTimestamp() -> i64;

    // utils/palloc.h: no error with MCXT_ALLOC_NO_OOM.
    pub fn palloc_extended(size: usize, flags: c_int) -> *mut c_void;

    // common/hashfn.h: compute only.
    pub fn hash_bytes(bytes: *const u8, length: c_int) -> u32;
    pub fn hash_bytes_extended(bytes: *const u8, length: c_int, seed: u64) -> u64;

    // utils/sortsupport.h: its address tells the server's sort to use the fast way for numbers, which the address of a
    // wrapper would not.
    pub fn ssup_datum_unsigned_cmp(
        x: pg_sys::Datum,
        y: pg_sys::Datum,
        sort: pg_sys::SortSupport,
    ) -> c_int;

    // catalog/pg_constraint.h: to be guarded.
    pub fn get_relation_constraint_oid(
        relation: pg_sys::Oid,
        name: *const c_char,
        missing_ok: bool,
    ) -> pg_sys::Oid;

    // executor/executor.h and tcop/utility.h: errors of the statement pass as they are.
    pub fn standard_ExecutorStart(query: *mut pg_sys::QueryDesc, flags: c_int);
    pub fn standard_ProcessUtility(
        statement: *mut pg_sys::PlannedStmt,
        query: *const c_char,
        read_only_tree: bool,
        context: pg_sys::ProcessUtilityContext::Type,
        params: pg_sys::ParamListInfo,
        environment: *mut pg_sys::QueryEnvironment,
        destination: *mut pg_sys::DestReceiver,
        completion: *mut pg_sys::QueryCompletion,
    );

    // utils/elog.h: set parts of the error under way.
    #[cfg(not(feature = "pg15"))]
    pub fn errcode(code: c_int) -> c_int;
    #[cfg(not(feature = "pg15"))]
    pub fn errmsg(format: *const c_char, ...) -> c_int;
    pub fn errmsg_internal(format: *const c_char, ...) -> c_int;
    pub fn errdetail_internal(format: *const c_char, ...) -> c_int;
    pub fn errhint(format: *const c_char, ...) -> c_int;
}
