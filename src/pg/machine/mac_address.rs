//! MAC addresses of the machine's network interfaces.

use mint_core::uuid::version::parse_mac;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the address of the first network interface, by name, that has one. That of the loopback is zero.
pub fn first_address(interfaces: &Path) -> Option<[u8; 6]> {
    let mut interfaces = interfaces_in(interfaces);
    interfaces.sort_by_key(|interface| interface.file_name().map(ToOwned::to_owned));
    interfaces
        .iter()
        .find_map(|interface| parse_mac(&address(interface)?).filter(|&node| node != [0; 6]))
}

/// Returns the addresses of this machine's network interfaces, in the order in which the system numbers them.
pub fn addresses() -> Vec<String> {
    let mut interfaces = interfaces_in(Path::new("/sys/class/net"));
    let number = |interface: &PathBuf| -> Option<u32> {
        let text = fs::read_to_string(interface.join("ifindex")).ok()?;
        text.trim().parse().ok()
    };
    interfaces.sort_by_key(number);
    let all = interfaces.iter().filter_map(|interface| address(interface));
    all.filter(|address| parse_mac(address).is_some_and(|node| node != [0; 6]))
        .collect()
}

fn interfaces_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn address(interface: &Path) -> Option<String> {
    let text = fs::read_to_string(interface.join("address")).ok()?;
    Some(text.trim().to_owned())
}
