//! A server is brought back from a backup, or runs out of disk.

use mint_cluster::load::sessions::while_asking;
use mint_cluster::{Ledger, Server, SmallDisk, assert_ascending, assert_unique, say};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(7)";
const MANY: &str = "SELECT snowflake_next_id(7) FROM generate_series(1, 1000)";

/// A server brought back to an earlier point knows what was issued until then. What was issued after it, it cannot
/// know: only its clock keeps it from repeating that.
#[test]
fn a_restore_to_an_earlier_point_repeats_nothing_of_before_it() {
    let Some(server) = Server::build_with_clock("point in time") else {
        return;
    };
    let server = server.archiving().start();
    let mut session = server.connect("postgres");
    let backup = server.backup();
    let before: Vec<i64> = session.column(MANY);
    server.create_restore_point("here");
    let named = Instant::now();
    sleep(Duration::from_secs(2));
    let after: Vec<i64> = session.column(MANY);
    server.fill_archive();
    server.stop_immediate();

    // Its clock begins some seconds before the point, however long all this takes: so it waits for its floor, and mints
    // somewhere between the two.
    let behind = format!("-{}", named.elapsed().as_secs() + 4);
    let restored = server.restored("restored", backup, "here", &behind);
    let mut session = restored.connect("postgres");
    let again: Vec<i64> = restored.until_minted(|| session.try_column(MANY));
    let mut all = before;
    all.extend(&again);
    assert_unique([&all]);
    assert_ascending(&all);
    assert!(
        again.first() < after.first(),
        "the clock was not behind what was issued after the point: nothing was shown"
    );

    // With the right time it is above everything.
    restored.set_clock("+0");
    let now: Vec<i64> = session.column(MANY);
    all.extend(&now);
    all.extend(&after);
    assert_unique([&all]);
    assert!(now.first() > after.last());
}

/// The disk of the WAL is full when the ceiling must move. The server stops, as it does at any commit then. Nothing
/// past the old ceiling was issued, and when there is room again, nothing is repeated.
#[test]
fn a_full_disk_stops_the_server_and_repeats_nothing() {
    let story = "a full disk";
    let (Some(disk), Some(builder)) = (SmallDisk::mount(story), Server::build_with_clock(story))
    else {
        return;
    };
    let server = builder
        .wal_on(disk)
        // No checkpoint, which would let it use old segments again.
        .conf("max_wal_size = '1GB'")
        .conf("restart_after_crash = off")
        .start();
    let mut ledger = Ledger::default();
    let mut records = while_asking(&server.place(), &Ledger::statements(), || {
        sleep(Duration::from_millis(500));
        server.wal_disk().fill();
        // The ceiling alone would take hours to fill a segment.
        let mut writer = server.connect("postgres");
        let write = "SELECT pg_logical_emit_message(false, '', repeat('x', 100000))::text";
        server.until("the disk is full", || {
            writer.try_one::<String>(write).is_err()
        });
        server.until("the server gives up", || !server.is_up());
    });
    assert!(
        server.log().contains("No space left on device"),
        "{}",
        server.log()
    );
    ledger.enter(&mut records);
    say(format!(
        "a full disk: {} ids until the server stopped",
        ledger.count
    ));

    server.wal_disk().free();
    server.set_clock("-1");
    server.start_again();
    ledger.assert_was_on_disk(&server);
    ledger.draw(&server);
    assert!(server.connect("postgres").one::<i64>(NEXT) > 0);
}
