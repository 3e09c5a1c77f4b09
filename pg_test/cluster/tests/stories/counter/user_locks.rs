//! Locks of users: sessions without the privilege to draw take none, and no family can reach another's.

use mint_cluster::{Server, Session};

/// Inverts [`hash`], the finalizer of splitmix64.
fn unhash(hash: u64) -> i64 {
    let unshift = |mut x: u64, by: u32| {
        let y = x;
        for _ in 0..64 / by {
            x = y ^ (x >> by);
        }
        x
    };
    let x = unshift(hash, 31).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let x = unshift(x, 27).wrapping_mul(0x96de_1b17_3f11_9089);
    unshift(x, 30)
        .wrapping_sub(0x9e37_79b9_7f4a_7c15)
        .cast_signed()
}

fn hash(id: i64) -> u64 {
    let id = id.cast_unsigned().wrapping_add(0x9e37_79b9_7f4a_7c15);
    let id = (id ^ (id >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let id = (id ^ (id >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    id ^ (id >> 31)
}

fn oid(session: &mut Session, name: &str) -> u32 {
    session.one(&format!("SELECT '{name}'::regclass::oid"))
}

/// Creates two families of two owners without privileges on each other's.
fn families(server: &Server) -> (Session, Session) {
    let mut setup = server.connect("postgres");
    for name in ["fam", "mall"] {
        setup.run(&format!(
            "CREATE ROLE {name} LOGIN; CREATE SCHEMA {name} AUTHORIZATION {name}"
        ));
        let mut session = server.connect_as(name, "postgres");
        session.run(&format!("SELECT user_sequence_create('{name}.box')"));
        session.run("SET lock_timeout = '300ms'");
    }
    let mut sessions = ["fam", "mall"].map(|name| server.connect_as(name, "postgres"));
    for session in &mut sessions {
        session.run("SET lock_timeout = '300ms'");
    }
    let [fam, mall] = sessions;
    (fam, mall)
}

#[test]
fn no_user_of_one_family_is_locked_by_way_of_another() {
    let server = Server::start("two families");
    let (mut fam, mut mall) = families(&server);
    let mut setup = server.connect("postgres");
    let (theirs, own) = (oid(&mut setup, "fam.box"), oid(&mut setup, "mall.box"));
    assert_eq!(unhash(hash(-7)), -7);
    let spread = |oid: u32| u64::from(oid).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut tried = Vec::new();
    for victim in [7, 42, -1] {
        // Possible lock keys: the hash of the user combined with the family's oid in one way or another.
        let (here, there) = (u64::from(own), u64::from(theirs));
        for mixed in [
            spread(theirs) ^ spread(own),
            there ^ here,
            (there ^ here) << 32,
            0,
        ] {
            let user = unhash(hash(victim) ^ mixed);
            tried.push(user);
            mall.run("BEGIN");
            mall.run(&format!(
                "SELECT user_sequence_next_for_commit('mall.box', {user})"
            ));
            fam.run(&format!(
                "SELECT user_sequence_next_for_commit('fam.box', {victim})"
            ));
            mall.run("ROLLBACK");
        }
    }
    assert_eq!(tried.len(), 12);
    // The lock key has the family's oid.
    mall.run("BEGIN");
    mall.run("SELECT user_sequence_next_for_commit('mall.box', ARRAY[1, 2, 3, 2])");
    let locked: Vec<u32> = setup.column("SELECT classid FROM pg_locks WHERE locktype = 'advisory'");
    assert_eq!(locked, [own; 3]);
}

#[test]
fn a_session_that_may_not_draw_takes_no_lock() {
    let server = Server::start("no right");
    let (mut fam, mut mall) = families(&server);
    let family = oid(&mut server.connect("postgres"), "fam.box");
    let mut writer = server.connect_as("fam", "postgres");
    writer.run("BEGIN; SELECT user_sequence_next_for_commit('fam.box', 99)");
    // The refusal does not wait for a lock.
    for users in ["99", "60", "ARRAY[60, 99]", "ARRAY[99]", "'{}'::bigint[]"] {
        mall.run("BEGIN");
        let refusal = mall.refusal(&format!(
            "SELECT user_sequence_next_for_commit({family}::regclass, {users})"
        ));
        assert_eq!(refusal.code, "42501", "{users}: {refusal}");
        mall.run("ROLLBACK");
    }
    let asked = std::thread::spawn({
        let mut mall = server.connect_as("mall", "postgres");
        move || {
            mall.run("SET statement_timeout = '2s'");
            mall.refusal(&format!(
                "SELECT user_sequence_next_for_commit({family}::regclass, ARRAY(SELECT generate_series(1, 150)))"
            ))
        }
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    // No user was locked meanwhile.
    fam.run("SELECT user_sequence_next_for_commit('fam.box', ARRAY[1, 60, 150])");
    let refusal = asked.join().expect("an answer");
    assert_eq!(refusal.code, "42501", "{refusal}");
    // The revoked privilege is checked again.
    writer.run("COMMIT");
    writer.run("GRANT USAGE ON SCHEMA fam TO mall; GRANT INSERT ON fam.box TO mall");
    mall.run("SELECT user_sequence_next_for_commit('fam.box', ARRAY[60, 99])");
    writer.run("REVOKE INSERT ON fam.box FROM mall; GRANT SELECT ON fam.box TO mall");
    let refusal = mall.refusal("SELECT user_sequence_next_for_commit('fam.box', 60)");
    assert_eq!(refusal.code, "42501", "{refusal}");
}
