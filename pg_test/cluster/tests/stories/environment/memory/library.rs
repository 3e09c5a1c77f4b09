//! The library that each session loads.

use mint_cluster::{Server, say};

/// Bytes of code that a release has at most: what a compiler inlines of pgrx can double them.
const MOST: u64 = 4_000_000;

/// Returns the number of `N` bytes at a place of a file.
fn number<const N: usize>(file: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&file[at..at + N]);
    u64::from_le_bytes(bytes)
}

/// Returns the bytes of code of a library: of the segments of an ELF file that can be executed.
fn code_of(file: &[u8]) -> u64 {
    assert_eq!(&file[..6], b"\x7fELF\x02\x01", "an ELF file of 64 bits");
    let (first, size, many) = (
        number::<8>(file, 0x20) as usize,
        number::<2>(file, 0x36) as usize,
        number::<2>(file, 0x38) as usize,
    );
    let code = (0..many)
        .map(|segment| first + segment * size)
        .filter(|&at| number::<4>(file, at) == 1 && number::<4>(file, at + 4) & 1 == 1)
        .map(|at| number::<8>(file, at + 0x28))
        .sum();
    assert!(code > 100_000, "code was found");
    code
}

#[test]
fn the_library_is_small() {
    if std::env::var_os("QUICK_BUILD").is_some() {
        say("SKIPPED the size of the library: the build is not optimized");
        return;
    }
    let server = Server::build("library").start_empty();
    let libraries: String = server.one("SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'");
    let file = std::fs::read(format!("{libraries}/pg_mint.so")).expect("the library");
    let code = code_of(&file);
    assert!(code < MOST, "{code} bytes of code");
}
