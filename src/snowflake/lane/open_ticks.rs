//! The ticks from which this session has minted, by layout and shard. Most ids come from them, without a lookup of
//! their lane.
//!
//! A tick is valid until settings change or a lease can be another one, which a generation tells. Core reads all other
//! changing state for each id.

use crate::pg::backend::local::LocalMut;
use crate::pg::machine::clock;
use crate::snowflake::lane::{ceiling, session};
use crate::snowflake::node::grantor;
use mint_core::{Lane, Layout, Lease, OpenTick};
use std::ptr;

/// The shard of ids, as a caller asks for it.
#[derive(Clone, Copy)]
pub enum Key {
    Shard(u32),
    /// The node of this server, which settings, a registry or a cluster choose.
    Own,
}

impl Key {
    /// Returns the number that tells it from others of its kind.
    #[inline(always)]
    fn number(self) -> u32 {
        match self {
            Self::Shard(shard) => shard,
            Self::Own => 0,
        }
    }
}

struct Entry {
    tick: OpenTick<'static>,
    key: u32,
    generation: u32,
}

type Entries<const N: usize> = [LocalMut<Option<Entry>>; N];

/// The ticks of shards, direct-mapped by layout and shard: all those of the default layout have a place of their own.
/// Places that are not used take no memory.
static OF_SHARDS: Entries<8_192> = [const { LocalMut::new(None) }; 8_192];
/// The ticks of the server's own node, direct-mapped by layout.
static OF_NODE: Entries<16> = [const { LocalMut::new(None) }; 16];

#[inline(always)]
fn entry(layout: &'static Layout, key: Key) -> &'static LocalMut<Option<Entry>> {
    // A layout that is kept has an address of its own. A collision only costs time.
    let address = ptr::from_ref(layout).addr();
    match key {
        Key::Shard(shard) => &OF_SHARDS[(address ^ shard as usize) % OF_SHARDS.len()],
        Key::Own => &OF_NODE[address / size_of::<Layout>() % OF_NODE.len()],
    }
}

/// Returns the tick that was kept for a key, if it is valid.
///
/// # Safety
/// No tick is kept while the result is used.
#[inline(always)]
unsafe fn valid_entry(layout: &'static Layout, key: Key) -> Option<&'static Entry> {
    // SAFETY: as the caller says.
    let known = unsafe { entry(layout, key).get() }.as_ref()?;
    let is_valid = ptr::eq(known.tick.layout(), layout)
        && known.key == key.number()
        && known.generation == grantor::generation();
    is_valid.then_some(known)
}

/// Mints the next id of a key, if it is of the same tick as the last one given to [`keep`].
#[inline(always)]
pub fn next(layout: &'static Layout, key: Key) -> Option<i64> {
    // SAFETY: the calls read variables and the clock.
    let id = (unsafe { valid_entry(layout, key) }?.tick).next(ceiling::current, clock::now)?;
    session::set_last_id(id);
    Some(id)
}

/// The source of the ids of a key: the shard, its lane, and its lease.
pub type Place = (u64, &'static Lane, Option<&'static Lease>);

/// Returns the source of the ids of a key, if it is known.
pub fn place(layout: &'static Layout, key: Key) -> Option<Place> {
    // SAFETY: the place is copied.
    unsafe { valid_entry(layout, key) }.map(|known| known.tick.place())
}

/// Keeps a tick from which an id of a key was minted. `generation` is [`grantor`]'s from before the shard's lookup.
pub fn keep(tick: Option<OpenTick<'static>>, key: Key, generation: u32) {
    let Some(tick) = tick else {
        return;
    };
    let new = Entry {
        tick,
        key: key.number(),
        generation,
    };
    // SAFETY: it only writes.
    unsafe { entry(tick.layout(), key).with(|entry| *entry = Some(new)) };
}
