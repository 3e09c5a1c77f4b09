from alembic import context

from models import Base, engine

with engine.connect() as connection:
    context.configure(
        connection=connection, target_metadata=Base.metadata, compare_type=True, compare_server_default=True
    )
    with context.begin_transaction():
        context.run_migrations()
