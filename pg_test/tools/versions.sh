#!/usr/bin/env bash
# versions.sh: finds what names another version of pg_mint than Cargo.toml, released
# install scripts that were changed, and addresses that scripts download from: those
# come from the configuration of the package managers.
set -euo pipefail
. "$(dirname "$0")/common.sh"

cd "$REPO"
version=$(version)
found=()

# is FILE VERSION: what the file says.
is() { [ "$2" = "$version" ] || found+=("$1 is of version ${2:-(none)}, Cargo.toml of $version"); }

is core/Cargo.toml "$(sed -n 's/^version = "\(.*\)"/\1/p' core/Cargo.toml | head -n 1)"
is Cargo.lock "$(sed -n '/^name = "pg_mint"$/{n;s/^version = "\(.*\)"/\1/p}' Cargo.lock)"
is CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)"
is debian/changelog "$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' debian/changelog)"
is packaging/pg_mint.spec "$(sed -n 's/^Version: *//p' packaging/pg_mint.spec)"
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
for script in "${scripts[@]}"; do
    [ -e "$script" ] || continue
    # What stands in a comment, or tells somebody where Rust is from, is for people.
    while IFS= read -r line; do found+=("$script:$line"); done < <(
        grep -nE '(https?|ftp)://[a-z0-9]' "$script" | grep -vE '^[0-9]+: *(#|Url:|URL:|LABEL )|rustup\.rs' || true
    )
done

if [ ${#found[@]} != 0 ]; then
    printf '%s\n' "${found[@]}"
    exit 1
fi
echo "versions: all of $version"
