//! What clients saw, kept where no server can lose it.

use crate::load::sessions::{Record, assert_sound};
use crate::server::process::Server;
use crate::server::session::Session;

/// A lane that clients draw from.
pub struct Lane {
    pub layout: &'static str,
    pub node: u32,
}

/// Ticks of a millisecond, ten, and a second; epochs on a tick of the clock and off it.
pub const LANES: [Lane; 4] = [
    Lane {
        layout: "instagram",
        node: 7,
    },
    Lane {
        layout: "sonyflake",
        node: 8,
    },
    Lane {
        layout: "time:36 node:4 seq:20 unit:10ms epoch:2020-02-03T04:05:06.789123Z",
        node: 9,
    },
    Lane {
        layout: "time:34 node:4 seq:24 unit:1s epoch:2020-02-03T04:05:06.789123Z",
        node: 10,
    },
];

impl Lane {
    /// Draws one id.
    #[must_use]
    pub fn one(&self) -> String {
        format!("SELECT snowflake_next_id({}, '{}')", self.node, self.layout)
    }

    /// Draws several in one call.
    #[must_use]
    pub fn many(&self, count: u32) -> String {
        format!(
            "SELECT snowflake_next_ids({}, {count}, '{}')",
            self.node, self.layout
        )
    }
}

/// The ids of [`LANES`] that clients were given. One page a fault: what is entered on one must be above all before it.
#[derive(Default)]
pub struct Ledger {
    highest: [Option<i64>; LANES.len()],
    /// How many ids were entered.
    pub count: usize,
}

impl Ledger {
    /// Two statements for each lane, for one client each, in the order in which [`Ledger::enter`] takes their records.
    #[must_use]
    pub fn statements() -> Vec<String> {
        LANES
            .iter()
            .flat_map(|lane| [lane.one(), lane.many(50)])
            .collect()
    }

    /// Enters what the clients of [`Ledger::statements`] were given meanwhile.
    #[track_caller]
    pub fn enter(&mut self, records: &mut [Record]) {
        for (lane, records) in records.chunks_mut(2).enumerate() {
            let lists: Vec<Vec<i64>> = records
                .iter_mut()
                .map(|record| std::mem::take(&mut record.ids))
                .collect();
            assert_sound(&lists);
            let all = || lists.iter().flatten();
            if let (Some(&lowest), Some(highest)) = (all().min(), self.highest[lane]) {
                assert!(
                    lowest > highest,
                    "layout {}: id {lowest} was issued after {highest}",
                    LANES[lane].layout
                );
            }
            self.highest[lane] = self.highest[lane].max(all().max().copied());
            self.count += all().count();
        }
    }

    /// Draws one id of each lane, waiting for as long as it takes, and enters them.
    #[track_caller]
    pub fn draw(&mut self, server: &Server) {
        for (number, lane) in LANES.iter().enumerate() {
            let id: i64 =
                server.until_minted(|| server.place().try_connect()?.try_one(&lane.one()));
            self.enter_one(number, id);
        }
    }

    /// Enters an id of `LANES[lane]`.
    #[track_caller]
    pub fn enter_one(&mut self, lane: usize, id: i64) {
        assert!(
            Some(id) > self.highest[lane],
            "layout {}: id {id} was issued after {:?}",
            LANES[lane].layout,
            self.highest[lane]
        );
        self.highest[lane] = Some(id);
        self.count += 1;
    }

    /// No id that was seen before the server's last start is at or past what was on disk then. To be asked before the
    /// ledger has ids of this start.
    #[track_caller]
    pub fn assert_was_on_disk(&self, server: &Server) {
        let mut session = server.connect("postgres");
        let floor = floor(&mut session);
        for (lane, highest) in LANES.iter().zip(self.highest) {
            let Some(highest) = highest else { continue };
            let past: f64 = session.one(&format!(
                "SELECT extract(epoch FROM snowflake_time({highest}, '{}') - '{floor}')::float8",
                lane.layout
            ));
            assert!(
                past < 0.0,
                "layout {}: id {highest} was issued, and is {past} s past the ceiling that was on disk",
                lane.layout
            );
        }
    }

    /// How far below the server's floor the last id of any lane is, in seconds.
    #[must_use]
    pub fn below_floor(&self, server: &Server) -> f64 {
        let mut session = server.connect("postgres");
        let floor = floor(&mut session);
        LANES
            .iter()
            .zip(self.highest)
            .filter_map(|(lane, highest)| {
                Some(session.one(&format!(
                    "SELECT extract(epoch FROM '{floor}' - snowflake_time({}, '{}'))::float8",
                    highest?, lane.layout
                )))
            })
            .fold(f64::INFINITY, f64::min)
    }
}

/// The ceiling that was on disk when the server started.
fn floor(session: &mut Session) -> String {
    // The first call attaches to the ceiling, also when it is refused.
    let _ = session.try_one::<i64>("SELECT snowflake_next_id(1000)");
    session.one(
        "SELECT floor::text FROM pg_mint_ceilings WHERE database = current_database() ORDER BY value DESC LIMIT 1",
    )
}
