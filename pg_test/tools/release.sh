#!/usr/bin/env bash
# release.sh VERSION: makes the files of the working tree those of a release of today: the version and the date, and the
# address of the repository and of the maintainers, which Cargo.toml alone decides. Refuses while those are placeholders
# (REHEARSE=1 does not), and while something is not committed. The rest of a release is in RELEASE.md.
set -euo pipefail
. "$(dirname "$0")/common.sh"

cd "$REPO"
new=${1:-}
old=$(version)
[[ $new =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "usage: release.sh VERSION, such as release.sh $old"
[ -z "$(git status --porcelain)" ] || die "commit or remove first what git status shows"
repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
maintainers=$(sed -n 's/^authors = \["\(.*\)"\]/\1/p' Cargo.toml)
[ -n "$repository" ] && [ -n "$maintainers" ] || die "Cargo.toml names no repository or no authors"
if [[ $repository$maintainers == *.invalid* ]]; then
    [ -n "${REHEARSE:-}" ] || die "Cargo.toml has placeholders: set repository ($repository) and authors ($maintainers)"
    say "A rehearsal: $repository and $maintainers are placeholders"
fi

# change FILE EXPRESSION: of perl, on the whole file, which must have what it looks for.
change() {
    new=$new old=$old repository=$repository maintainers=$maintainers today=$(date +%F) day=$(LC_ALL=C date '+%a %b %d %Y') now=$(LC_ALL=C date -R) \
        perl -0pi -e "(\$found = ($2)) || die qq($1 has nothing for: $3\n)" "$1"
}

change CHANGELOG.md 's/^## \Q$ENV{new}\E \([^)]*\)/## $ENV{new} ($ENV{today})/m' "the heading ## $new (unreleased)"
if [ "$new" != "$old" ]; then
    [ -e "sql/pg_mint--$old--$new.sql" ] || die "sql/pg_mint--$old--$new.sql is missing: write what updates $old to $new"
    cp "sql/pg_mint--$old.sql" "sql/pg_mint--$new.sql"
    for file in Cargo.toml core/Cargo.toml; do change "$file" 's/^version = "\Q$ENV{old}\E"/version = "$ENV{new}"/m' version; done
    for crate in pg_mint pg_mint_core; do
        change Cargo.lock 's/^(name = "'$crate'"\nversion = )".*"/$1"$ENV{new}"/m' "$crate"
    done
    for file in META.json README.md docs/start/install.md src/lib.rs; do change "$file" 's/\Q$ENV{old}\E/$ENV{new}/g' "$old"; done
    change packaging/pg_mint.spec 's/^(Version: *).*/$1$ENV{new}/m' Version
    change debian/changelog 's/^/pg-mint ($ENV{new}-1) unstable; urgency=medium\n\n  * New release.\n\n -- $ENV{maintainers}  $ENV{now}\n\n/' start
    change packaging/pg_mint.spec 's/^%changelog\n/%changelog\n* $ENV{day} $ENV{maintainers} - $ENV{new}-1\n- New release.\n\n/m' %changelog
fi
change debian/changelog 's/^ -- .*/ -- $ENV{maintainers}  $ENV{now}/m' "the line of the maintainers"
for file in debian/control.in debian/control; do change "$file" 's/^Maintainer: .*/Maintainer: $ENV{maintainers}/m' Maintainer; done
change packaging/pg_mint.spec 's/^(%changelog\n\* ).*?( - )/$1$ENV{day} $ENV{maintainers}$2/m' "its newest entry"
change META.json 's/("maintainer": )"[^"]*"/$1"$ENV{maintainers}"/' maintainer
change META.json 's#("web": )"[^"]*"#$1"$ENV{repository}"#' "the address of the repository"
change META.json 's/("release_status": ")[a-z]*/$1stable/' release_status
change README.md 's#git clone \S+#git clone $ENV{repository}#' "the address to clone"
change core/Cargo.toml 's/^repository = .*/repository = "$ENV{repository}"/m' repository
for file in README.md docs/start/install.md; do
    change "$file" 's/, not released yet|\nVersion \S+ is not released yet.*?\n(?=\n)//s || 1' status
done

"$TOOLS/versions.sh"
git --no-pager diff --stat
say "Read git diff, run RELEASE.md from its step 2 on, and commit."
