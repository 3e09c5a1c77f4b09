//! Functions of the server, under their own names, that pgrx does not bind, or binds with a guard that is not wanted.
//!
//! pgrx guards each call of a function that it binds against the server's errors. That costs as much as an id, and
//! raises a new error in place of the original one. These functions are called without a guard, because they raise no
//! error or because their errors must pass unchanged. Rust code that owns values calls those that raise errors inside
//! of `pg_guard_ffi_boundary`.

use pgrx::pg_sys;
use std::ffi::{c_char, c_int, c_void};

unsafe extern "C-unwind" {
    // miscadmin.h: reads a variable.
    pub fn GetUserId() -> pg_sys::Oid;

    // storage/pmsignal.h: reads a pipe. An error of it ends the process.
    pub fn PostmasterIsAliveInternal() -> bool;

    // access/xact.h: read variables.
    pub fn IsTransactionState() -> bool;
    pub fn GetCurrentTransactionStartTimestamp() -> i64;
    pub fn GetCurrentStatementStartTimestamp() -> i64;

    // utils/palloc.h: the first raises an error when out of memory; no error with MCXT_ALLOC_NO_OOM.
    pub fn palloc(size: usize) -> *mut c_void;
    pub fn palloc_extended(size: usize, flags: c_int) -> *mut c_void;

    // common/hashfn.h: compute only.
    pub fn hash_bytes(bytes: *const u8, length: c_int) -> u32;
    pub fn hash_bytes_extended(bytes: *const u8, length: c_int, seed: u64) -> u64;

    // utils/sortsupport.h: by its address the server's sort recognizes numbers and uses a faster path; a wrapper's
    // address would not be recognized.
    pub fn ssup_datum_unsigned_cmp(
        x: pg_sys::Datum,
        y: pg_sys::Datum,
        sort: pg_sys::SortSupport,
    ) -> c_int;

    // catalog/pg_constraint.h: callers guard it.
    pub fn get_relation_constraint_oid(
        relation: pg_sys::Oid,
        name: *const c_char,
        missing_ok: bool,
    ) -> pg_sys::Oid;

    // nodes/nodeFuncs.h: callers guard it. pgrx does not bind it, as its declaration lacks arguments of the second one.

    // executor/executor.h and tcop/utility.h: errors of the statement pass unchanged.
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

    // tcop/tcopprot.h: handles a signal, by its address.
    pub fn die(signal: c_int, #[cfg(feature = "pg19")] info: *const pg_sys::pg_signal_info);

    // storage/latch.h: a handler of a signal can call it.
    pub fn SetLatch(latch: *mut pg_sys::Latch);

    // utils/timeout.h, which pgrx does not bind. All but the first raise no errors.
    pub fn RegisterTimeout(id: c_int, handler: unsafe extern "C-unwind" fn()) -> c_int;
    pub fn enable_timeout_after(id: c_int, millis: c_int);
    pub fn enable_timeout_every(id: c_int, first: pg_sys::TimestampTz, millis: c_int);
    pub fn disable_timeout(id: c_int, keep_indicator: bool);
    pub fn get_timeout_active(id: c_int) -> bool;

    // utils/elog.h: begin an error, set parts of the current one, and raise it.
    pub fn errstart(level: c_int, domain: *const c_char) -> bool;
    pub fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    pub fn errcode(code: c_int) -> c_int;
    #[cfg(not(feature = "pg15"))]
    pub fn errmsg(format: *const c_char, ...) -> c_int;
    pub fn errmsg_internal(format: *const c_char, ...) -> c_int;
    pub fn errdetail_internal(format: *const c_char, ...) -> c_int;
}
