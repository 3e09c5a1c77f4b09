//! etcd, which has Patroni's leader key, and requests by HTTP.

use crate::server::installation;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The port of Patroni's REST interface.
pub const REST: u16 = 8008;
const PORT: u16 = 2379;
const TIMEOUT: Duration = Duration::from_secs(2);

/// A running etcd. Dropping it kills it.
pub struct Etcd {
    process: Child,
    address: Ipv4Addr,
    _directory: TempDir,
}

impl Etcd {
    /// Starts etcd at an address of this machine. `None` where it is not installed.
    #[must_use]
    pub fn start(address: Ipv4Addr) -> Option<Self> {
        let directory = tempfile::Builder::new()
            .prefix("mint.etcd.")
            .tempdir_in(installation::temporary_directory())
            .expect("a temporary directory");
        let [clients, peers] = [PORT, PORT + 1].map(|port| format!("http://{address}:{port}"));
        let process = Command::new("etcd")
            .args([
                "--name", "etcd", "--enable-v2=true", "--log-level=error", "--data-dir",
            ])
            .arg(directory.path().join("data"))
            .args([
                "--listen-client-urls", &clients, "--advertise-client-urls", &clients,
            ])
            .args([
                "--listen-peer-urls",
                &peers,
                "--initial-advertise-peer-urls",
                &peers,
            ])
            .args(["--initial-cluster", &format!("etcd={peers}")])
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let etcd = Self {
            process,
            address,
            _directory: directory,
        };
        let deadline = Instant::now() + Duration::from_secs(30);
        while request("GET", address, PORT, "/health", "").is_none_or(|(status, _)| status != 200) {
            assert!(Instant::now() < deadline, "etcd does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(etcd)
    }

    /// Returns where it listens, as in Patroni's configuration.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{PORT}", self.address)
    }

    /// Returns the name of the node that has the leader key; no name where no node has it, `None` where etcd does not
    /// answer.
    #[must_use]
    pub fn leader(&self) -> Option<Option<String>> {
        let path = "/v2/keys/service/mint/leader";
        let (status, text) = request("GET", self.address, PORT, path, "")?;
        match status {
            200 => Some(value(&text, "value").map(str::to_owned)),
            404 => Some(None),
            _ => None,
        }
    }

    /// Stops the process, which keeps its connections.
    pub fn freeze(&self) {
        installation::signal("-STOP", self.process.id().to_string());
    }

    /// Continues it.
    pub fn thaw(&self) {
        installation::signal("-CONT", self.process.id().to_string());
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let killed = self.process.kill().and_then(|()| self.process.wait());
        drop(killed);
    }
}

/// Returns the text of a field of JSON, the first that has this name.
fn value<'a>(json: &'a str, field: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{field}\":"))?;
    let (text, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    Some(text)
}

/// Makes a request by HTTP. Returns status and content, or `None` where there is no answer in two seconds.
#[must_use]
pub fn request(
    method: &str,
    address: Ipv4Addr,
    port: u16,
    path: &str,
    content: &str,
) -> Option<(u16, String)> {
    let place = SocketAddr::from((address, port));
    let mut stream = TcpStream::connect_timeout(&place, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    let length = content.len();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: {place}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all((head + content).as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let status = text.split(' ').nth(1)?.parse().ok()?;
    let (_, content) = text.split_once("\r\n\r\n")?;
    Some((status, content.to_owned()))
}

#[test]
fn a_value_of_json_is_found() {
    let json = r#"{"action":"get","node":{"key":"/service/mint/leader","value":"n2","ttl":18}}"#;
    assert_eq!(value(json, "value"), Some("n2"));
    assert_eq!(value(json, "ttl"), None);
}
