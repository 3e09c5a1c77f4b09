//! A record of all ids that clients saw, kept outside of the servers.

use crate::load::sessions::{Record, assert_sound};
use crate::server::process::Server;
use crate::server::session::Session;

/// A lane that clients draw from.
pub struct Lane {
    pub layout: &'static str,
    pub node: u32,
}

/// Lanes with ticks of 1 ms, 10 ms and 1 s, and with epochs on and off a tick of the clock.
pub const LANES: [Lane; 4] = [
    Lane::of("instagram", 7),
    Lane::of("sonyflake", 8),
    Lane::of(
        "time:36 shard:4 seq:20 unit:10ms epoch:2020-02-03T04:05:06.789123Z",
        9,
    ),
    Lane::of(
        "time:34 shard:4 seq:24 unit:1s epoch:2020-02-03T04:05:06.789123Z",
        10,
    ),
];

impl Lane {
    const fn of(layout: &'static str, node: u32) -> Self {
        Self { layout, node }
    }

    /// Returns the statement that draws one id.
    #[must_use]
    pub fn one(&self) -> String {
        format!("SELECT snowflake_next_id({}, '{}')", self.node, self.layout)
    }

    /// Returns the statement that draws several ids in one call.
    #[must_use]
    pub fn many(&self, count: u32) -> String {
        format!(
            "SELECT snowflake_next_ids({}, {count}, '{}')",
            self.node, self.layout
        )
    }
}

/// The ids of [`LANES`] that clients got. Ids entered after a fault must be above all from before it.
#[derive(Default)]
pub struct Ledger {
    highest: [Option<i64>; LANES.len()],
    /// Number of ids entered.
    pub count: usize,
}

impl Ledger {
    /// Returns two statements for each lane, for one client each, in the order of the records that [`Ledger::enter`] takes.
    #[must_use]
    pub fn statements() -> Vec<String> {
        LANES
            .iter()
            .flat_map(|lane| [lane.one(), lane.many(50)])
            .collect()
    }

    /// Enters the ids that the clients of [`Ledger::statements`] got since the last call.
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

    /// Draws one id of each lane and enters it, with retries until the server gives one.
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

    /// Asserts that all ids seen before the server's last start are below the ceiling that was on disk then. Call it before
    /// ids of this start are entered.
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
                "layout {}: id {highest} is {past} s past the ceiling that was on disk",
                lane.layout
            );
        }
    }

    /// Returns the smallest distance between the last id of a lane and the server's floor, in seconds.
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

/// Returns the ceiling that was on disk when the server started.
fn floor(session: &mut Session) -> String {
    // The first call attaches the session to the ceiling, even if it is refused.
    let _ = session.try_one::<i64>("SELECT snowflake_next_id(1000)");
    session.one(
        "SELECT floor::text FROM mint.ceilings WHERE database = current_database() ORDER BY value DESC LIMIT 1",
    )
}
