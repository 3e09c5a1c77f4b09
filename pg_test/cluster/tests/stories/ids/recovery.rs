//! Point-in-time recovery, and a full disk.

use mint_cluster::load::sessions::while_asking;
use mint_cluster::{Ledger, Server, SmallDisk, assert_ascending, assert_unique, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(7)";
const MANY: &str = "SELECT snowflake_next_id(7) FROM generate_series(1, 1000)";

/// A server recovered to an earlier point covers ids up to that point. Only its clock keeps it from repeating ids from
/// after the point.
#[test]
fn a_restore_to_an_earlier_point_repeats_nothing_of_before_it() {
    let server = Server::build_with_clock("point in time");
    let server = server.archiving().start();
    let mut session = server.connect("postgres");
    let backup = server.backup();
    let before: Vec<i64> = session.column(MANY);
    server.run("SELECT pg_create_restore_point('here')");
    let named = Instant::now();
    sleep(Duration::from_secs(2));
    let after: Vec<i64> = session.column(MANY);
    server.fill_archive();
    server.stop_immediate();

    // Its clock starts some seconds before the point, however long all this takes. So minting waits for the floor, and
    // starts between the two.
    let behind = format!("-{}", named.elapsed().as_secs() + 4);
    let restored = server.restored("restored", backup, "recovery_target_name = 'here'", &behind);
    let mut session = restored.connect("postgres");
    let again: Vec<i64> = restored.until_minted(|| session.try_column(MANY));
    let mut all = before;
    all.extend(&again);
    assert_unique([&all]);
    assert_ascending(&all);
    assert!(
        again.first() < after.first(),
        "the clock was not behind the ids from after the point, so the story shows nothing"
    );

    // With the correct time it is above all ids.
    restored.set_clock("+0");
    let now: Vec<i64> = session.column(MANY);
    all.extend(&now);
    all.extend(&after);
    assert_unique([&all]);
    assert!(now.first() > after.last());
}

/// The WAL disk is full when the ceiling must be raised. The server stops, as it does at any commit then. No id past the
/// old ceiling was issued, and when there is space again, none is repeated.
#[test]
fn a_full_disk_stops_the_server_and_repeats_nothing() {
    let story = "a full disk";
    let disk = or_skip!(SmallDisk::mount(story));
    let server = Server::build_with_clock(story)
        .wal_on(disk)
        // No checkpoint, which would recycle old segments.
        .conf("max_wal_size = '1GB'")
        .conf("restart_after_crash = off")
        .start();
    let mut ledger = Ledger::default();
    let mut records = while_asking(&server.place(), &Ledger::statements(), || {
        sleep(Duration::from_millis(500));
        server.wal_disk().fill();
        // Raises of the ceiling alone would take hours to fill a segment.
        let mut writer = server.connect("postgres");
        let write = "SELECT pg_logical_emit_message(false, '', repeat('x', 100000))::text";
        server.until("the disk is full", || {
            writer.try_one::<String>(write).is_err()
        });
        server.until("the server stops", || !server.is_up());
    });
    assert!(
        server.log().contains("No space left on device"),
        "{}",
        server.log()
    );
    ledger.enter(&mut records);

    server.wal_disk().free();
    server.set_clock("-1");
    server.start_again();
    ledger.assert_was_on_disk(&server);
    ledger.draw(&server);
    assert!(server.one::<i64>(NEXT) > 0);
}
