//! Ticket servers that become more while clients draw, by the procedure of the documents. No ticket is issued twice.

use mint_cluster::load::sessions::{split, while_asking};
use mint_cluster::{Server, assert_unique};
use std::thread::sleep;
use std::time::Duration;

/// Draws as the role `app`, which can be denied to draw while superusers cannot.
const DRAW: &str = "SELECT draw()";
const WHILE: Duration = Duration::from_millis(400);

/// Starts another server, which is one of `servers`.
fn start(others: &[Server], servers: usize, above: i64) -> Server {
    let number = others.len() + 1;
    let builder = Server::build(&format!("ticket server {number}"));
    let server = builder.start();
    let mut session = server.connect("postgres");
    session.run(&format!(
        "CREATE ROLE app;
         SELECT ticket_create('photos', server => {number}, servers => {servers}, above => {above});
         -- Each statement takes values from the sequence.
         ALTER SEQUENCE photos CACHE 20;
         GRANT USAGE ON SEQUENCE photos TO app;
         CREATE FUNCTION draw() RETURNS SETOF bigint LANGUAGE sql VOLATILE SECURITY DEFINER
             AS 'SELECT ticket_next(''photos'') FROM generate_series(1, 20)';
         ALTER FUNCTION draw() OWNER TO app"
    ));
    server
}

/// Stops drawing on all servers, and waits for statements that are running.
fn stop_drawing(servers: &[Server]) {
    for server in servers {
        let mut session = server.connect("postgres");
        session.run("REVOKE USAGE ON SEQUENCE photos FROM app");
        let revoked: String = session.one("SELECT clock_timestamp()::text");
        server.until("running statements end", || {
            session.one(&format!(
                "SELECT NOT EXISTS (SELECT FROM pg_stat_activity
                 WHERE query = '{DRAW}' AND state = 'active' AND query_start < '{revoked}')"
            ))
        });
    }
}

fn draw_again(servers: &[Server]) {
    for server in servers {
        let mut session = server.connect("postgres");
        session.run("GRANT USAGE ON SEQUENCE photos TO app");
    }
}

/// Returns the greatest `last_value` of all servers.
fn greatest(servers: &[Server]) -> i64 {
    let last = |server: &Server| -> i64 { server.one("SELECT last_value FROM photos") };
    servers.iter().map(last).max().expect("servers")
}

/// Runs `story` while two clients draw on each server. Returns what each of them drew.
fn while_drawing(servers: &[Server], story: &mut dyn FnMut()) -> Vec<Vec<i64>> {
    let Some((server, others)) = servers.split_first() else {
        story();
        return Vec::new();
    };
    let mut drawn = Vec::new();
    let records = while_asking(&server.place(), &[DRAW; 2], || {
        drawn = while_drawing(others, story);
    });
    let (lists, refusals) = split(records);
    for refusal in &refusals {
        assert_eq!(refusal.code, "42501", "{refusal}");
    }
    assert!(
        !refusals.is_empty(),
        "{} was never denied to draw",
        server.name()
    );
    drawn.extend(lists);
    drawn
}

#[test]
fn more_ticket_servers_repeat_no_ticket() {
    let mut servers = vec![start(&[], 2, 0)];
    servers.push(start(&servers, 2, 0));
    let mut all = Vec::new();
    let mut above = 0;
    all.extend(while_drawing(&servers, &mut || {
        sleep(WHILE);
        stop_drawing(&servers);
        above = greatest(&servers);
        for (number, server) in servers.iter().enumerate() {
            let number = number + 1;
            let alter = format!(
                "SELECT ticket_alter('photos', server => {number}, servers => 3, above => {above})"
            );
            let first: i64 = server.one(&alter);
            assert!(first > above && first % 3 == number as i64 % 3, "{first}");
        }
        draw_again(&servers);
        sleep(WHILE);
    }));
    servers.push(start(&servers, 3, above));
    // The same by hand, for a fourth server.
    all.extend(while_drawing(&servers, &mut || {
        sleep(WHILE);
        stop_drawing(&servers);
        above = greatest(&servers);
        for (number, server) in servers.iter().enumerate() {
            let number = number as i64 + 1;
            let first = above - above.rem_euclid(4) + 4 + number;
            server.run(&format!(
                "ALTER SEQUENCE photos INCREMENT 4 MINVALUE {number} START {first} RESTART"
            ));
        }
        draw_again(&servers);
        sleep(WHILE);
    }));
    // Numbers that were taken before a crash are skipped, and nothing from before the change comes back.
    for server in &servers {
        server.crash();
        all.push(server.column("SELECT draw()"));
    }
    servers.push(start(&servers, 4, above));
    all.push(servers[3].column("SELECT draw()"));
    for (number, list) in all[all.len() - 4..].iter().enumerate() {
        let number = number as i64 + 1;
        assert!(
            list.iter().all(|ticket| ticket % 4 == number % 4),
            "{list:?}"
        );
    }
    assert_unique(&all);
}
