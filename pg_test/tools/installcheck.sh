#!/usr/bin/env bash
# installcheck.sh [PG_CONFIG]: pg_regress and pg_isolation_regress against a running
# server that has pg_mint installed, and that libpq's variables (PGHOST, PGPORT ...)
# find. They create the databases contrib_regression, as PGXS does, and
# isolation_regression.
set -euo pipefail
tests=$(cd "$(dirname "$0")/.." && pwd)
# In a shell of its own, as that unsets the variables.
pg_config=$(. "$tests/tools/common.sh" && find_pg_config "${1:-}")
programs=$(dirname "$("$pg_config" --pgxs)")/../test
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prepared=$("$("$pg_config" --bindir)/psql" -X -A -t -d postgres -c 'SHOW max_prepared_transactions')

# check PROGRAM FOLDER PATTERN OPTION...: runs the tests FOLDER/PATTERN.
check() {
    local program=$1 folder=$2 pattern=$3 file names=() rc=0
    shift 3
    for file in "$folder"/$pattern; do
        if [ "$prepared" = 0 ] && grep -q 'PREPARE TRANSACTION' "$file"; then
            echo "SKIPPED, as max_prepared_transactions is 0: $file"
            continue
        fi
        file=${file##*/}
        names+=("${file%.*}")
    done
    "$programs/$program" "$@" --bindir="$("$pg_config" --bindir)" --inputdir="$folder" --outputdir="$work" \
        --encoding=UTF8 --no-locale "${names[@]}" || rc=$?
    if [ "$rc" != 0 ]; then
        cat "$work/regression.diffs"
        exit "$rc"
    fi
}

cd "$work"
ln -s "$tests/sql" sql    # for what the tests include
check regress/pg_regress "$tests" 'sql/*.sql' --dbname=contrib_regression
check isolation/pg_isolation_regress "$tests/isolation" 'specs/*.spec' --load-extension=pg_mint
