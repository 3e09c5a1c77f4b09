"""Prints a message as JSON, and reads it back.

With the argument `number`, as Django prints it by itself; with `setting`, as a setting of Django REST framework does.
"""

import os
import sys

import django
from django.conf import settings

database = {"NAME": "PGDATABASE", "USER": "PGUSER", "HOST": "PGHOST", "PORT": "PGPORT"}
database = {key: os.environ[variable] for key, variable in database.items()}
mode = sys.argv[1] if sys.argv[1:] else None
rest = {"COERCE_BIGINT_TO_STRING": mode == "setting"}
settings.configure(REST_FRAMEWORK=rest, DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", **database}})
django.setup()

from django.db import models
from django.http import JsonResponse
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer


class Author(models.Model):
    id = models.BigIntegerField(primary_key=True)

    class Meta:
        app_label = "json"
        db_table = "author"


class Message(models.Model):
    id = models.BigIntegerField(primary_key=True)
    author = models.ForeignKey(Author, models.PROTECT)

    class Meta:
        app_label = "json"
        db_table = "message"


class MessageSerializer(serializers.ModelSerializer):
    id = serializers.CharField(read_only=True)
    author = serializers.PrimaryKeyRelatedField(queryset=Author.objects, pk_field=serializers.CharField())

    class Meta:
        model = Message
        fields = ["id", "author"]


class PlainSerializer(serializers.ModelSerializer):
    class Meta:
        model = Message
        fields = ["id", "author"]


message = Message.objects.get()
if mode == "number":
    print(JsonResponse({"id": message.id, "author": message.author_id}).content.decode())
elif mode == "setting":
    print(JSONRenderer().render(PlainSerializer(message).data).decode())
else:
    answer = MessageSerializer(message).data
    print(JSONRenderer().render(answer).decode())
    back = MessageSerializer(data=answer)
    back.is_valid(raise_exception=True)
    assert back.validated_data["author"].id == message.author_id
