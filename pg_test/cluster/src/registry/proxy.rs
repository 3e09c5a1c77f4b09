//! A proxy before a registry, which members reach by TCP, and the faults of a network.

use crate::server::process::Server;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// The messages that the proxy lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Everything.
    All,
    /// All but the last six bytes of each answer, which say that the server is ready for the next query. A session
    /// begins as usual.
    AllButTheEnd,
    /// Everything, each piece of it after [`DELAY`].
    Slowly,
    /// Nothing, in either direction. Connections are accepted, and those that there are stay open.
    Nothing,
}

/// A fault of one answer of the registry, which has written what the answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spoiling {
    /// It never arrives, and the connection stays open.
    Lost,
    /// The connection is closed instead.
    Cut,
    /// The connection is closed in the middle of it.
    Half,
    /// It arrives when the member waits no more.
    Late,
    /// It arrives twice.
    Twice,
}

impl Spoiling {
    /// Each once.
    pub const ALL: [Self; 5] = [Self::Lost, Self::Cut, Self::Half, Self::Late, Self::Twice];
}

/// A listener on the loopback interface, which forwards to a server. Dropping it closes all its connections.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: PathBuf,
    passing: Mutex<Passing>,
    connections: Mutex<Vec<Connection>>,
    /// The fault of the next answer to a request for a lease.
    spoiling: Mutex<Option<Spoiling>>,
    /// The number of accepted connections.
    accepted: AtomicUsize,
    is_over: AtomicBool,
}

/// A connection that was accepted.
struct Connection {
    client: TcpStream,
    server: UnixStream,
    state: Arc<State>,
}

/// The state that both directions of a connection share.
#[derive(Default)]
struct State {
    /// True if nothing passes any more.
    is_silent: AtomicBool,
    /// True if a request for a lease has no answer yet.
    asks: AtomicBool,
}

/// The delay of a piece of a message where everything passes slowly.
pub const DELAY: Duration = Duration::from_millis(300);
/// The time between two looks of a thread for a change.
const INTERVAL: Duration = Duration::from_millis(5);
/// The message `ReadyForQuery`, less its last byte.
const READY: [u8; 5] = [b'Z', 0, 0, 0, 5];
/// The text of every statement that requests a lease.
const REQUEST: &str = "mint.registry_request(";
/// The delay of a late answer: longer than members wait.
const LATE: Duration = Duration::from_millis(3_500);

impl Proxy {
    /// Starts a proxy that lets everything pass, to the server whose socket is in a folder.
    #[must_use]
    pub fn start(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback interface");
        listener
            .set_nonblocking(true)
            .expect("a listener that does not block");
        let port = listener.local_addr().expect("its address").port();
        let shared = Arc::new(Shared {
            server: folder.join(".s.PGSQL.5432"),
            passing: Mutex::new(Passing::All),
            connections: Mutex::new(Vec::new()),
            spoiling: Mutex::new(None),
            accepted: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        spawn(move || {
            while !accepting.is_over.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((client, _)) => accepting.forward(client),
                    Err(_) => sleep(INTERVAL),
                }
            }
        });
        Self { port, shared }
    }

    /// Returns the port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes what passes from now on.
    pub fn let_pass(&self, passing: Passing) {
        *lock(&self.shared.passing) = passing;
    }

    /// Spoils the next answer to a request for a lease, and no other.
    pub fn spoil(&self, spoiling: Spoiling) {
        *lock(&self.shared.spoiling) = Some(spoiling);
    }

    /// Returns whether no answer is to be spoiled any more.
    #[must_use]
    pub fn has_spoiled(&self) -> bool {
        lock(&self.shared.spoiling).is_none()
    }

    /// Returns how many connections it has accepted.
    #[must_use]
    pub fn count_accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// Makes a member reach its registry by the proxy.
    pub fn lead(&self, member: &Server) {
        member.run(&format!(
            "ALTER SERVER registry OPTIONS (SET host '127.0.0.1', SET port '{}')",
            self.port
        ));
    }

    /// Closes all connections.
    pub fn cut(&self) {
        lock(&self.shared.connections).drain(..).for_each(close);
    }

    /// Lets nothing pass any more on the connections that there are, and tells neither end, as a firewall does with idle
    /// ones. New ones are not affected.
    pub fn silence(&self) {
        for connection in lock(&self.shared.connections).iter() {
            connection.state.is_silent.store(true, Ordering::Relaxed);
        }
    }

    /// Closes the connections on which nothing passes, as both ends do when they find out.
    pub fn cut_silent(&self) {
        let mut connections = lock(&self.shared.connections);
        let all = connections.drain(..);
        let (silent, others): (Vec<_>, Vec<_>) =
            all.partition(|connection| connection.state.is_silent.load(Ordering::Relaxed));
        *connections = others;
        silent.into_iter().for_each(close);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.cut();
    }
}

impl Shared {
    fn forward(self: &Arc<Self>, client: TcpStream) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        // The server may be down: then the client is, too.
        let Ok(server) = UnixStream::connect(&self.server) else {
            return;
        };
        let copies = (
            client.try_clone().expect("a copy of a socket"),
            server.try_clone().expect("a copy of a socket"),
        );
        for socket in [&client, &copies.0] {
            socket.set_nonblocking(false).expect("a socket that blocks");
            socket.set_read_timeout(Some(INTERVAL)).expect("a timeout");
        }
        server.set_read_timeout(Some(INTERVAL)).expect("a timeout");
        let state = Arc::new(State::default());
        lock(&self.connections).push(Connection {
            client: client.try_clone().expect("a copy of a socket"),
            server: server.try_clone().expect("a copy of a socket"),
            state: Arc::clone(&state),
        });
        let (there, back) = (Arc::clone(self), Arc::clone(self));
        let other = Arc::clone(&state);
        spawn(move || there.copy(client, server, &state, false));
        spawn(move || back.copy(copies.1, copies.0, &other, true));
    }

    /// Copies until either end is closed, and closes the other one.
    fn copy<From: Read, To: Write + Close>(
        &self,
        mut from: From,
        mut to: To,
        state: &State,
        is_answer: bool,
    ) {
        let mut buffer = [0; 65_536];
        let mut had_begun = !is_answer;
        let mut is_lost = false;
        let mut held: Vec<u8> = Vec::new();
        while !self.is_over.load(Ordering::Relaxed) {
            let passing = *lock(&self.passing);
            if passing == Passing::Nothing || state.is_silent.load(Ordering::Relaxed) {
                sleep(INTERVAL);
                continue;
            }
            if passing != Passing::AllButTheEnd && to.write_all(&std::mem::take(&mut held)).is_err()
            {
                break;
            }
            let bytes = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(bytes) => &buffer[..bytes],
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    continue;
                }
                Err(_) => break,
            };
            let is_end = bytes.len() > READY.len() && bytes[..bytes.len() - 1].ends_with(&READY);
            let spoiling = is_answer.then(|| self.spoiling_of(state)).flatten();
            if !is_answer {
                note_request(state, bytes);
            }
            is_lost |= spoiling == Some(Spoiling::Lost);
            let passes = match (passing, spoiling) {
                _ if is_lost => 0,
                (_, Some(Spoiling::Cut)) => break,
                (_, Some(Spoiling::Half)) => bytes.len() / 2,
                (Passing::AllButTheEnd, _) if is_answer && had_begun && is_end => {
                    bytes.len() - READY.len() - 1
                }
                _ => bytes.len(),
            };
            had_begun |= is_end;
            if !is_lost {
                held.extend(&bytes[passes..]);
            }
            is_lost &= !is_end;
            match (passing, spoiling) {
                (Passing::Slowly, _) => sleep(DELAY),
                (_, Some(Spoiling::Late)) => sleep(LATE),
                _ => {}
            }
            let times = if spoiling == Some(Spoiling::Twice) {
                2
            } else {
                1
            };
            if to.write_all(&bytes[..passes].repeat(times)).is_err()
                || spoiling == Some(Spoiling::Half)
            {
                break;
            }
        }
        to.close();
    }

    /// Returns what becomes of an answer that has begun to arrive.
    fn spoiling_of(&self, state: &State) -> Option<Spoiling> {
        let is_due = state.asks.swap(false, Ordering::Relaxed);
        is_due.then(|| lock(&self.spoiling).take()).flatten()
    }
}

/// Notes that a member requests a lease.
fn note_request(state: &State, bytes: &[u8]) {
    if String::from_utf8_lossy(bytes).contains(REQUEST) {
        state.asks.store(true, Ordering::Relaxed);
    }
}

fn close(connection: Connection) {
    // Either end can be closed already.
    let _ = (
        connection.client.shutdown(Shutdown::Both),
        connection.server.shutdown(Shutdown::Both),
    );
    connection.state.is_silent.store(false, Ordering::Relaxed);
}

/// A socket that can be closed for its other users as well.
trait Close {
    fn close(&self);
}

impl Close for TcpStream {
    fn close(&self) {
        // It can be closed already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Close for UnixStream {
    fn close(&self) {
        // It can be closed already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
