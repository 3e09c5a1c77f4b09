import sqlalchemy as sa
from alembic import op

from models import Base

revision = "0001"
down_revision = None


def upgrade():
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_mint")
    Base.metadata.create_all(op.get_bind())
