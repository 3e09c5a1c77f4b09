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

fn interfaces_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn address(interface: &Path) -> Option<String> {
    let text = fs::read_to_string(interface.join("address")).ok()?;
    Some(text.trim().to_owned())
}
