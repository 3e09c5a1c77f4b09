#!/usr/bin/env bash
# versions.sh, on Linux: finds what names another version of pg_mint than Cargo.toml, or of pgrx
# and Rust than common.sh, released install scripts that were changed, versions
# without a script that updates them, and addresses that scripts download from: those
# come from the configuration of the package managers.
set -euo pipefail
. "$(dirname "$0")/common.sh"

cd "$REPO"
version=$(version)
found=()

# is FILE FOUND [WANTED SOURCE]: what the file says is what the source says.
is() { [ "$2" = "${3:-$version}" ] || found+=("$1 says ${2:-nothing}, ${4:-Cargo.toml} ${3:-$version}"); }
# each FILE PATTERN [WANTED SOURCE]: likewise each group of the pattern in the file, which has one at least.
each() {
    local many one
    mapfile -t many < <(sed -n "s/$2.*/\1/p" "$1")
    for one in "${many[@]:-}"; do is "$1" "$one" "${@:3}"; done
}

each core/Cargo.toml '^version = "\(.*\)"'
for crate in pg_mint pg_mint_core; do is Cargo.lock "$(sed -n "/^name = \"$crate\"\$/{n;s/^version = \"\(.*\)\"/\1/p}" Cargo.lock)"; done
each README.md '^Version \([0-9.]*[0-9]\)'
each docs/start/install.md '.*\<\([0-9]\+\.[0-9]\+\.[0-9]\+\)\>'
each pg_mint.control "^default_version = '\(.*\)'" @CARGO_VERSION@ install.sh
repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
each core/Cargo.toml '^repository = "\(.*\)"' "$repository"
each README.md '^git clone \(.*\)' "$repository"
each META.json '.*"web": "\([^"]*\)"' "$repository"
maintainers=$(sed -n 's/^authors = \["\(.*\)"\]/\1/p' Cargo.toml)
each META.json '.*"maintainer": "\([^"]*\)"' "$maintainers"
each debian/control.in '^Maintainer: \(.*\)' "$maintainers"
is CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)"
is debian/changelog "$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' debian/changelog)"
each packaging/pg_mint.spec '^Version: *\(.*\)'
each src/lib.rs '.*pg_mint--\([0-9.]*\)\.sql'
is "packaging/pg_mint.spec's changelog" "$(sed -n 's/^\* .* - \(.*\)-[^-]*/\1/p' packaging/pg_mint.spec | head -n 1)"
each Cargo.toml '^pgrx[a-z-]* = "=\(.*\)"' "$PGRX_VERSION" common.sh
for file in README.md docs/start/install.md; do each "$file" '.*Rust \([0-9.]*\) or newer' "$RUST_VERSION" common.sh; done
each packaging/pg_mint.spec '.*cargo >= \([0-9.]*\)' "$RUST_VERSION" common.sh
for file in .github/workflows/*; do
    if [ -e "$file" ]; then each "$file" '.*rust:\([0-9.]*\)-' "$RUST_VERSION" common.sh; fi
done
mapfile -t named < <(sed -n 's/^ *"version": "\(.*\)".*/\1/p; s/.*pg_mint--\(.*\)\.sql.*/\1/p' META.json | sed '$d')
for one in "${named[@]}"; do is META.json "$one"; done
[ "${#named[@]}" = 3 ] || found+=("META.json names ${#named[@]} versions, not 3")
[ -e "sql/pg_mint--$version.sql" ] || found+=("sql/pg_mint--$version.sql is missing")

# A released script is what servers have that install the new library.
if [ -e .git ]; then
    shallow=$(git rev-parse --is-shallow-repository) && tags=$(git tag --list 'v[0-9]*') ||
        die "git cannot read $REPO, so released scripts cannot be compared"
    [ "$shallow" = false ] || say "released scripts are not compared, as this clone is shallow: git fetch --unshallow --tags"
    for tag in $tags; do
        for script in $(git ls-tree --name-only "$tag" sql/ | grep -- '--'); do
            git diff --quiet "$tag" -- "$script" || found+=("$script is not the one that was released as $tag")
        done
    done
fi

# A server that has an older version must have a way to this one.
ways=" $version "
updates=(sql/pg_mint--*--*.sql)
for _ in "${updates[@]}"; do
    for script in "${updates[@]}"; do
        [[ $script =~ --(.*)--(.*)\.sql ]] && [[ $ways == *" ${BASH_REMATCH[2]} "* ]] && ways+="${BASH_REMATCH[1]} "
    done
done
for script in sql/pg_mint--*.sql; do
    from=${script#*--}
    from=${from%%--*}
    from=${from%.sql}
    [[ $ways == *" $from "* ]] || found+=("$script: no script updates $from to $version")
done

scripts=(Makefile .ci/run debian/rules debian/tests/installcheck packaging/* .github/workflows/* pg_test/tools/* Dockerfile)
mapfile -t more < <(find pg_test/drivers examples -name '*.sh')
hosts='(debian|ubuntu|postgresql|crates|npmjs|pypi|pythonhosted|rubygems|maven|pgxn)\.(org|io|com)\b'
for script in "${scripts[@]}" "${more[@]}"; do
    [ -e "$script" ] || continue
    # Addresses in comments, and of the site of Rust, are for people. The last is a program of Debian's.
    while IFS= read -r line; do found+=("$script:$line"); done < <(
        sed -E 's#[a-z]*://rustup\.rs##; s#/pgdg/apt\.postgresql\.org\.sh##' "$script" |
            grep -niE "(https?|ftp)://[a-z0-9]|\b$hosts" | grep -vE '^[0-9]+: *(#|Url:|URL:|LABEL )' || true
    )
done

if [ ${#found[@]} != 0 ]; then
    printf '%s\n' "${found[@]}"
    exit 1
fi
echo "versions: all of $version"
