# Ids, ObjectIDs, and a layout as a parameter: sent as text and in binary, and in a prepared statement.
use_python
tested_with "psycopg $(version_of psycopg)"
sql 'CREATE EXTENSION pg_mint'
report python3 program.py
report python3 parameters.py
