#!/bin/sh
# pg_tle.sh: prints the SQL that installs pg_mint_sql.sql as a trusted language extension, for a database that has pg_tle.
#
#     ./pg_tle.sh | psql -1 -v ON_ERROR_STOP=1
#     psql -c 'CREATE EXTENSION pg_mint_sql' -c 'SELECT mint_sql.shard_create(5)'
#
# pg_tle.sh --dbdev FOLDER writes the package of database.dev instead: a control file and the script.
set -eu
here=$(dirname "$0")
version=$(sed -n 's/.* Version \([0-9.]*[0-9]\)\.$/\1/p' "$here/pg_mint_sql.sql")
comment='Ids of pg_mint, in SQL alone'
if [ "${1:-}" = --dbdev ]; then
    mkdir -p "$2"
    printf "default_version = '%s'\ncomment = '%s'\nrelocatable = false\nsuperuser = false\n" "$version" "$comment" >"$2/pg_mint_sql.control"
    cp "$here/pg_mint_sql.sql" "$2/pg_mint_sql--$version.sql"
    exit
fi
printf "SELECT pgtle.install_extension('pg_mint_sql', '%s', '%s', \$pg_mint_tle\$\n" "$version" "$comment"
cat "$here/pg_mint_sql.sql"
printf '%s\n' "\$pg_mint_tle\$);"
