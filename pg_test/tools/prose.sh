#!/usr/bin/env bash
# prose.sh: the English of documents, comments and messages, by docs/STYLE.md and codespell.
set -euo pipefail
. "$(dirname "$0")/common.sh"

CODESPELL_VERSION=2.4.1
spell=$CACHE/codespell/bin/codespell

command -v python3 >/dev/null || die "python3 is missing: apt-get install python3 python3-venv"
if [ "$("$spell" --version 2>/dev/null)" != "$CODESPELL_VERSION" ]; then
    say "installing codespell $CODESPELL_VERSION, by pip into $CACHE/codespell"
    rm -rf "$CACHE/codespell"
    python3 -m venv "$CACHE/codespell" && "$CACHE/codespell/bin/pip" install -q "codespell==$CODESPELL_VERSION" ||
        die "codespell could not be installed: it needs python3-venv (apt-get install python3-venv) and a Python package index"
fi

cd "$REPO"
"$TOOLS/prose.py" "$@"
# British spellings too. Not words: the crate crate names, Debian's teh, ids in examples.
git ls-files -z -- '*.md' '*.rs' '*.sql' '*.sh' '*.toml' Makefile debian packaging ':!pg_test/vectors' ':!debian/changelog' |
    xargs -0 "$spell" --builtin clear,en-GB_to_en-US --ignore-words-list "crate,ser,mut,statics,deriver,ratatui" \
        --ignore-regex '`[^`]*`|[0-9A-Za-z_-]{20,}'
echo "spelling: ok"
