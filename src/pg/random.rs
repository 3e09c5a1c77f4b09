//! Randomness for ids: a CSPRNG of this process.
//!
//! Seeded from the operating system in the process that draws from it, at the first draw. Nothing is
//! drawn in the postmaster, and a generator of another process is not used: what was seeded before the
//! server forks would be the same in every session.

use super::errors::report;
use pgrx::{PgSqlErrorCode, pg_sys};
use rand::rngs::{ChaCha12Rng, SysRng};
use rand::{Rng, SeedableRng};
use std::ffi::c_int;
use std::ptr;

/// The process that it was seeded in, and the generator.
static mut STREAM: Option<(c_int, ChaCha12Rng)> = None;

#[inline]
fn stream() -> &'static mut ChaCha12Rng {
    // SAFETY: a backend is one thread, and the two functions below keep the reference for one draw.
    // MyProcPid is a plain integer, set when the process begins.
    let (stream, pid) = unsafe { (&mut *ptr::addr_of_mut!(STREAM), pg_sys::MyProcPid) };
    if stream
        .as_ref()
        .is_none_or(|(seeded_in, _)| *seeded_in != pid)
    {
        *stream = None;
    }
    &mut stream.get_or_insert_with(|| (pid, seeded())).1
}

#[cold]
fn seeded() -> ChaCha12Rng {
    ChaCha12Rng::try_from_rng(&mut SysRng).unwrap_or_else(|error| {
        report(
            PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
            "could not generate random values".to_owned(),
            Some(format!("The operating system gave none: {error}.")),
            None,
        )
    })
}

/// 64 random bits.
#[inline]
pub fn bits() -> u64 {
    stream().next_u64()
}

/// Random bytes.
#[inline]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    stream().fill_bytes(&mut bytes);
    bytes
}
