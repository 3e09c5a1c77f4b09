#!/usr/bin/env bash
# citus_tree.sh [MAJOR], on Debian: a private copy of that PostgreSQL in the cache (default: the newest
# that Citus supports and that is there), with pg_mint and with Citus, which it builds from
# CITUS, a folder or an archive of its source. Prints the path of its pg_config, or exits
# with 77 for another PostgreSQL. So no other test has Citus in its server. The source stays
# as it is: everything is built in the cache.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/private_tree.sh"

SUPPORTED="18 17 16"    # by the newest release of Citus

[ -n "${CITUS:-}" ] || die "CITUS must name a folder or an archive of the source of Citus"
[ -e "$CITUS" ] || die "CITUS: there is no $CITUS"
major=${1:-}
if [ -z "$major" ]; then
    for major in $SUPPORTED; do
        if [ -e "$CACHE/pg$major/done" ]; then break; fi
    done
fi
if [[ " $SUPPORTED " != *" $major "* ]]; then
    say "pg_mint: Citus supports PostgreSQL 16 to 18, not $major"
    exit "$CANNOT_BE_HAD"
fi
CITUS=$(realpath "$CITUS")
ordinary=$("$TOOLS/postgres.sh" "$major")
"$TOOLS/install.sh" "$ordinary"

tree=$CACHE/citus$major
work=$CACHE/citus_work$major
pg_config=$tree${ordinary#"$CACHE/pg$major"}

# The parts of a tree: the programs of the server, and the source.
stamp() {
    "$(dirname "$ordinary")/postgres" --version
    digest "$CITUS"
}

# Packages of Debian's for the server have no header of libpq: that of the system is read after
# all others. Where they are of a newer release, they take functions from the C library that this
# one does not declare; the server runs with its own.
options_of_compiler() {
    [ -e "$("$pg_config" --includedir)/libpq-fe.h" ] || printf ' -idirafter /usr/include/postgresql'
    if grep -q 'HAVE_DECL_STRLCPY 1' "$("$pg_config" --includedir-server)/pg_config.h" &&
        ! echo 'int main(void) { return !strlcpy; }' | cc -Werror -include string.h -fsyntax-only -xc - 2>/dev/null; then
        cat >"$work/newer_libc.h" <<END
#include <stddef.h>
extern size_t strlcpy(char *, const char *, size_t);
extern size_t strlcat(char *, const char *, size_t);
END
        printf ' -include %s' "$work/newer_libc.h"
    fi
}

build() {
    local options
    rm -rf "$work" "$tree"
    unpack "$CITUS" "$work"
    cp -a "$CACHE/pg$major" "$tree"
    options=$(options_of_compiler)
    cd "$work"
    ./configure --quiet PG_CONFIG="$pg_config" --without-libcurl --without-lz4 --without-zstd
    # Without bitcode for JIT, which takes the clang that built the server.
    make -s -j"$(nproc)" with_llvm=no COPT="$options" extension
    make -s with_llvm=no install-extension
    cd / && rm -rf "$work"
}

# One run at a time, as two would build the same tree.
exec 9>"$CACHE/citus.lock"
flock 9
made=$(stamp)
if [ "$(cat "$tree/citus" 2>/dev/null)" != "$made" ]; then
    need $BUILD_PACKAGES libpq-dev liblz4-dev libzstd-dev
    step "building Citus for PostgreSQL $major" "citus_build$major" build
    echo "$made" >"$tree/citus"
fi
copy_pg_mint "$ordinary" "$pg_config"
echo "$pg_config"
