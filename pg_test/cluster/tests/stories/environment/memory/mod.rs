//! Memory of very many calls, in one statement and in one function: none of it is leaked.

mod exhausted;
mod library;
mod scarce;

use mint_cluster::{Server, Session, count, say};

/// Memory that a statement can take at its peak beyond the statement before it. A leak of a byte or two per call is more.
const SLACK_IN_KB: i64 = 3_000;

/// Calls with a row number `g`, and by how much their number is divided: some are slow by nature.
#[rustfmt::skip]
const CALLS: &[(&str, i64)] = &[
    ("snowflake_next_id(5)", 4),
    ("snowflake_next_id()", 4),
    ("snowflake_next_id((g & 7)::int, 'twitter')", 4),
    ("snowflake_next('mastodon')", 1),
    ("snowflake_last_id()", 1),
    ("(SELECT count(*) FROM snowflake_next_ids(6, 3 + (g & 1)))", 40),
    ("snowflake_start_above(snowflake_last_id())", 4),
    ("snowflake_shard_from_parts(ARRAY[3, (g & 31)::int], 'twitter')", 2),
    ("snowflake_time(g)", 1),
    ("snowflake_shard(g)", 1),
    ("snowflake_sequence(g, 'twitter')", 1),
    ("(SELECT shard FROM snowflake_decode(g))", 2),
    ("snowflake_is_valid(g, ('twit' || 'ter' || left(g::text, 0)))", 2),
    ("snowflake_encode(timestamptz '2026-01-01' + g * interval '1 ms', 5, 1)", 1),
    ("snowflake_min(timestamptz '2026-01-01' + g * interval '1 ms')", 1),
    ("snowflake_max(timestamptz '2026-01-01' + g * interval '1 ms')", 1),
    ("mint.snowflake_min_after(timestamptz '2026-01-01' + g * interval '1 ms')", 1),
    ("mint.snowflake_max_before(timestamptz '2026-01-01' + g * interval '1 ms')", 1),
    ("snowflake_between(g, now(), now())", 1),
    ("snowflake_scatter(g, 8)", 1),
    ("snowflake_unscatter(g, 8)", 1),
    ("format('time:41 shard:%s seq:8 unit:1ms epoch:2020-01-01T00:00:00Z', 1 + (g & 7))::snowflake_layout", 4),
    ("(CASE g & 1 WHEN 0 THEN 'twitter' ELSE 'sonyflake' END)::snowflake_layout::text", 4),
    ("mint.snowflake_layout_send((CASE g & 1 WHEN 0 THEN 'twitter' ELSE 'sonyflake' END)::snowflake_layout)", 4),
    ("(SELECT count(*) FROM snowflake_layouts() WHERE g > 0)", 400),
    (
        "(SELECT shards FROM snowflake_layouts((CASE g & 1 WHEN 0 THEN 'twitter' ELSE 'sonyflake' END)::snowflake_layout))",
        40,
    ),
    ("uuid_v1()", 1),
    ("uuid_v3('dns', g::text)", 4),
    ("uuid_v4()", 1),
    ("uuid_v5('dns', g::text)", 4),
    ("uuid_v6()", 1),
    ("uuid_v7()", 1),
    ("uuid_v7(timestamptz '2026-01-01' + g * interval '1 ms')", 1),
    ("uuid_v8(decode(lpad(to_hex(g), 32, '0'), 'hex'))", 4),
    ("uuid_v1_to_v6(uuid_v1())", 1),
    ("uuid_v6_to_v1(uuid_v6())", 1),
    ("uuid_version_of(uuid_v7())", 1),
    ("uuid_time(uuid_v7())", 1),
    ("uuid_node(uuid_v1())", 2),
    ("uuid_to_bin(uuid_v4(), true)", 1),
    ("bin_to_uuid(uuid_to_bin(uuid_v4(), true), true)", 2),
    ("uuid_to_bin(uuid_v4(), 1)", 4),
    ("is_uuid(g::text)", 2),
    ("uuid_v7_min(timestamptz '2026-01-01' + g * interval '1 ms')", 1),
    ("objectid()", 1),
    ("objectid_legacy()", 1),
    ("objectid()::text", 2),
    ("lpad(to_hex(g), 24, '0')::objectid", 2),
    ("objectid_time(objectid())", 1),
    ("mint.objectid_to_bytea(objectid())", 1),
    ("mint.objectid_from_bytea(mint.objectid_to_bytea(objectid()))", 2),
    ("mint.objectid_hash(objectid())", 1),
    ("objectid_min(timestamptz '2026-01-01' + g * interval '1 s')", 1),
    ("objectid() < objectid()", 1),
    ("id_to_text(g)", 1),
    ("id_to_text(g, 'base62')", 2),
    ("id_from_text(id_to_text(g))", 2),
    ("id_conceal(g, '\\x000102030405060708090a0b0c0d0e0f')", 4),
    ("id_reveal(g, '\\x000102030405060708090a0b0c0d0e0f')", 4),
    ("auto_random(g, 5, 64)", 1),
    ("auto_random_shard(g, 5, 64)", 1),
    ("mint.sequence_table_bounds(g & 1023, 1024, 2)", 4),
    ("segment_next('tag')", 1),
    ("(SELECT r.last FROM segment_next_range('tag', 3 + (g & 1)) r)", 40),
    ("segment_last('tag')", 1),
    ("segment_current('tag')", 4),
    ("ticket_next('ticket')", 4),
    ("ticket_last('ticket')", 1),
    ("ticket_current('ticket')", 4),
    ("user_sequence_next('family', g & 65535)", 2),
    ("(SELECT r.last FROM user_sequence_next_range('family', g & 1023, 2) r)", 40),
    ("user_sequence_current('family', g & 65535)", 2),
    ("(SELECT count(*) FROM mint.lanes WHERE g > 0)", 4_000),
    ("(SELECT count(*) FROM mint.segments WHERE g > 0)", 4_000),
    ("(SELECT count(*) FROM mint.ceilings WHERE g > 0)", 4_000),
];

/// Returns a line of `/proc/PID/status`, in kB.
fn memory(pid: i32, line: &str) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a running session");
    let found = status
        .lines()
        .find_map(|text| text.strip_prefix(line)?.split_whitespace().nth(1));
    found
        .and_then(|number| number.parse().ok())
        .expect("a number of kB")
}

/// Returns by how much a statement raises the peak of a session's own memory, in kB.
///
/// Pages of shared memory that it is the first to touch, say of WAL buffers that others filled, count as a session's own to
/// the kernel; they stay mapped, so what they added at the end is what they added to the peak.
fn growth(session: &mut Session, sql: &str) -> i64 {
    // Resets the peak.
    std::fs::write(format!("/proc/{}/clear_refs", session.pid), "5").expect("a session of ours");
    let before = memory(session.pid, "VmRSS");
    let shared = memory(session.pid, "RssShmem");
    if let Err(refusal) = session.try_run(sql) {
        panic!("{sql}\n{refusal}");
    }
    let shared = memory(session.pid, "RssShmem") - shared;
    let by = memory(session.pid, "VmHWM") - before;
    by - shared
}

/// Returns one statement of many calls, and one with a loop of as many calls.
fn statements(call: &str, times: i64) -> [String; 2] {
    // In the select list a series returns its rows one by one and is not stored.
    [
        format!(
            "SELECT count({call}) FROM (SELECT generate_series(1::bigint, {times}) AS g OFFSET 0) series"
        ),
        format!(
            "DO $$ DECLARE g bigint := 0; none boolean; BEGIN WHILE g < {times} LOOP g := g + 1; none := ({call}) IS NULL; END LOOP; END $$"
        ),
    ]
}

/// Returns whether the kernel tells the peak of a process.
fn can_measure() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

#[test]
fn very_many_calls_leak_no_memory() {
    if !can_measure() {
        return say("SKIPPED memory: the kernel does not tell the peak of a process");
    }
    // A compiler of queries takes 57 MB when it is first used, in a statement of many calls.
    let server = Server::build("memory")
        .conf("pg_mint.node = 3")
        .conf("jit = off")
        .start();
    server.run(
        "SELECT segment_create('tag', 100000); SELECT ticket_create('ticket'); SELECT user_sequence_create('family')",
    );
    let many = count(10_000_000, 60_000);
    let grown: Vec<String> = std::thread::scope(|scope| {
        let halves: Vec<_> = (0..2)
            .map(|half| {
                let server = &server;
                scope.spawn(move || {
                    let mine = CALLS.iter().skip(half).step_by(2);
                    mine.flat_map(|(call, part)| leaks(server, call, (many / part).max(10)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        halves
            .into_iter()
            .flat_map(|half| half.join().expect("a half of the calls"))
            .collect()
    });
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}

/// Returns a line for each statement that grows by more than the slack.
fn leaks(server: &Server, call: &str, times: i64) -> Vec<String> {
    let mut grown = Vec::new();
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5), segment_next('tag'), ticket_next('ticket')");
    // A loop costs more than its calls, so it has fewer of them.
    for (times, way) in [(times, 0), ((times / 5).max(10), 1)] {
        // The first statement allocates what a session keeps on purpose.
        session.run(&statements(call, (times / 20).max(1_000).min(times))[way]);
        let by = growth(&mut session, &statements(call, times)[way]);
        if by > SLACK_IN_KB {
            grown.push(format!("{call}: {by} kB in {times} calls"));
        }
    }
    grown
}

/// The measurement finds memory that a session does keep.
#[test]
fn kept_memory_is_measured() {
    if !can_measure() {
        return say("SKIPPED memory: the kernel does not tell the peak of a process");
    }
    let server = Server::start("memory that is kept");
    let mut session = server.connect("postgres");
    let keep = "SELECT count(set_config('kept.n' || g, repeat('x', 20000), false)) FROM (SELECT generate_series(1, 400) AS g OFFSET 0) t";
    let by = growth(&mut session, keep);
    assert!(by > SLACK_IN_KB, "400 settings of 20 kB take {by} kB");
}
