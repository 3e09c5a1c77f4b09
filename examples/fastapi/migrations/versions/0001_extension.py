"""The extension first: `alembic revision --autogenerate` does not write it."""

from alembic import op

revision = "0001"
down_revision = None


def upgrade():
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_mint")


def downgrade():
    """Keeps the extension: other tables of the database can have defaults that need it."""
