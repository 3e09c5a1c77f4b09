#!/usr/bin/env bash
# install.sh [PG_CONFIG]: builds pg_mint as build.sh does and installs it into that
# server, or below DESTDIR.
#
# Not by `cargo pgrx install`: that overwrites the library in place, which kills
# the sessions of a running server that have it mapped. Here the old file is
# unlinked first. Root's rights are used for the copy alone: what is built as root
# would be out of reach of the user's next build.
set -euo pipefail
if [ "$(id -u)" = 0 ] && [ "${SUDO_USER:-root}" != root ]; then
    exec runuser -u "$SUDO_USER" -- env -u SUDO_USER HOME="$(getent passwd "$SUDO_USER" | cut -d : -f 6)" "$0" "$@"
fi
. "$(dirname "$0")/common.sh"

pg_config=$(find_pg_config "${1:-}")
library=$("$TOOLS/build.sh" "$pg_config")
libdir=${DESTDIR:-}$("$pg_config" --pkglibdir)
extension=${DESTDIR:-}$("$pg_config" --sharedir)/extension
suffix=so    # of modules: on macOS the libraries' only since 16
if [ "$(major_of "$pg_config")" -ge 16 ]; then suffix=${library##*.}; fi

version=$(version)
control=$(mktemp)
trap 'rm -f "$control"' EXIT
sed "s/@CARGO_VERSION@/$version/" "$REPO/pg_mint.control" >"$control"

copy() {
    $1 mkdir -p "$libdir" "$extension/pg_mint"
    $1 rm -f "$libdir/pg_mint.$suffix" "$extension/pg_mint.control"
    $1 install -m 755 "$library" "$libdir/pg_mint.$suffix"
    $1 install -m 644 "$control" "$extension/pg_mint.control"
    $1 install -m 644 "$REPO"/sql/pg_mint--*.sql "$extension/"
    # Names of other extensions, for users to run.
    $1 install -m 644 "$REPO"/sql/compat/*.sql "$extension/pg_mint/"
}
writable() { [ -w "$1" ] || { [ ! -e "$1" ] && writable "$(dirname "$1")"; }; }
if writable "$libdir" && writable "$extension"; then copy ""; else copy sudo; fi
say "installed pg_mint into $libdir and $extension"
