import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade():
    op.create_table(
        "customer",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
    )
    op.create_table(
        "purchase",
        sa.Column("id", sa.Integer, sa.Identity(always=True), primary_key=True),
        sa.Column("customer_id", sa.BigInteger, sa.ForeignKey("customer.id"), nullable=False, index=True),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_table(
        "line",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("purchase_id", sa.Integer, sa.ForeignKey("purchase.id"), nullable=False, index=True),
        sa.Column("amount", sa.Integer, nullable=False),
    )
