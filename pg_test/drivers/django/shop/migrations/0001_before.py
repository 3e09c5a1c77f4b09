from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "Customer",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.TextField()),
            ],
            {"db_table": "customer"},
        ),
        migrations.CreateModel(
            "Purchase",
            [
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("customer", models.ForeignKey(on_delete=models.CASCADE, to="shop.customer")),
                ("note", models.TextField()),
            ],
            {"db_table": "purchase"},
        ),
        migrations.CreateModel(
            "Line",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("purchase", models.ForeignKey(on_delete=models.CASCADE, to="shop.purchase")),
                ("amount", models.IntegerField()),
            ],
            {"db_table": "line"},
        ),
    ]
