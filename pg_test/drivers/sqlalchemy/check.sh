# The ORM, and a layout in func.*, which SQLAlchemy sends as VARCHAR by all but one of its drivers.
use_python
tested_with "SQLAlchemy $(version_of SQLAlchemy) with psycopg $(version_of psycopg), pg8000 $(version_of pg8000), asyncpg $(version_of asyncpg)"
report python3 program.py
report python3 layout.py
