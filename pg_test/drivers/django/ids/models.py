from django.db import models
from django.db.models import Func, Value


class Message(models.Model):
    id = models.BigIntegerField(primary_key=True, editable=False, db_default=Func(5, function="snowflake_next_id"))
    body = models.TextField()


class Tweet(models.Model):
    id = models.BigIntegerField(
        primary_key=True, editable=False, db_default=Func(5, Value("twitter"), function="snowflake_next_id")
    )


class Event(models.Model):
    id = models.UUIDField(primary_key=True, editable=False, db_default=Func(function="uuid_v7"))


class ObjectIdField(models.Field):
    def db_type(self, connection):
        return "objectid"


class Item(models.Model):
    id = ObjectIdField(primary_key=True, editable=False, db_default=Func(function="objectid"))
    name = models.TextField()
