//! A login of members that wants the node of another: in a quarantine, too, what is assigned or reserved stays.

use super::assigned_server::{NEXT, ask_again, assert_mints_as, built, start};
use mint_cluster::registry::members::first_id;
use mint_cluster::registry::proxy::Proxy;
use mint_cluster::{Server, Session};

/// Returns a request of a real member to renew its lease, as an expression of SQL.
fn renewal(registry: &mint_cluster::Registry) -> String {
    let ben = registry.admit(Server::build("ben").conf("pg_mint.node = '5'"));
    let proxy = Proxy::start(registry.socket());
    proxy.lead(&ben);
    first_id(&ben, NEXT);
    ask_again(&ben);
    ben.until("a renewal", || proxy.last_request().contains("until"));
    let request = proxy.last_request();
    ben.stop_fast();
    request
}

/// Asks to renew a lease of these nodes that was never granted, by the words of a real request.
fn ask(thief: &mut Session, request: &str, (first, last): (i64, i64), holder: &str) -> String {
    let micros = |when: &str| format!("to_jsonb((extract(epoch FROM {when}) * 1000000)::bigint)");
    let changes = [
        ("{nodes}", format!("'[{first}, {last}]'")),
        ("{holder}", format!("to_jsonb('{holder}'::text)")),
        ("{clock}", micros("clock_timestamp()")),
        ("{lease,id}", "'4242'".to_owned()),
        ("{lease,from}", micros("clock_timestamp() - interval '1 s'")),
        (
            "{lease,until}",
            micros("clock_timestamp() + interval '50 s'"),
        ),
    ];
    let request = changes
        .iter()
        .fold(request.to_owned(), |request, (path, value)| {
            format!("jsonb_set({request}, '{path}', {value})")
        });
    thief.one(&format!("SELECT mint.registry_request({request})::text"))
}

#[test]
fn a_login_takes_no_node_that_is_assigned_or_reserved() {
    let Some((registry, ada, node)) = start("a thief", 5, built()) else {
        return;
    };
    let request = renewal(&registry);
    let mut admin = registry.connect();
    admin.run("SELECT mint.registry_reserve(13, 900, 909, 'the old servers')");
    // Assigned to a server that has never asked.
    let zoes: i64 = admin.one("SELECT mint.registry_assign(13, 'zoe')");
    ada.stop_immediate();
    registry.wait_for_leases();
    admin.run("SELECT mint.registry_begin_quarantine()");
    let all = "SELECT string_agg(format('%s-%s %s', first_node, last_node, holder), ', ' ORDER BY first_node)
         FROM mint_registry.nodes WHERE assigned OR holder = 'the old servers'";
    let before: String = admin.one(all);
    let mut thief = registry.server.connect_as("member", "postgres");
    for (nodes, holder) in [
        ((node, node), "thief"),
        ((node, node), "ada"),
        ((zoes, zoes), "thief"),
        ((900, 909), "thief"),
        ((905, 905), "the old servers"),
        ((zoes.min(node), 8191), "thief"),
    ] {
        let answer = ask(&mut thief, &request, nodes, holder);
        assert!(
            answer.contains(r#""lease": null"#),
            "{nodes:?} {holder}: {answer}"
        );
        assert_eq!(
            admin.one::<String>(all),
            before,
            "{nodes:?} {holder}: {answer}"
        );
    }
    // What nobody has is renewed, as the registry can have forgotten it.
    let answer = ask(&mut thief, &request, (77, 77), "thief");
    assert!(answer.contains(r#""id": 4242"#), "{answer}");
    registry.end_quarantine();
    ada.start_again();
    assert_mints_as(&ada, node);
}
