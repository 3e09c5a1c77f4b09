# The tables of an application, converted by its own migrations and by the script of mint.convert_plan, under load.
new_shop
point "shop: migrate to the tables of before" django-admin migrate shop 0001
there() { django-admin migrate shop 0002; }
back() { django-admin migrate shop 0001; }
convert_under_load
point "shop: migrate" django-admin migrate shop
point "shop: schema check" django-admin makemigrations --check
point "shop: schema check again" django-admin makemigrations --check
point "shop: create reads large ids back" django-admin shell -v 0 -c "
from shop.models import Customer, Line, Purchase
purchase = Purchase.objects.create(customer=Customer.objects.create(name='new'), note='new')
assert purchase.id > 2**60 and purchase.customer_id > 2**60
assert Line.objects.create(purchase=purchase, amount=1).purchase_id == purchase.id"
inspected() {
    django-admin inspectdb | grep -c '^    id = models.BigIntegerField(primary_key=True' >found
    echo 2 | diff - found
}
point "shop: inspectdb sees two keys of type bigint that are no identity" inspected
revert_restored
