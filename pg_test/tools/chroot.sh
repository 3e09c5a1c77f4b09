#!/usr/bin/env bash
# chroot.sh [package] [cycle] [run] [test], on Linux: proves all of these, or those named, in clean copies
# of Debian stable with its own PostgreSQL:
#   package  make package, by an ordinary user
#   cycle    these packages are installed, tested, upgraded, removed and purged
#   run      make run, by a user on a machine that has nothing but Rust, make and sudo
#   test     make test, likewise
# Needs root and debootstrap. Rust is the one of this machine, and so are the crates that
# it has already. SUITE=bookworm takes another Debian. With ARCHITECTURE=arm64, the packages are of arm64, and
# cycle runs in a Debian of arm64, by an emulator.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$TOOLS/cross.sh"

[ "$(id -u)" = 0 ] || die "chroot.sh needs root"
# Mounts and processes of its own, which end with it.
if [ -z "${MINT_UNSHARED:-}" ]; then
    MINT_UNSHARED=1 exec unshare --mount --pid --fork --kill-child "$0" "$@"
fi
need debootstrap
mkdir -p "$CACHE/chroot/archives/partial"
exec 9>"$CACHE/chroot/lock"
flock -n 9 || die "another chroot.sh runs"

suite=${SUITE:-stable}
packages=$CACHE/chroot/packages${ARCHITECTURE:+-$ARCHITECTURE}
root=$CACHE/chroot/now
rust=$(rustc --print sysroot)
need_lists
mirror=$(mirror)
[ -n "$mirror" ] || die "apt's configuration names no mirror of Debian"

# fresh [ARCHITECTURE]: a copy of Debian with the user builder, who may install packages.
fresh() {
    local mount base=$CACHE/chroot/$suite${1:+-$1}
    if [ ! -e "$base" ]; then
        rm -rf "$base.new"
        debootstrap --variant=minbase --include=ca-certificates,sudo ${1:+--arch="$1"} "$suite" "$base.new" "$mirror"
        mv "$base.new" "$base"
    fi
    for mount in $(awk -v root="$root/" 'index($2, root) == 1 { print $2 }' /proc/mounts | sort -r); do umount "$mount"; done
    rm -rf "$root"
    cp -a "$base" "$root"
    mount -t proc proc "$root/proc"
    mount -t tmpfs shm "$root/dev/shm"
    mount -t devpts devpts "$root/dev/pts"
    mount --bind "$CACHE/chroot/archives" "$root/var/cache/apt/archives"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    printf '%s\n' '#!/bin/sh' 'exit 101' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/throw-away"
    inside useradd --create-home --shell /bin/bash builder
    echo 'builder ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/builder"
}

# Rust, the crates and a copy of the sources, of the user builder.
with_sources() {
    local home=$root/home/builder
    mkdir -p "$root/opt/rust" "$home/.cargo/registry" "$home/pg_mint"
    mount --bind -o ro "$rust" "$root/opt/rust"
    ln -s /opt/rust/bin "$home/.cargo/bin"
    cp -a "${CARGO_HOME:-$HOME/.cargo}"/registry/{index,cache} "$home/.cargo/registry/"
    cd "$REPO"
    git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$home/pg_mint"
    inside chown -R builder: /home/builder
}

inside() { chroot "$root" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
as_user() { inside runuser -u builder -- env HOME=/home/builder PATH=/home/builder/.cargo/bin:/usr/bin:/bin sh -ec "cd ~/pg_mint; $1"; }
sql() { inside runuser -u postgres -- psql -X -A -t -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }
# The ceiling of a server is of its data, and must outlive the package.
files() {
    inside find / -xdev \( -path /proc -o -path /tmp -o -path /home -o -name pg_mint.ceiling \) -prune -o -iname '*pg[-_]mint*' -print
}

packages() {
    fresh
    with_sources
    inside apt-get install -y --no-install-recommends make
    as_user "make package ARCHITECTURE=${ARCHITECTURE:-}"
    rm -rf "$packages"
    cp -a "$root/home/builder/.cache/pg_mint/package${ARCHITECTURE:+-$ARCHITECTURE}" "$packages"
}

# The same package with a higher version.
next_version() {
    local work=$root/tmp/next
    dpkg-deb -R "$1" "$work"
    sed -i 's/^Version: .*/&+next/' "$work/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$work" "$root/tmp/next.deb"
    rm -rf "$work"
}

cycle() {
    local package before after major
    fresh "${ARCHITECTURE:-}"
    inside apt-get install -y --no-install-recommends postgresql
    for package in "$packages"/postgresql-*-pg-mint_*.deb; do
        major=$(basename "$package" | sed 's/postgresql-\([0-9]*\).*/\1/')
        cp "$package" "$root/tmp/first.deb"
        next_version "$package"
        inside apt-get install -y --no-install-recommends /tmp/first.deb
        inside pg_ctlcluster "$major" main start

        echo "== installed: a database with pg_mint"
        sql postgres 'CREATE DATABASE shop'
        sql shop 'CREATE EXTENSION pg_mint'
        sql shop 'CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), made timestamptz DEFAULT now())'
        sql shop 'INSERT INTO message SELECT FROM generate_series(1, 1000)'
        before=$(sql shop 'SELECT max(id) FROM message')

        echo "== upgraded: the running server continues, and so does a restarted one"
        inside apt-get install -y /tmp/next.deb
        sql shop 'INSERT INTO message SELECT FROM generate_series(1, 1000)'
        inside pg_ctlcluster "$major" main restart
        sql shop 'ALTER EXTENSION pg_mint UPDATE'
        sql shop 'INSERT INTO message SELECT FROM generate_series(1, 1000)'
        after=$(sql shop 'SELECT min(id) FROM (SELECT id FROM message ORDER BY id OFFSET 1000) AS later')
        [ "$after" -gt "$before" ] || die "ids went back over the upgrade: $before, $after"
        [ "$(sql shop 'SELECT count(*) FROM message')" = 3000 ] || die "rows are missing"

        echo "== tested: the installed package"
        inside apt-get install -y --no-install-recommends make postgresql-server-dev-all
        mkdir -p "$root/home/builder/check"
        cp -a "$REPO"/{Makefile,pg_test,debian} "$root/home/builder/check/"
        inside chown -R builder: /home/builder/check
        inside runuser -u builder -- env HOME=/home/builder sh -c 'cd ~/check && debian/tests/installcheck'

        echo "== removed: a setting that preloads the library is told; rows stay, and what needs the library fails"
        sql shop "ALTER SYSTEM SET session_preload_libraries = 'pg_mint'"
        inside apt-get remove -y "postgresql-$major-pg-mint" 2>&1 | tee "$root/tmp/removed"
        grep -q 'postgresql.auto.conf preloads the library' "$root/tmp/removed" || die "the removal says nothing of the setting"
        sed -i '/session_preload_libraries/d' "$root/var/lib/postgresql/$major/main/postgresql.auto.conf"
        inside pg_ctlcluster "$major" main restart
        if sql shop 'SELECT snowflake_next_id(5)'; then die "the removed library still works"; fi
        [ "$(sql shop 'SELECT count(*) FROM message')" = 3000 ] || die "rows are missing without the library"

        echo "== installed again, and purged: nothing is left but rows and the ceiling"
        inside apt-get install -y /tmp/next.deb
        sql shop 'INSERT INTO message SELECT FROM generate_series(1, 1000)'
        sql shop 'DROP EXTENSION pg_mint CASCADE'
        inside apt-get purge -y "postgresql-$major-pg-mint"
        [ -z "$(files)" ] || die "left behind: $(files | xargs)"
        [ "$(sql shop 'SELECT count(*) FROM message')" = 4000 ] || die "rows are missing after DROP EXTENSION"
        inside pg_ctlcluster "$major" main stop
    done
}

run() {
    fresh
    with_sources
    inside apt-get install -y --no-install-recommends make
    local began=$SECONDS
    as_user 'make run'
    echo "make run: $((SECONDS - began)) s"
}

tests() {
    # The copy of run, if it is of this call.
    mountpoint -q "$root/proc" && [ -e "$root/home/builder/.cache/pg_mint/demo" ] || run
    as_user 'make test'
}

if [ -n "${ARCHITECTURE:-}" ]; then
    need qemu-user-static
    need_target
    step "having the kernel start programs of arm64" arm64_emulator emulator
fi
if [ $# = 0 ]; then set -- package cycle run test; fi
for what in "$@"; do
    case $what in
        package) step "chroot: building the packages" chroot_package packages ;;
        cycle) step "chroot: install, upgrade, test, remove, purge" chroot_cycle cycle ;;
        run) step "chroot: make run" chroot_run run ;;
        test) step "chroot: make test" chroot_test tests ;;
        *) die "usage: chroot.sh [package] [cycle] [run] [test]" ;;
    esac
done
echo "chroot: ok in $SECONDS s"
