# The tables of an application, converted by its own migrations and by the script of mint.convert_plan, under load.
new_shop
shop() { /usr/bin/ruby shop.rb "$@"; }
point "shop: migrate to the tables of before" shop before
there() { shop there; }
back() { shop back; }
convert_under_load
loads() { database "${PGDATABASE}_loaded" && shop check; }
point "shop: db:schema:dump, loaded, is dumped as the same" loads
point "shop: db:schema:dump, loaded, is dumped as the same again" loads
revert_restored
