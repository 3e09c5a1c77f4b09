//! The name of this machine, and the MAC addresses of its network interfaces.

use mint_core::uuid::version::parse_mac;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the host name, cut off after 255 bytes; empty when the system has none.
pub fn name() -> Vec<u8> {
    let mut name = vec![0_u8; 256];
    // SAFETY: writes at most `len` bytes.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) } != 0 {
        return Vec::new();
    }
    let length = name.iter().position(|&byte| byte == 0);
    name.truncate(length.unwrap_or(name.len()));
    name
}

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
