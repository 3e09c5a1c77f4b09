# Ids as strings, ObjectIDs, and a layout as a parameter.
use_node
tested_with "node-postgres $(version_of pg)"
sql 'CREATE EXTENSION pg_mint'
report node program.js
