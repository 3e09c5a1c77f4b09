from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.execute(
        "SELECT mint.convert('customer', 'id', 'snowflake_next_id(5)', lock_timeout => '500 ms', retries => 20)"
    )


def downgrade():
    op.execute("SELECT mint.convert_revert('customer', 'id', lock_timeout => '500 ms', retries => 20)")
