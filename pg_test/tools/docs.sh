#!/usr/bin/env bash
# docs.sh, on Linux: builds README.md and docs/, without the pages for contributors, into one site with mdBook, checks its links, adds
# llms.txt and llms-full.txt, and prints its path.
#
# Links are written for the checkout; in the site README.md is beside the pages.
set -euo pipefail
. "$(dirname "$0")/common.sh"

MDBOOK_VERSION=0.5.4
stage=$CACHE/docs

command -v cargo >/dev/null || die "Rust is missing: see https://rustup.rs ($RUST_VERSION or newer)"
command -v python3 >/dev/null || die "python3 is missing: apt-get install python3"
[ "$(mdbook --version 2>/dev/null)" = "mdbook v$MDBOOK_VERSION" ] ||
    step "installing mdBook $MDBOOK_VERSION, about 3 minutes" mdbook env -u CARGO_TARGET_DIR \
        cargo install mdbook --version "$MDBOOK_VERSION" --locked --root "$CACHE/cargo"

rm -rf "$stage"
mkdir -p "$stage/src"
cp "$REPO"/docs/{book.toml,site.css} "$stage/"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$REPO/Cargo.toml" | head -n 1)
sed -i "s/^title = \"pg_mint\"/title = \"pg_mint $version\"/" "$stage/book.toml"
(cd "$REPO/docs" && find . \( -name '*.md' ! -path './contributing/*' -o -name '*.svg' -o -path './monitoring/*' \) \
    -exec cp --parents {} "$stage/src/" \;)
(cd "$REPO" && find bench/results -name '*.svg' -exec cp --parents {} "$stage/src/" \;)
sed 's#](docs/#](#g; s#](CHANGELOG.md)#](changelog.md)#g; s#\[\([A-Za-z.]*\)\](\(LICENSE\|\(CONTRIBUTING\|RELEASE\|SECURITY\).md\))#\1#g' \
    "$REPO/README.md" >"$stage/src/README.md"
sed 's#](docs/#](#g' "$REPO/CHANGELOG.md" >"$stage/src/changelog.md"
# mdBook shows the index beside each page, and not as a page: where a page links to it, that is one.
sed 's|^# Summary|# All pages|; s|^# \([A-Z]\)|## \1|; s|^## All|# All|; s|](\.\./README.md)|](index.md)|; s|](\.\./CHANGELOG.md)|](changelog.md)|; s|\[\(.*\)\]()|\1|' \
    "$stage/src/SUMMARY.md" >"$stage/src/contents.md"
# The checkout has projects, reports of the bench and pages for contributors, which the site lacks: such links lead to the
# repository. They can be broken over two lines.
source=$(sed -n 's/^repository = "\(.*\)"/\1/p' "$REPO/Cargo.toml" | head -n 1)/blob/main
find "$stage/src" -name '*.md' -exec perl -0pi -e "
    s#(?<!!)(\[[^][]*\]\()(?:\.\./)*((?:examples|pg_test|core|bench)/[^)]*|SECURITY\.md)\)#\$1$source/\$2)#g;
    s#(?<!!)(\[[^][]*\]\()(?:\.\./)*(contributing/[^)]*)\)#\$1$source/docs/\$2)#g" {} +
sed -i 's|](\.\./README.md)|](README.md)|; s|](\.\./CHANGELOG.md)|](changelog.md)|
    s|^- \[Glossary\]|- [All pages](contents.md)\n&|' "$stage/src/SUMMARY.md"
# docs/ is the root of the site, so links to files beside it lose one level.
find "$stage/src" -name '*.md' ! -name SUMMARY.md -exec sed -i \
    's|](\(\(\.\./\)*\)\.\./bench/|](\1bench/|g; s|](\(\(\.\./\)*\)\.\./CHANGELOG.md|](\1changelog.md|g; s|SUMMARY\.md|contents.md|g; s|](\(\(\.\./\)*\)\.\./README.md|](\1index.md|g' {} +
mdbook build "$stage"
"$TOOLS/site_links.py" "$stage/book"
"$TOOLS/llms.py" "$stage/book"
echo "docs: $stage/book/index.html"
