# `synchronize` makes the tables once, and has nothing to change at the next start. `dropSchema`, which test suites
# set, drops the application's tables and nothing else.
use_node
tested_with "TypeORM $(version_of typeorm) with node-postgres $(version_of pg)"
synchronize() { mark && node synchronize.js "$@"; }
made() { synchronize && statements | grep 'CREATE TABLE "message"'; }
no_statement() { synchronize && ! statements | grep .; }
point "create" made
point "schema check" no_statement
point "schema check again" no_statement
sql 'CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)'
report node program.js
point "dropSchema" synchronize --drop
