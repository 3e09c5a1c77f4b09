# Ids, ObjectIDs and a layout as a parameter, which asyncpg prepares on the server and sends in binary.
use_python
tested_with "asyncpg $(version_of asyncpg)"
sql 'CREATE EXTENSION pg_mint'
report python3 program.py
