# `synchronize` makes the tables once, and has nothing to change at the next start. `dropSchema`, which test suites
# set, drops the application's tables and nothing else.
use_node
sql 'CREATE EXTENSION pg_mint'
synchronize() { mark && node synchronize.js "$@"; }
made() { synchronize && statements | grep 'CREATE TABLE "message"'; }
no_statement() { synchronize && ! statements | grep .; }
point "synchronize" made
point "synchronize again, without a statement" no_statement
point "dropSchema" synchronize --drop
