//! The ticks from which this session has minted, by layout and shard: where most ids come from, without a lookup of their
//! lane.
//!
//! A tick is valid until settings change or a lease can be another one, which a generation tells. All else that can change is
//! read for each id, by core.

use crate::pg::backend::local::LocalMut;
use crate::pg::machine::clock;
use crate::snowflake::lane::{ceiling, session};
use crate::snowflake::node::grantor;
use mint_core::{Lane, Layout, Lease, OpenTick};
use std::ptr;

struct Entry {
    tick: OpenTick<'static>,
    shard: u32,
    generation: u32,
}

/// Direct-mapped by layout and shard.
static ENTRIES: [LocalMut<Option<Entry>>; 1_024] = [const { LocalMut::new(None) }; 1_024];

#[inline(always)]
fn entry(layout: &'static Layout, shard: u32) -> &'static LocalMut<Option<Entry>> {
    // A collision only costs time.
    let place = (layout.epoch() as u32 ^ shard) as usize;
    &ENTRIES[place % ENTRIES.len()]
}

/// Returns the tick that was kept of a shard, if it is valid.
///
/// # Safety
/// Nothing is kept while it is used.
#[inline(always)]
unsafe fn known(layout: &'static Layout, shard: u32) -> Option<&'static OpenTick<'static>> {
    // SAFETY: as the caller says.
    let known = unsafe { entry(layout, shard).get() }.as_ref()?;
    let is_valid = ptr::eq(known.tick.layout(), layout)
        && known.shard == shard
        && known.generation == grantor::generation();
    is_valid.then_some(&known.tick)
}

/// Mints the next id of a shard, if it is of the same tick as the last one that [`keep`] was told of.
#[inline(always)]
pub fn next(layout: &'static Layout, shard: u32) -> Option<i64> {
    // SAFETY: what is called reads variables and the clock.
    let id = unsafe { known(layout, shard) }?.next(ceiling::current, clock::now)?;
    session::set_last_id(id);
    Some(id)
}

/// Returns the lane of a shard, and its lease, if they are known.
pub fn place(
    layout: &'static Layout,
    shard: u32,
) -> Option<(&'static Lane, Option<&'static Lease>)> {
    // SAFETY: it is copied.
    unsafe { known(layout, shard) }.map(OpenTick::place)
}

/// Keeps a tick from which an id of a shard was minted. `generation` is that of [`grantor`] before the lease was looked up.
pub fn keep(tick: Option<OpenTick<'static>>, shard: u64, generation: u32) {
    let (Some(tick), Ok(shard)) = (tick, u32::try_from(shard)) else {
        return;
    };
    let new = Entry {
        tick,
        shard,
        generation,
    };
    // SAFETY: it only writes.
    unsafe { entry(tick.layout(), shard).with(|entry| *entry = Some(new)) };
}
