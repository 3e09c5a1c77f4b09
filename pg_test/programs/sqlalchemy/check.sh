# A layout in func.*, which SQLAlchemy sends as VARCHAR by all but one of its drivers.
use_python
sql 'CREATE EXTENSION pg_mint'
report python3 layout.py
