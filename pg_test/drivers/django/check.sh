# Migrations settle, rows learn their ids, and inspectdb finds the application's tables only.
use_python
tested_with "Django $(version_of Django) with psycopg $(version_of psycopg)"
export DJANGO_SETTINGS_MODULE=settings PYTHONPATH=.
point "create" django-admin migrate ids
point "schema check" django-admin makemigrations --check
point "schema check again" django-admin makemigrations --check
report django-admin shell -v 0 -c "from ids import program; program.main()"

inspected() { django-admin inspectdb "$@" | grep -o "db_table = .*" | sort >found; }
only_mine() {
    inspected "$@" || return
    printf "db_table = '%s'\n" django_migrations ids_event ids_item ids_message ids_tweet | diff - found
}
point "inspectdb" only_mine
point "inspectdb with views" only_mine --include-views
