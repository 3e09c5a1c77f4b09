//! The table of lanes, with makers of very many lanes.

use mint_core::{Lane, LaneTable, Layout, Lookup, TableCount};

const SLOTS: usize = 2_048;
const LIMIT: u32 = 1_024;

fn layout(number: usize) -> Layout {
    let (minute, second) = (number / 60 % 60, number % 60);
    let hour = number / 3_600;
    format!("time:41 shard:10 seq:12 unit:1ms epoch:2001-01-01T{hour:02}:{minute:02}:{second:02}Z")
        .parse()
        .unwrap()
}

struct Server {
    count: TableCount,
    slots: Vec<Lane>,
}

impl Server {
    fn new() -> Self {
        Self {
            count: TableCount::default(),
            slots: (0..SLOTS).map(|_| Lane::default()).collect(),
        }
    }

    fn table(&self) -> LaneTable<'_> {
        LaneTable::new(&self.count, &self.slots, LIMIT, [0x1234_5678_9abc_def1, 77])
    }

    /// A table whose lanes of single shards are all in use.
    fn full() -> Self {
        let server = Self::new();
        for shard in 0..u64::from(LIMIT) {
            server.table().insert(&layout(0), shard, 1).unwrap();
        }
        server
    }
}

/// Sessions that mint from two lanes must not wait for one cache line. In shared memory, slots follow each other as here.
#[test]
fn neighbors_share_no_cache_line() {
    const LINE: usize = 64;
    let server = Server::new();
    let line = |address: usize| address / LINE;
    for lanes in server.slots.windows(2) {
        let [first, next] = [0, 1].map(|place| std::ptr::from_ref(&lanes[place]).addr());
        let last_byte = first + size_of::<Lane>() - 1;
        assert_eq!(line(first), line(last_byte), "a lane is in one line");
        assert!(line(last_byte) < line(next), "neighbors are in two");
    }
}

#[test]
fn a_maker_cannot_use_up_the_lanes_of_further_layouts() {
    let server = Server::full();
    let table = server.table();
    let (all, share) = table.shares();
    let made = (1..=5_000)
        .filter(|&number| table.insert(&layout(number), 5, 1).is_some())
        .count();
    assert_eq!(made as u32, all / 2 + share);
    // Each of the other shares is free for another maker.
    for maker in 2..=all / 2 / share {
        for number in 0..share {
            let number = 6_000 + (maker * share + number) as usize;
            assert!(table.insert(&layout(number), 5, maker).is_some(), "{maker}");
        }
    }
    // Lanes that exist serve every maker, and maker 0 has no limit.
    assert!(table.insert(&layout(1), 7, 1).is_some());
    assert!(table.insert_shared(&layout(20_000), 0).is_some());
    assert!(table.insert(&layout(20_001), 5, 9_999).is_none());
}

#[test]
fn a_node_without_a_lane_of_its_own_is_found_in_the_shared_one() {
    let server = Server::full();
    let table = server.table();
    assert!(matches!(table.find(&layout(0), 5_000), Lookup::NoOwnLane));
    let made = table.insert(&layout(0), 5_000, 1).unwrap();
    let Lookup::Found(found) = table.find_shared(&layout(0), 5_000) else {
        panic!("not found");
    };
    assert!(std::ptr::eq(made, found));
    assert!(matches!(table.find(&layout(0), 5), Lookup::Found(_)));
}

/// In a full table one slot in four stays vacant, so that a lookup ends after a few.
#[test]
fn slots_stay_vacant() {
    let server = Server::full();
    let table = server.table();
    for number in 1..5_000 {
        let _ = table.insert(&layout(number), 5, number as u32);
    }
    assert!(table.lanes().count() <= SLOTS * 3 / 4);
}
