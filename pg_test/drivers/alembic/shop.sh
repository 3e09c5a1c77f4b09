# The tables of an application, converted by its own migrations and by the script of mint.convert_plan, under load.
new_shop
shop() { alembic -n shop "$@"; }
point "shop: upgrade to the tables of before" shop upgrade 0001
there() { shop upgrade 0002; }
back() { shop downgrade 0001; }
convert_under_load
point "shop: schema check" shop check
point "shop: schema check again" shop check
finds_narrow() { ! shop check >found 2>&1; grep -o "modify_type', None, 'line', 'amount'" found; }
sql 'ALTER TABLE line ALTER amount TYPE bigint'
point "shop: the schema check sees another type" finds_narrow
sql 'ALTER TABLE line ALTER amount TYPE integer'
revert_restored
