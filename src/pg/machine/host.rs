//! The name of this machine.

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
