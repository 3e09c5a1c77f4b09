#!/usr/bin/env bash
# semver.sh REVISION: what the crate breaks of its public interface at REVISION, the tag of
# the last release: a major version then. Fails if it breaks anything.
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ -n "${1:-}" ] || die "usage: $(basename "$0") REVISION"
need_rust
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/semver
# The JSON of rustdoc is not stable yet.
export RUSTC_BOOTSTRAP=1

mkdir "$work/old"
git -C "$REPO" archive "$1" core Cargo.lock | tar -x -C "$work/old"
mv "$work/old/Cargo.lock" "$work/old/core/"
document() {
    step "the interface of $2" "semver_$1" cargo rustdoc --manifest-path "$3/Cargo.toml" --lib -- \
        -Z unstable-options --output-format json
    mv "$CARGO_TARGET_DIR/doc/mint_core.json" "$work/$1.json"
}
document old "$1" "$work/old/core"
document new "the working tree" "$REPO/core"
python3 "$TOOLS/semver.py" "$work/old.json" "$work/new.json"
