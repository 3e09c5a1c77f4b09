//! Compiles clock.rs, which servers preload. A dependency would be linked into the tests themselves.

use std::env::{var, var_os};
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=clock.rs");
    let variable = |name| var_os(name).expect("cargo sets it");
    let library = Path::new(&variable("OUT_DIR")).join("clock.so");
    // Servers of another processor need another target and linker (pg_test/tools/arm64.sh).
    println!("cargo::rerun-if-env-changed=CLOCK_FLAGS");
    let flags = var("CLOCK_FLAGS")
        .or_else(|_| var("TARGET").map(|target| format!("--target {target}")))
        .expect("cargo sets it");
    let status = Command::new(variable("RUSTC"))
        .args([
            "--edition=2024", "--crate-type=cdylib", "--crate-name=clock",
        ])
        .args(["-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols"])
        .args(flags.split_whitespace())
        .arg("-o")
        .arg(library)
        .arg("clock.rs")
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "clock.rs does not compile"
    );
}
