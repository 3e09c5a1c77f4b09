# Alembic finds in the database what the models say, defaults included: `alembic check`, twice.
use_python
tested_with "Alembic $(version_of alembic) with SQLAlchemy $(version_of SQLAlchemy)"
export PYTHONPATH=.
point "create" alembic upgrade head

found() { alembic check >found 2>&1; grep -o "('$1', [^,]*, [^,]*" found; }
finds_no() { ! found "$1"; }
point "drops no table of pg_mint" finds_no remove_table
point "changes no default" finds_no modify_default
point "schema check" alembic check
point "schema check again" alembic check

# It does see a difference.
sql "ALTER TABLE message ALTER id SET DEFAULT snowflake_next_id(6)"
point "sees the default of another shard" found "modify_default', None, 'message"

