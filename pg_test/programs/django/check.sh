# Migrations settle, rows learn their ids, and inspectdb finds the application's tables only.
use_python
export DJANGO_SETTINGS_MODULE=settings PYTHONPATH=.
point "migrate" django-admin migrate
point "makemigrations --check" django-admin makemigrations --check
point "create reads the id back" django-admin shell -v 0 -c "
from ids.models import Message
assert Message.objects.create(body='hello').id > 2**60"

inspected() { django-admin inspectdb "$@" | grep -o "db_table = .*" | sort >found; }
only_mine() {
    inspected "$@" || return
    printf "db_table = '%s'\n" django_migrations ids_event ids_message ids_tweet | diff - found
}
point "inspectdb" only_mine
point "inspectdb with views" only_mine --include-views
