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

/// Returns the address of the first network interface, by name, that has one. The loopback's address is zero.
pub fn first_address(interfaces: &Path) -> Option<[u8; 6]> {
    let entries = fs::read_dir(interfaces).into_iter().flatten().flatten();
    let mut interfaces: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    interfaces.sort_unstable();
    interfaces.iter().find_map(|interface| {
        let address = fs::read_to_string(interface.join("address")).ok()?;
        parse_mac(address.trim()).filter(|&node| node != [0; 6])
    })
}
