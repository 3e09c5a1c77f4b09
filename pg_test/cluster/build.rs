//! Compiles clock.rs, which servers preload. A dependency would be linked into the tests themselves.

use std::env::var_os;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=clock.rs");
    let variable = |name| var_os(name).expect("cargo sets it");
    let library = Path::new(&variable("OUT_DIR")).join("clock.so");
    let mut compiler = Command::new(variable("RUSTC"));
    // Cargo names a linker where the target is of another processor.
    if let Some(linker) = var_os("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={}", linker.display()));
    }
    let status = compiler
        .args([
            "--edition=2024", "--crate-type=cdylib", "--crate-name=clock",
        ])
        .args(["-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols"])
        .arg("--target")
        .arg(variable("TARGET"))
        .arg("-o")
        .arg(library)
        .arg("clock.rs")
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "clock.rs does not compile"
    );
}
