//! A registry with as many leases as a large fleet has, and requests for them by SQL.

use crate::registry::members::{Registry, request_sql};
use crate::server::session::Session;
use std::{thread::sleep, time::Duration};

/// Width of the nodes that are leased: there are more of them than leases.
pub const WIDTH: u32 = 16;

/// Writes leases as the registry does, from the middle up, of nobody who renews them; and makes `renew(number)`, the
/// renewal of one of them.
pub fn fill(registry: &Registry, leases: i64) {
    let demand = "{\"renewal\": 0}";
    let renew = request_sql(WIDTH, demand).replace(
        &format!("'{demand}'::jsonb"),
        "jsonb_build_object('renewal', jsonb_build_object('node', node, 'number', number,
             'from', (extract(epoch FROM lease_from) * 1000000)::bigint, 'until', (extract(epoch FROM lease_until) * 1000000)::bigint))",
    );
    registry.connect().run(&format!(
        "INSERT INTO mint.registry_leases (node_bits, node, number, holder, lease_from, lease_until)
         SELECT {WIDTH}, 32768 + g, hashint8extended(g, 1), 'member ' || g, date_trunc('ms', clock_timestamp()),
             date_trunc('ms', clock_timestamp()) + '30 s'
         FROM generate_series(0, {leases} - 1) AS g;
         ANALYZE mint.registry_leases;
         CREATE FUNCTION renew(bigint) RETURNS jsonb LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
             SELECT {renew} FROM mint.registry_leases WHERE node_bits = {WIDTH} AND node = 32768 + $1
         $$"
    ));
    // The registry begins its wait, as it did not write these.
    registry.end_wait();
}

/// Returns the answers to requests for one node each, from sessions of which each sends one, all at once.
pub fn ask_at_once(registry: &Registry, sessions: usize, width: u32) -> Vec<String> {
    let config = registry.server.config(&registry.database, "member");
    let connect = |_| Session::open(&config).expect("a session");
    let all: Vec<Session> = (0..sessions).map(connect).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = all
            .into_iter()
            .zip(1..)
            .map(|(mut session, number)| {
                let demand = format!("{{\"grant\": {number}}}");
                let sql = format!("SELECT {}::text", request_sql(width, &demand));
                scope.spawn(move || {
                    loop {
                        // A request gives up a lock or is told to wait, and its member asks again.
                        match session.try_one::<String>(&sql) {
                            Err(refusal) if refusal.code == "55P03" => {}
                            Ok(answer) if answer.contains("wait") => sleep(Duration::from_secs(1)),
                            answer => return answer.unwrap_or_else(|refusal| refusal.to_string()),
                        }
                    }
                })
            })
            .collect();
        let ends = threads.into_iter();
        ends.map(|thread| thread.join().expect("an answer"))
            .collect()
    })
}
