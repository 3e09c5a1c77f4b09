# A layout as a parameter, sent as text and in binary, and in a prepared statement.
use_python
sql 'CREATE EXTENSION pg_mint'
report python3 layout.py
