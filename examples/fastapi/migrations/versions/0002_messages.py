import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.create_table(
        "author",
        sa.Column("id", sa.BigInteger, primary_key=True, server_default=sa.text("snowflake_next_id(5)")),
        sa.Column("name", sa.String, nullable=False),
    )
    op.create_table(
        "message",
        sa.Column("id", sa.BigInteger, primary_key=True, server_default=sa.text("snowflake_next_id(5)")),
        sa.Column("author_id", sa.BigInteger, sa.ForeignKey("author.id"), nullable=False, index=True),
        sa.Column("body", sa.String, nullable=False),
    )


def downgrade():
    op.drop_table("message")
    op.drop_table("author")
