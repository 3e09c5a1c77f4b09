from django.db import migrations, models
from django.db.models import Func


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_before")]
    operations = [
        migrations.RunSQL(
            "SELECT mint.convert('customer', 'id', 'snowflake_next_id(5)', lock_timeout => '500 ms', retries => 20)",
            "SELECT mint.convert_revert('customer', 'id', lock_timeout => '500 ms', retries => 20)",
            [
                migrations.AlterField(
                    "Customer",
                    "id",
                    models.BigIntegerField(
                        primary_key=True,
                        editable=False,
                        serialize=False,
                        db_default=Func(5, function="snowflake_next_id"),
                    ),
                ),
            ],
        ),
    ]
