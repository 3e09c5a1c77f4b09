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

/// Mints the next id of a shard, if it is of the same tick as the last one that [`keep`] was told of. If it is not, `later`
/// mints from the lane, under the lease.
#[inline(always)]
pub fn next(
    layout: &'static Layout,
    shard: u32,
    later: impl FnOnce(&'static Lane, Option<&'static Lease>) -> Option<i64>,
) -> Option<i64> {
    // SAFETY: until `later`, which is passed a copy, what is called reads variables and the clock.
    let known = unsafe { entry(layout, shard).get() }.as_ref()?;
    let is_valid = ptr::eq(known.tick.layout(), layout)
        && known.shard == shard
        && known.generation == grantor::generation();
    if !is_valid {
        return None;
    }
    match known.tick.next(ceiling::current, clock::now) {
        Some(id) => {
            session::set_last_id(id);
            Some(id)
        }
        None => {
            let (lane, lease) = known.tick.place();
            later(lane, lease)
        }
    }
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
