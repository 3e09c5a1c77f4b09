# As they are after all conversions.
from django.db import models
from django.db.models import Func


class Customer(models.Model):
    id = models.BigIntegerField(primary_key=True, editable=False, db_default=Func(5, function="snowflake_next_id"))
    name = models.TextField()

    class Meta:
        db_table = "customer"


class Purchase(models.Model):
    id = models.BigIntegerField(primary_key=True, editable=False, db_default=Func(5, function="snowflake_next_id"))
    customer = models.ForeignKey(Customer, models.CASCADE)
    note = models.TextField()

    class Meta:
        db_table = "purchase"


class Line(models.Model):
    id = models.BigAutoField(primary_key=True)
    purchase = models.ForeignKey(Purchase, models.CASCADE)
    amount = models.IntegerField()

    class Meta:
        db_table = "line"
