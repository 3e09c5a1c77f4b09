//! A proxy before a registry, which members reach by TCP, and the faults of a network.

use crate::server::process::Server;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// What the proxy lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Everything.
    All,
    /// All but the last six bytes of each answer, which say that the server is ready for the next query. A session
    /// begins as usual.
    AllButTheEnd,
    /// Nothing, in either direction. Connections are accepted, and those that there are stay open.
    Nothing,
}

/// A listener on the loopback interface, which forwards to a server. Dropping it closes all its connections.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: PathBuf,
    passing: Mutex<Passing>,
    /// Both ends of each connection that was accepted.
    ends: Mutex<Vec<(TcpStream, UnixStream)>>,
    /// How many connections were accepted.
    accepted: AtomicUsize,
    /// Of how many of these, the first ones, nothing passes any more.
    forgotten: AtomicUsize,
    is_over: AtomicBool,
}

/// How often a thread looks for a change.
const INTERVAL: Duration = Duration::from_millis(5);
/// The message `ReadyForQuery`, less its last byte.
const READY: [u8; 5] = [b'Z', 0, 0, 0, 5];

impl Proxy {
    /// Starts a proxy that lets everything pass.
    #[must_use]
    pub fn start(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of the loopback interface");
        listener
            .set_nonblocking(true)
            .expect("a listener that does not block");
        let port = listener.local_addr().expect("its address").port();
        let shared = Arc::new(Shared {
            server: server.socket().join(".s.PGSQL.5432"),
            passing: Mutex::new(Passing::All),
            ends: Mutex::new(Vec::new()),
            accepted: AtomicUsize::new(0),
            forgotten: AtomicUsize::new(0),
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
        *locked(&self.shared.passing) = passing;
    }

    /// Returns how many connections it has accepted.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// Forgets the connections that there are, as a firewall does with idle ones: they stay open, and nothing passes.
    pub fn forget(&self) {
        self.shared
            .forgotten
            .store(self.accepted(), Ordering::Relaxed);
    }

    /// Makes a member reach its registry by the proxy.
    pub fn lead(&self, member: &Server) {
        member.connect("postgres").run(&format!(
            "ALTER SERVER registry OPTIONS (SET host '127.0.0.1', SET port '{}')",
            self.port
        ));
    }

    /// Closes all connections.
    pub fn cut(&self) {
        for (client, server) in locked(&self.shared.ends).drain(..) {
            // Either end may be closed already.
            let _ = (
                client.shutdown(Shutdown::Both),
                server.shutdown(Shutdown::Both),
            );
        }
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
        let number = self.accepted.fetch_add(1, Ordering::Relaxed);
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
        let ends = (
            client.try_clone().expect("a copy of a socket"),
            server.try_clone().expect("a copy of a socket"),
        );
        locked(&self.ends).push(ends);
        let (there, back) = (Arc::clone(self), Arc::clone(self));
        spawn(move || there.copy(number, client, server, false));
        spawn(move || back.copy(number, copies.1, copies.0, true));
    }

    /// Copies until either end is closed, and closes the other one.
    fn copy<From: Read, To: Write + Close>(
        &self,
        number: usize,
        mut from: From,
        mut to: To,
        is_answer: bool,
    ) {
        let mut buffer = [0; 65_536];
        let mut had_begun = !is_answer;
        let mut held: Vec<u8> = Vec::new();
        while !self.is_over.load(Ordering::Relaxed) {
            let passing = *locked(&self.passing);
            if passing == Passing::Nothing || number < self.forgotten.load(Ordering::Relaxed) {
                sleep(INTERVAL);
                continue;
            }
            if passing == Passing::All && to.write_all(&std::mem::take(&mut held)).is_err() {
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
            let passes = match passing {
                Passing::AllButTheEnd if is_answer && had_begun && is_end => {
                    bytes.len() - READY.len() - 1
                }
                _ => bytes.len(),
            };
            had_begun |= is_end;
            held.extend(&bytes[passes..]);
            if to.write_all(&bytes[..passes]).is_err() {
                break;
            }
        }
        to.close();
    }
}

/// A socket that can be closed for its other users as well.
trait Close {
    fn close(&self);
}

impl Close for TcpStream {
    fn close(&self) {
        // It may be closed already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Close for UnixStream {
    fn close(&self) {
        // It may be closed already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
