#!/usr/bin/env bash
# package.sh, on Debian: builds the Debian packages of pg_mint, for the versions of PostgreSQL of
# this Debian, out of what git tracks (or all of an unpacked tarball) and the sources of the crates, without a network, and checks them:
# lintian has no error and no warning, and the library asks for no newer GLIBC than the
# one here (GLIBC=2.36 for another). Prints the folder that has them.
# ARCHITECTURE=arm64 builds the packages of arm64 on another machine.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/cross.sh"
. "$TOOLS/apt.sh"

need $BUILD_PACKAGES debhelper dpkg-dev lintian postgresql-server-dev-all
need_rust
cross=()
if [ -n "${ARCHITECTURE:-}" ]; then
    need_lists
    need gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    need_target
    # The sources are those of the other packages, and all else that a build depends on is of this machine.
    cross=(--host-arch "$ARCHITECTURE" --build=any --no-check-builddeps)
fi
name=pg-mint-$(version)
release=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$REPO/debian/changelog")
[ "${release%-*}" = "$(version)" ] || die "debian/changelog is of version $release, Cargo.toml of $(version)"
out=$CACHE/package${ARCHITECTURE:+-$ARCHITECTURE}

# The sources as they are now, without what is not part of them.
sources() {
    cd "$REPO"
    if [ -e .git ]; then
        # A file with nothing but a new time would make git stash fail, without a word.
        git update-index -q --refresh || true
        local now; now=$(git stash create) || die "git stash create fails in $REPO"
        git archive --prefix="$name/" "${now:-HEAD}" | tar -x -C "$out"
    else
        mkdir "$out/$name"
        tar -c --exclude=./target . | tar -x -C "$out/$name"
    fi
    cd "$out"
    tar -czf "pg-mint_$(version).orig.tar.gz" --exclude="$name/debian" --exclude="$name/vendor" "$name"
    [ -d "$name/vendor" ] || (cd "$name" && "$TOOLS/vendor.py" vendor)
    XZ_OPT=-2 tar -C "$name" --sort=name -cJf "pg-mint_$(version).orig-vendor.tar.xz" vendor
    if [ -n "${ARCHITECTURE:-}" ]; then headers_and_libraries; fi
}

# The servers' headers for ARCHITECTURE, which debian/rules names, and the libraries that the packages depend on, which
# dpkg-shlibdeps finds, with the versions of their symbols, below debian as if they were built there.
headers_and_libraries() {
    local work=$out/apt deb versions
    versions=$(cd "$name" && pg_buildext supported-versions)
    mkdir "$work" && cd "$work"
    apt_of "" apt-get update
    apt_of "" apt-get download libc6 libgcc-s1 $(printf 'postgresql-server-dev-%s ' $versions)
    for deb in *.deb; do dpkg-deb -R "$deb" "$out/$name/debian/${deb%%_*}"; done
}

# Cargo's settings ask for no network either, where the system allows no such process.
without_network() {
    local so=(unshare --net)
    [ "$(id -u)" = 0 ] || so+=(--map-current-user)
    if "${so[@]}" true 2>/dev/null; then "${so[@]}" "$@"; else "$@"; fi
}

build() {
    cd "$out/$name"
    # chroot.sh tests what is installed, so that no server is needed here.
    PG_UPDATECONTROL=yes DEB_BUILD_OPTIONS=nocheck DEB_BUILD_PROFILES=nocheck without_network \
        dpkg-buildpackage --no-sign "${cross[@]}"
}

check() {
    # The tag is for uploads to Debian's own archive.
    lintian --display-info --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs --tag-display-limit 0 \
        "$out"/*.changes
}

rm -rf "$out" && mkdir -p "$out"
step "collecting the sources" package_sources sources
step "building the packages" package build
step "lintian" lintian check

objdump=${ARCHITECTURE:+aarch64-linux-gnu-}objdump
allowed=${GLIBC:-$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)}
for package in "$out"/postgresql-*-pg-mint_*.deb; do
    rm -rf "$out/content" && dpkg-deb -x "$package" "$out/content"
    library=$(find "$out/content" -name pg_mint.so)
    newest=$("$objdump" -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 || true)
    [ -n "$newest" ] || die "$package: objdump finds no symbol of GLIBC"
    printf '%s\n' "${newest#GLIBC_}" "$allowed" | sort -CV ||
        die "$package asks for $newest, newer than $allowed: $("$objdump" -T "$library" | grep "$newest" | sed 's/.* //' | xargs)"
    say "$(basename "$package"): needs $newest of $allowed"
done
echo "$out"
