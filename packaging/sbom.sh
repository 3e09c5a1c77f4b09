#!/bin/sh
# The crates that the library is made of, as a CycloneDX document in sbom.json.
# Not run by this project's tests.
set -eu
cd "$(dirname "$0")/.."
command -v cargo-cyclonedx >/dev/null || cargo install cargo-cyclonedx --version 0.5.9 --locked
cargo cyclonedx --format json --no-build-deps --override-filename sbom
