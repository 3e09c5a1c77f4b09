#!/usr/bin/env bash
# dist.sh, on Debian: the sources of the last commit as an archive for PGXN, those of its crates as another, with which it builds
# without a network (debian/README.source), and their sums. Prints the folder.
# The first is tested: pgxnclient reads its META.json, builds it for the system's PostgreSQL
# and installs it below a folder.
set -euo pipefail
. "$(dirname "$0")/common.sh"

name=pg_mint-$(version)
out=$CACHE/dist/archives
archive=$out/$name.zip
vendor=$out/$name-vendor.tar.xz
major=$(default_major)
pg_config=$("$TOOLS/postgres.sh" "$major")

# `pgxn install` does the same with a file that it is given.
install_as_users_do() {
    local stage=$CACHE/dist/stage
    rm -rf "$stage"
    # The client wants this folder to be there, and installs nothing into it.
    mkdir -p "$("$pg_config" --libdir)"
    DESTDIR=$stage pgxn install --yes --nosudo --pg_config "$pg_config" "$archive"
    find "$stage" -name "$name.sql" -o -name "pg_mint--$(version).sql" -o -name pg_mint.so -o -name pg_mint.control |
        sort | tee "$CACHE/dist/installed"
    [ "$(wc -l <"$CACHE/dist/installed")" = 3 ] || die "not all of the extension was installed"
}

crates() {
    rm -rf "$CACHE/dist/vendor"
    (cd "$REPO" && "$TOOLS/vendor.py" "$CACHE/dist/vendor")
    XZ_OPT=-2 tar -C "$CACHE/dist" --sort=name -cJf "$vendor" vendor
}

need git pgxnclient zip
need_rust
rm -rf "$out" && mkdir -p "$out"
git -C "$REPO" archive --format=zip --prefix="$name/" --output="$archive" HEAD
step "installing $name.zip by pgxnclient" dist install_as_users_do
step "collecting the sources of the crates" vendor crates
(cd "$out" && sha256sum * >SHA256SUMS)
echo "$out"
