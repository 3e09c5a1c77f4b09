#!/usr/bin/env python3
"""vendor.py FOLDER: puts the sources of the crates that a build of the library takes on Linux into FOLDER, which has to be
empty or missing, and with it cargo needs no network (debian/rules). Cargo wants each crate of Cargo.lock to be there: of those
that only tests, the bench or other systems use, names, features and licenses alone are left."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

out = pathlib.Path(sys.argv[1])
subprocess.run(["cargo", "vendor", "--quiet", "--locked", "--versioned-dirs", out], stdout=subprocess.DEVNULL, check=True)

built = set()
for machine in ["x86_64", "aarch64"]:
    tree = ["cargo", "tree", "--locked", "--package", "pg_mint", "--edges", "normal,build", "--prefix", "none"]
    tree += ["--target", f"{machine}-unknown-linux-gnu", "--format", "{p}"]
    built |= {line.split()[0] + "-" + line.split()[1][1:] for line in subprocess.check_output(tree, text=True).splitlines()}


def sums(crate, change):
    """Writes the sums of the crate's files as change makes them of those that are there."""
    file = crate / ".cargo-checksum.json"
    found = json.loads(file.read_text())
    file.write_text(json.dumps({**found, "files": change(found["files"])}))


def keep(crate):
    """Removes what dh_clean takes for the leavings of patch, which cargo would miss, and programs without their source."""
    removed = (".orig", ".dll", ".exe")
    for file in [file for file in crate.rglob("*") if file.suffix in removed]:
        file.unlink()
    sums(crate, lambda files: {name: value for name, value in files.items() if not name.endswith(removed)})


def empty(crate):
    """Leaves a library without code: nothing that the manifest names is there any more."""
    for entry in crate.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif not re.match(r"Cargo\.toml$|\.cargo-checksum|(un)?licen[cs]e|copying|notice", entry.name, re.I):
            entry.unlink()
    (crate / "src").mkdir()
    (crate / "src/lib.rs").touch()
    manifest = (crate / "Cargo.toml").read_text()
    manifest = re.sub(r'^(build|links) = (".*"|\w+)$', "", manifest, flags=re.M)
    manifest = re.sub(r"^\[\[(bin|example|test|bench)\]\]\n(?:[^\[\n].*\n|\n)*", "", manifest, flags=re.M)
    manifest = re.sub(r'^path = ".*\.rs"', 'path = "src/lib.rs"', manifest, flags=re.M)
    (crate / "Cargo.toml").write_text(manifest)
    sums(crate, lambda files: {})


left = [crate for crate in out.iterdir() if crate.name in built]
for crate in out.iterdir():
    (keep if crate in left else empty)(crate)
if len(left) < 50:
    sys.exit(f"only {len(left)} crates are built, of {len(built)} that cargo lists")
print(f"vendored: {len(left)} crates whole, {len(list(out.iterdir())) - len(left)} by name", file=sys.stderr)
