#!/bin/sh
# run.sh: installs the packages, migrates the database, and serves http://127.0.0.1:8000, or another PORT.
# run.sh test: the tests instead, in the same database.
set -e
cd "$(dirname "$0")"
[ -e node_modules ] || npm ci --ignore-scripts --no-audit --no-fund
if [ "$1" = test ]; then exec node --test test.js; fi
exec node server.js
