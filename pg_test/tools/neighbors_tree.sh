#!/usr/bin/env bash
# neighbors_tree.sh [MAJOR], on Debian: a private copy of that PostgreSQL in the cache (default: the one
# that other tests take), with pg_mint and with the extensions that stand beside it in
# databases: those that this Debian packages for the server, and those whose source NEIGHBORS
# has, a folder of folders or archives named timescaledb-*, pg_partman-* and pg_tle*. pg_partman 5
# is the source of Debian's package otherwise. Prints the path of its pg_config, or exits with 77
# for a PostgreSQL that cannot be had. Sources stay as they are: all is built in the cache.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/apt.sh"
. "$TOOLS/private_tree.sh"

# Behind postgresql-MAJOR- in the names of Debian's packages.
PACKAGES="cron hypopg partman pg-hint-plan pgaudit pglogical pgvector postgis-3 postgis-3-scripts repack"
PROGRAMS="pgbackrest pgbouncer pgloader"
TIMESCALEDB="16 17 18"    # that TimescaleDB 2.29 supports
PARTMAN_SUITE=trixie    # has version 5.2

major=${1:-$(default_major)}
rc=0
ordinary=$("$TOOLS/postgres.sh" "$major") || rc=$?
[ "$rc" = 0 ] || exit "$rc"
"$TOOLS/install.sh" "$ordinary"
tree=$CACHE/neighbors$major
work=$CACHE/neighbors_work$major
pg_config=$tree${ordinary#"$CACHE/pg$major"}

# The folder or archive of a source, or nothing.
given() {
    local found
    for found in "${NEIGHBORS:+$NEIGHBORS/}$1"*; do
        if [ -n "${NEIGHBORS:-}" ] && [ -e "$found" ]; then realpath "$found"; return; fi
    done
}

# Packages of this Debian are for its own server alone: they are of the same libraries.
packages() {
    local name
    apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1 || return 0
    for name in $PACKAGES; do
        if apt-cache show "postgresql-$major-$name" >/dev/null 2>&1; then echo "postgresql-$major-$name"; fi
    done
}

# The libraries that packages are linked with. PostGIS has many.
libraries() {
    [ $# = 0 ] || apt-cache depends --important "$@" | sed -n 's/^  Depends: \(lib[a-z0-9.+-]*\|zlib1g\)$/\1/p' | sort -u
}

# Debian's files below the folders of the tree, which is a copy of Debian's.
from_packages() {
    local deb
    cd "$work"
    apt-get download "$@"
    for deb in *.deb; do dpkg-deb -x "$deb" root; done
    cp -a "root/usr/lib/postgresql/$major" "$tree/lib/postgresql/"
    cp -a "root/usr/share/postgresql/$major" "$tree/share/postgresql/"
    # Debian's packages have this name by a link that their installation makes.
    cd "$tree/share/postgresql/$major/extension"
    if [ -e postgis-3.control ]; then cp postgis-3.control postgis.control; fi
}

build_timescaledb() {
    local includes has_ssl; includes=$("$pg_config" --includedir)
    [[ $("$pg_config" --configure) == *ssl* ]] && has_ssl=1 || has_ssl=0
    unpack "$1" "$work/timescaledb"
    # Its configuration looks for this header there, where Debian's is that of the newest libpq.
    [ -e "$includes/pg_config.h" ] || cp "$("$pg_config" --includedir-server)/pg_config.h" "$includes/"
    cd "$work/timescaledb"
    ./bootstrap -DAPACHE_ONLY=1 -DREGRESS_CHECKS=OFF -DWARNINGS_AS_ERRORS=OFF -DUSE_OPENSSL=$has_ssl -DPG_CONFIG="$pg_config"
    make -C build -j"$(nproc)"
    make -C build install
}

# Beside version 4, whose control file stays: CREATE EXTENSION pg_partman VERSION '5...'. Its
# background worker, of the same name as that of 4, is left out.
build_partman() {
    local version
    unpack "$1" "$work/pg_partman"
    cd "$work/pg_partman"
    version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" pg_partman.control)
    make NO_BGW=1 PG_CONFIG="$pg_config" "sql/pg_partman--$version.sql"
    install -m 644 "sql/pg_partman--$version.sql" "$("$pg_config" --sharedir)/extension/"
    [ -e "$("$pg_config" --sharedir)/extension/pg_partman.control" ] ||
        install -m 644 pg_partman.control "$("$pg_config" --sharedir)/extension/"
}

build_pg_tle() {
    unpack "$1" "$work/pg_tle"
    # Without bitcode for JIT, which takes the clang that built the server.
    make -C "$work/pg_tle" -j"$(nproc)" all install PG_CONFIG="$pg_config" with_llvm=no
}

# The upstream archive of Debian's package, which the cache keeps.
fetch_partman() {
    local work=$CACHE/neighbors_apt
    mkdir -p "$work" && cd "$work"
    mirror | grep -q . && apt_of "$PARTMAN_SUITE" apt-get update --error-on=any &&
        apt_of "$PARTMAN_SUITE" apt-get source --download-only --tar-only pg-partman
}
partman_of_debian() {
    local found
    for found in "$CACHE"/neighbors_apt/pg-partman_5*.orig.tar.*; do
        if [ -e "$found" ]; then echo "$found"; return; fi
    done
}

# The parts of a tree.
stamp() {
    local source
    "$(dirname "$ordinary")/postgres" --version
    printf '%s\n' "$@"
    for source in "$timescaledb" "$partman" "$pg_tle"; do
        [ -z "$source" ] || digest "$source"
    done
}

# One run at a time, as two would build the same tree.
exec 9>"$CACHE/neighbors.lock"
flock 9
need_lists || true
timescaledb=$(given timescaledb-)
partman=$(given pg_partman-)
pg_tle=$(given pg_tle)
if [ -z "$partman" ]; then
    [ -n "$(partman_of_debian)" ] || step "fetching pg_partman 5 of Debian $PARTMAN_SUITE" neighbors_fetch fetch_partman || true
    partman=$(partman_of_debian)
fi
packages=$(packages)
made=$(stamp $packages)
if [ "$(cat "$tree/neighbors" 2>/dev/null)" != "$made" ]; then
    rm -rf "$work" "$tree" && mkdir -p "$work"
    cp -a "$CACHE/pg$major" "$tree"
    if [ -n "$packages" ]; then
        need $(libraries $packages)
        step "taking extensions out of Debian's packages" "neighbors_packages$major" from_packages $packages
    fi
    if [ -n "$partman" ]; then step "adding $(basename "$partman")" "neighbors_partman$major" build_partman "$partman"; fi
    if [ -n "$timescaledb" ] && [[ " $TIMESCALEDB " == *" $major "* ]]; then
        need $BUILD_PACKAGES cmake
        step "building $(basename "$timescaledb") for PostgreSQL $major" "neighbors_timescaledb$major" build_timescaledb "$timescaledb"
    fi
    if [ -n "$pg_tle" ]; then
        need $BUILD_PACKAGES flex
        step "building $(basename "$pg_tle") for PostgreSQL $major" "neighbors_pg_tle$major" build_pg_tle "$pg_tle"
    fi
    rm -rf "$work"
    echo "$made" >"$tree/neighbors"
fi
if command -v apt-get >/dev/null; then need $PROGRAMS; fi
copy_pg_mint "$ordinary" "$pg_config"
echo "$pg_config"
