//! Randomness for ids: a CSPRNG of this process.
//!
//! Seeded from the operating system in the process that draws from it, at the first draw. Nothing is
//! drawn in the postmaster, and a generator of another process is not used: what was seeded before the
//! server forks would be the same in every session.

use crate::pg::backend::local::InPlace;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode, pg_sys};
use rand::rngs::{ChaCha12Rng, SysRng};
use rand::{Rng, SeedableRng};
use std::ffi::c_int;

/// The process that it was seeded in, and the generator.
static STREAM: InPlace<Option<(c_int, ChaCha12Rng)>> = InPlace::new(None);

#[inline]
fn draw<T>(draw: impl FnOnce(&mut ChaCha12Rng) -> T) -> T {
    let with = |stream: &mut Option<(c_int, ChaCha12Rng)>| {
        // SAFETY: a plain integer, set when the process begins.
        let pid = unsafe { pg_sys::MyProcPid };
        if stream
            .as_ref()
            .is_none_or(|(seeded_in, _)| *seeded_in != pid)
        {
            *stream = None;
        }
        draw(&mut stream.get_or_insert_with(|| (pid, seeded())).1)
    };
    // SAFETY: the generator calls nothing but the operating system.
    unsafe { STREAM.with(with) }
}

#[cold]
fn seeded() -> ChaCha12Rng {
    ChaCha12Rng::try_from_rng(&mut SysRng).unwrap_or_else(|error| {
        report(
            PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
            "could not generate random values",
        )
        .detail(format!("The operating system gave none: {error}."))
        .raise()
    })
}

/// 64 random bits.
#[inline]
pub fn bits() -> u64 {
    draw(Rng::next_u64)
}

/// Random bytes.
#[inline]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    draw(|stream| stream.fill_bytes(&mut bytes));
    bytes
}
