//! A library of pgrx with one function and nothing else: the first call of pg_mint in a session is compared with that of this.

pgrx::pg_module_magic!();

/// Returns what it is given.
#[pgrx::pg_extern(sql = false)]
const fn empty_pgrx(shard: i64) -> i64 {
    shard
}
