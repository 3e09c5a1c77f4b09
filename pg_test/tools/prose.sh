#!/usr/bin/env bash
# prose.sh: the English of documents, comments and messages, by docs/contributing/style.md and codespell.
set -euo pipefail
. "$(dirname "$0")/common.sh"

CODESPELL_VERSION=2.4.1
spell=$CACHE/codespell/bin/codespell

command -v python3 >/dev/null && python3 -c 'import ensurepip' 2>/dev/null || need python3 python3-venv
if [ "$("$spell" --version 2>/dev/null)" != "$CODESPELL_VERSION" ]; then
    say "installing codespell $CODESPELL_VERSION, by pip into $CACHE/codespell"
    rm -rf "$CACHE/codespell"
    python3 -m venv "$CACHE/codespell" && "$CACHE/codespell/bin/pip" install -q "codespell==$CODESPELL_VERSION" ||
        die "codespell could not be installed: pip needs a Python package index, as pip config says"
fi

cd "$REPO"
"$TOOLS/prose.py" "$@"
# British spellings too. Other words are names: of index methods, of fields of the server, of an author.
git ls-files -z -- '*.md' '*.rs' '*.sql' '*.sh' '*.toml' Makefile debian packaging |
    xargs -0 "$spell" --builtin clear,en-GB_to_en-US --ignore-words-list "brin,crate,inh,inout,larg,mut,ser,te" \
        --ignore-regex '`[^`]*`|[0-9A-Za-z_-]{20,}'
echo "spelling: ok"
