from alembic import context
from shop import Base
from sqlalchemy import create_engine

# libpq's variables say where the database is.
with create_engine("postgresql+psycopg://").connect() as connection:
    context.configure(
        connection=connection, target_metadata=Base.metadata, compare_type=True, compare_server_default=True
    )
    with context.begin_transaction():
        context.run_migrations()
