//! A network of machines: a namespace for each, joined by a bridge. Only root can make it.

use crate::report::say;
use crate::server::installation;
use std::net::Ipv4Addr;
use std::process::Command;

/// The network. Dropping it removes the namespaces and the bridge.
pub struct Network {
    /// Begins the names of its namespaces and interfaces, which have no room for more than 15 letters.
    prefix: String,
    subnet: [u8; 3],
    machines: u8,
}

impl Network {
    /// Creates a network of so many machines. `None`, with a message, where that is not permitted.
    #[must_use]
    pub fn start(story: &str, machines: u8) -> Option<Self> {
        let process = std::process::id();
        let network = Self {
            prefix: format!("mint{}", process % 100_000),
            // Nothing else has the addresses for tests of networks (RFC 2544).
            subnet: [198, 18, (process % 251) as u8],
            machines,
        };
        let bridge = network.bridge();
        if !network.try_ip(&["link", "add", &bridge, "type", "bridge"]) {
            say(format!(
                "SKIPPED {story}: network namespaces take root, and the program ip (package iproute2)"
            ));
            return None;
        }
        network.ip(&[
            "addr",
            "add",
            &format!("{}/24", network.address(0)),
            "dev",
            &bridge,
        ]);
        network.ip(&["link", "set", &bridge, "up"]);
        for machine in 1..=machines {
            network.add(machine);
        }
        Some(network)
    }

    fn add(&self, machine: u8) {
        let (namespace, link) = (self.namespace(machine), self.link(machine));
        self.ip(&["netns", "add", &namespace]);
        self.ip(&[
            "link", "add", &link, "type", "veth", "peer", "name", "eth0", "netns", &namespace,
        ]);
        self.ip(&["link", "set", &link, "master", &self.bridge()]);
        self.ip(&["link", "set", &link, "up"]);
        let inside = |arguments: &[&str]| self.ip(&[&["-n", &namespace], arguments].concat());
        inside(&[
            "addr",
            "add",
            &format!("{}/24", self.address(machine)),
            "dev",
            "eth0",
        ]);
        inside(&["link", "set", "eth0", "up"]);
        inside(&["link", "set", "lo", "up"]);
    }

    /// Returns the address of a machine; 0 is the one that the tests run on.
    #[must_use]
    pub fn address(&self, machine: u8) -> Ipv4Addr {
        let [a, b, c] = self.subnet;
        Ipv4Addr::new(a, b, c, 10 + machine)
    }

    /// Returns the network as `pg_hba.conf` has it.
    #[must_use]
    pub fn cidr(&self) -> String {
        let [a, b, c] = self.subnet;
        format!("{a}.{b}.{c}.0/24")
    }

    /// Returns a command that runs a program on a machine.
    #[must_use]
    pub fn command_on(&self, machine: u8) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(machine)]);
        command
    }

    /// Cuts a machine off: no packet reaches it, and no connection to it is closed.
    pub fn cut(&self, machine: u8) {
        self.ip(&["link", "set", &self.link(machine), "down"]);
    }

    /// Joins a machine to the network again.
    pub fn join(&self, machine: u8) {
        self.ip(&["link", "set", &self.link(machine), "up"]);
    }

    fn bridge(&self) -> String {
        format!("{}b", self.prefix)
    }

    fn link(&self, machine: u8) -> String {
        format!("{}v{machine}", self.prefix)
    }

    fn namespace(&self, machine: u8) -> String {
        format!("{}n{machine}", self.prefix)
    }

    fn ip(&self, arguments: &[&str]) {
        installation::run(Command::new("ip").args(arguments));
    }

    fn try_ip(&self, arguments: &[&str]) -> bool {
        let output = Command::new("ip").args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for machine in 1..=self.machines {
            self.try_ip(&["netns", "delete", &self.namespace(machine)]);
            self.try_ip(&["link", "delete", &self.link(machine)]);
        }
        self.try_ip(&["link", "delete", &self.bridge()]);
    }
}
