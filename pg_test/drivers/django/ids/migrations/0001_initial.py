from django.contrib.postgres.operations import CreateExtension
from django.db import migrations, models
from django.db.models import Func, Value

from ids.models import ObjectIdField


class Migration(migrations.Migration):
    initial = True
    operations = [
        CreateExtension("pg_mint"),
        migrations.CreateModel(
            "Message",
            [
                (
                    "id",
                    models.BigIntegerField(
                        primary_key=True,
                        editable=False,
                        serialize=False,
                        db_default=Func(5, function="snowflake_next_id"),
                    ),
                ),
                ("body", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            "Tweet",
            [
                (
                    "id",
                    models.BigIntegerField(
                        primary_key=True,
                        editable=False,
                        serialize=False,
                        db_default=Func(5, Value("twitter"), function="snowflake_next_id"),
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            "Event",
            [
                (
                    "id",
                    models.UUIDField(
                        primary_key=True, editable=False, serialize=False, db_default=Func(function="uuid_v7")
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            "Item",
            [
                (
                    "id",
                    ObjectIdField(
                        primary_key=True, editable=False, serialize=False, db_default=Func(function="objectid")
                    ),
                ),
                ("name", models.TextField()),
            ],
        ),
    ]
