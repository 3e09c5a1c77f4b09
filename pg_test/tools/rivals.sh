#!/usr/bin/env bash
# rivals.sh [PG_CONFIG]: builds the extensions that pg_mint is compared with for that
# server, installs them into it, and prints of each its version, or why it is missing.
#
# RIVALS is a folder with a clone of each, at the release to compare with:
#     git clone -b v2.6.0 https://github.com/pgEdge/snowflake
#     git clone -b v1.6.0 https://github.com/fboulnois/pg_uuidv7
#     git clone -b v0.2.2 https://github.com/pksunkara/pgx_ulid
#     git clone -b v0.4.0 https://github.com/VADOSWARE/pg_idkit
# The clones stay as they are: everything is built in the cache.
set -euo pipefail
. "$(dirname "$0")/common.sh"

NAMES="snowflake pg_uuidv7 pgx_ulid pg_idkit"
pg_config=$(find_pg_config "${1:-}")
major=$(major_of "$pg_config")

# The release that is checked out, or the commit where it is none.
release_of() { git -C "$1" describe --tags --always; }

in_c() {
    # Without the warnings that the server's own compiler may know and this one not, and without bitcode for JIT, which
    # takes the clang that built the server.
    make -C "$1" all install USE_PGXS=1 PG_CONFIG="$pg_config" with_llvm=no CFLAGS="-O2 -fno-strict-aliasing -fwrapv"
}

# With the pgrx that its lock file names, whose cargo-pgrx must be of the same version.
in_rust() {
    local version tools
    version=$(awk '/^name = "pgrx"$/ { getline; gsub(/[^0-9.]/, ""); print }' "$1/Cargo.lock")
    tools=$CACHE/rivals/cargo-pgrx-$version
    [ -x "$tools/bin/cargo-pgrx" ] || env -u CARGO_TARGET_DIR \
        cargo install cargo-pgrx --version "$version" --locked --root "$tools"
    mkdir -p "$tools/home"
    printf '[configs]\npg%s = "%s"\n' "$major" "$pg_config" >"$tools/home/config.toml"
    cd "$1"
    rm -f rust-toolchain.toml    # it may name a toolchain that is not there
    PATH=$tools/bin:$PATH PGRX_HOME=$tools/home CARGO_TARGET_DIR=$CACHE/rivals/target$major cargo pgrx install --release \
        --pg-config "$pg_config" --no-default-features --features "pg$major"
}

# Prints why it is missing, or nothing.
build() {
    local name=$1 from=$RIVALS/$1 work=$CACHE/rivals/src$major/$1 language=in_c
    [ -d "$from" ] || { echo "there is no $name in RIVALS"; return; }
    rm -rf "$work" && mkdir -p "$work"
    git -C "$from" archive HEAD | tar -x -C "$work"
    if [ -e "$work/Cargo.toml" ]; then
        language=in_rust
        if ! grep -q "^pg$major *=" "$work/Cargo.toml"; then
            echo "its release supports no PostgreSQL $major"
            return
        fi
    fi
    step "building $name for PostgreSQL $major" "rival_${name}_$major" "$language" "$work" ||
        echo "it could not be built for PostgreSQL $major: $(grep -m 1 -E '(^|: )(fatal )?error' "$CACHE/log/rival_${name}_$major.log")"
}

# Extensions that were built stay: an installed one is built again when its release changes.
[ -n "${RIVALS:-}" ] || die "RIVALS must name a folder with clones of: $NAMES"
mkdir -p "$CACHE/rivals"
for name in $NAMES; do
    mark=$("$pg_config" --sharedir)/extension/$name.release
    release=$([ ! -d "$RIVALS/$name" ] || release_of "$RIVALS/$name")
    if [ -z "$release" ] || [ "$(cat "$mark" 2>/dev/null)" != "$release" ]; then
        rm -f "$mark"
        missing=$(build "$name")
        if [ -n "$missing" ]; then
            printf '%s\tmissing\t%s\n' "$name" "$missing"
            continue
        fi
        echo "$release" >"$mark"
    fi
    printf '%s\tbuilt\t%s\n' "$name" "$release"
done
