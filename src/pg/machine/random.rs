//! Randomness for ids: a CSPRNG of this process.
//!
//! It is seeded from the operating system at the first draw of each process. A generator seeded before a fork would be
//! the same in every session, so a process does not draw from one that it inherited.

use crate::pg::backend::local::LocalMut;
use crate::pg::error::report;
use crate::pg::machine::server::process_id;
use mint_core::RandomBits;
use pgrx::PgSqlErrorCode;

/// The id of the process that seeded the generator, and the generator.
static STREAM: LocalMut<Option<(u32, RandomBits)>> = LocalMut::new(None);

#[inline]
fn draw<T>(draw: impl FnOnce(&mut RandomBits) -> T) -> T {
    let with = |stream: &mut Option<(u32, RandomBits)>| {
        let pid = process_id();
        if stream
            .as_ref()
            .is_none_or(|(seeded_in, _)| *seeded_in != pid)
        {
            *stream = None;
        }
        draw(&mut stream.get_or_insert_with(|| (pid, new_generator())).1)
    };
    // SAFETY: the generator calls nothing but the operating system.
    unsafe { STREAM.with(with) }
}

#[cold]
fn new_generator() -> RandomBits {
    RandomBits::seeded().unwrap_or_else(|error| {
        report(
            PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
            "could not generate random values",
        )
        .detail(format!(
            "The random source of the operating system failed: {error}."
        ))
        .raise()
    })
}

/// Returns 64 random bits.
#[inline]
pub fn bits() -> u64 {
    draw(RandomBits::bits)
}

/// Returns 64 random bits, if the generator is seeded.
#[inline]
pub fn seeded_bits() -> Option<u64> {
    let draw = |stream: &mut Option<(u32, RandomBits)>| match stream {
        Some((seeded_in, stream)) if *seeded_in == process_id() => Some(stream.bits()),
        _ => None,
    };
    // SAFETY: as in `draw`.
    unsafe { STREAM.with(draw) }
}

/// Returns random bytes.
#[inline]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    draw(|stream| stream.fill(&mut bytes));
    bytes
}
