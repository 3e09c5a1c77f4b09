#!/bin/sh
# run.sh [OPTION OF UVICORN...]: installs the packages, migrates the database, and serves http://127.0.0.1:8000.
# run.sh test: the tests instead, in the same database.
set -e
cd "$(dirname "$0")"
[ -e .venv ] || python3 -m venv .venv
.venv/bin/pip install --quiet --no-deps --requirement requirements.txt
.venv/bin/alembic upgrade head
if [ "$1" = test ]; then exec .venv/bin/pytest -q; fi
exec .venv/bin/uvicorn app:app "$@"
