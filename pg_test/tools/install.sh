#!/usr/bin/env bash
# install.sh PG_CONFIG: builds pg_mint for release and installs it into that server.
#
# Not by `cargo pgrx install`: that overwrites the library in place, which kills
# the sessions of a running server that have it mapped. Here the old file is
# unlinked first, and root's rights are used for the copy alone.
set -euo pipefail
. "$(dirname "$0")/common.sh"

pg_config=${1:-}
[ -n "$pg_config" ] || die "usage: install.sh PG_CONFIG (make install PG_CONFIG=/path/to/pg_config)"
[ -x "$(command -v "$pg_config")" ] || die "there is no program $pg_config"
pg_config=$(realpath "$(command -v "$pg_config")")
major=$("$pg_config" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
[[ " $MAJORS " == *" $major "* ]] || die "PostgreSQL $major: supported are $MAJORS"
libdir=$("$pg_config" --pkglibdir)
sharedir=$("$pg_config" --sharedir)
stage=$CACHE/stage$major

need_cargo_pgrx
[ -e "$PGRX_HOME/config.toml" ] || echo '[configs]' >"$PGRX_HOME/config.toml"
[ -e "$("$pg_config" --includedir-server)/postgres.h" ] ||
    die "no headers for $("$pg_config" --version): on Debian install postgresql-server-dev-$major"

cd "$REPO"
export PGRX_PG_CONFIG_PATH=$pg_config    # a caller's may be of another server
rm -rf "$stage"
step "building pg_mint for PostgreSQL $major" "build$major" env CARGO_TARGET_DIR="$(target_of "$major")" \
    cargo pgrx package --no-default-features --features "pg$major" --pg-config "$pg_config" --out-dir "$stage"

copy() {
    $1 cp --remove-destination "$stage$libdir/pg_mint.so" "$libdir/"
    $1 cp --remove-destination "$stage$sharedir"/extension/pg_mint* "$sharedir/extension/"
}
if [ -w "$libdir" ] && [ -w "$sharedir/extension" ]; then copy ""; else copy sudo; fi
say "installed pg_mint into $libdir and $sharedir/extension"
