//! Foreign servers of one role that never answer, while other roles draw segments from theirs.

use mint_cluster::{Registry, Server, Session, assert_unique};
use std::net::{TcpListener, TcpStream};

/// A program that accepts connections, and never answers.
struct Silent {
    listener: TcpListener,
    accepted: Vec<TcpStream>,
}

impl Silent {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        Self {
            listener,
            accepted: Vec::new(),
        }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().expect("an address").port()
    }

    /// Returns how many connections there were.
    fn accepted(&mut self) -> usize {
        while let Ok((stream, _)) = self.listener.accept() {
            self.accepted.push(stream);
        }
        self.accepted.len()
    }
}

/// Orders segments from many servers that do not answer, as a role that owns nothing else.
fn attack(server: &Server, port: u16, many: usize) {
    let mut session = server.connect("postgres");
    session.run(
        "CREATE ROLE mallory LOGIN; GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO mallory;
         GRANT CREATE ON SCHEMA public TO mallory",
    );
    let mut mallory = server.connect_as("mallory", "postgres");
    mallory.run("SET pg_mint.max_wait = '10ms'");
    for n in 1..=many {
        mallory.run(&format!(
            "CREATE SERVER silent{n} FOREIGN DATA WRAPPER dblink_fdw
                 OPTIONS (host '127.0.0.1', port '{port}', dbname 'x');
             CREATE USER MAPPING FOR mallory SERVER silent{n} OPTIONS (user 'x', password 'y');
             SELECT segment_create('trap{n}', step => 10, source => 'silent{n}')"
        ));
        let refusal = mallory.refusal(&format!("SELECT segment_next('trap{n}')"));
        assert_eq!(refusal.code, "55000", "{refusal}");
    }
}

fn draw(session: &mut Session) -> i64 {
    session.one("SELECT first FROM segment_next_range('orders', 10)")
}

/// Others wait for one request of that role at most, and a while after its sessions have ended for none.
#[test]
fn silent_servers_of_one_role_delay_others_by_one_request() {
    let Some(central) = Registry::start("a source beside silent ones") else {
        return;
    };
    central.connect().run(
        "SELECT segment_create('orders', step => 10); GRANT USAGE ON SEQUENCE orders TO member",
    );
    let server = central.admit(Server::build("ada"));
    let mut session = server.connect("postgres");
    session.run("SELECT segment_create('orders', step => 10, source => 'registry')");
    let mut drawn = vec![draw(&mut session)];
    let mut silent = Silent::start();
    attack(&server, silent.port(), 20);
    // A round over the servers that do not answer would take a minute.
    session.run("SET pg_mint.max_wait = '20s'");
    drawn.extend((0..4).map(|_| draw(&mut session)));
    server.until("nobody asks for the others any more", || {
        let before = silent.accepted();
        drawn.extend((0..10).map(|_| draw(&mut session)));
        silent.accepted() == before
    });
    assert_unique([&drawn]);
    assert!(silent.accepted() > 0);
}
