#!/usr/bin/env bash
# install.sh [PG_CONFIG]: builds pg_mint as build.sh does and installs it into that
# server, or below DESTDIR. install.sh --remove [PG_CONFIG] removes it from there.
#
# It does not call `cargo pgrx install`, which overwrites the library in place and kills
# the sessions of a running server that have it mapped. Here the old file is
# unlinked first. Root's rights are used for the copy alone: what is built as root
# would be out of reach of the user's next build.
set -euo pipefail
if [ "$(id -u)" = 0 ] && [ "${SUDO_USER:-root}" != root ]; then
    exec runuser -u "$SUDO_USER" -- env -u SUDO_USER HOME="$(getent passwd "$SUDO_USER" | cut -d : -f 6)" "$0" "$@"
fi
. "$(dirname "$0")/common.sh"

remove=
if [ "${1:-}" = --remove ]; then remove=1; shift; fi
pg_config=$(find_pg_config "${1:-}")
libdir=${DESTDIR:-}$("$pg_config" --pkglibdir)
extension=${DESTDIR:-}$("$pg_config" --sharedir)/extension

writable() { [ -w "$1" ] || { [ ! -e "$1" ] && writable "$(dirname "$1")"; }; }
as=
for folder in "$libdir" "$extension"; do
    if writable "$folder"; then continue; fi
    [ -z "${DESTDIR:-}" ] && command -v sudo >/dev/null || die "$folder cannot be written"
    as=sudo
done

scripts=("$REPO"/sql/pg_mint--*.sql)
# For users to run: names of other extensions, and ids without the extension.
compat=("$REPO"/sql/compat/*.sql "$REPO"/sql/managed/*.sql)
remove() {
    local file files=("$libdir"/pg_mint.{so,dylib} "$extension/pg_mint.control")
    for file in "${scripts[@]}"; do files+=("$extension/${file##*/}"); done
    for file in "${compat[@]}"; do files+=("$extension/pg_mint/${file##*/}"); done
    $as rm -f "${files[@]}"
}
if [ -n "$remove" ]; then
    remove
    if [ -d "$extension/pg_mint" ]; then $as rmdir --ignore-fail-on-non-empty "$extension/pg_mint"; fi
    say "removed pg_mint from $libdir and $extension"
    exit
fi

library=$("$TOOLS/build.sh" "$pg_config")
suffix=so    # of modules: on macOS the libraries' only since 16
if [ "$(major_of "$pg_config")" -ge 16 ]; then suffix=${library##*.}; fi
control=$(mktemp)
trap 'rm -f "$control"' EXIT
sed "s/@CARGO_VERSION@/$(version)/" "$REPO/pg_mint.control" >"$control"

remove
$as mkdir -p "$libdir" "$extension/pg_mint"
$as install -m 755 "$library" "$libdir/pg_mint.$suffix"
$as install -m 644 "$control" "$extension/pg_mint.control"
$as install -m 644 "${scripts[@]}" "$extension/"
$as install -m 644 "${compat[@]}" "$extension/pg_mint/"
say "installed pg_mint into $libdir and $extension"
