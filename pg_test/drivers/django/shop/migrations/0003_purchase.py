from django.db import migrations, models
from django.db.models import Func


class Migration(migrations.Migration):
    """What the script of mint.convert_plan has done."""

    dependencies = [("shop", "0002_customer")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "Purchase",
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
