"""The tables. An id begins with its time, so that no table needs a column for it."""

import os
from datetime import datetime

from sqlalchemy import BigInteger, DateTime, ForeignKey, create_engine, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, column_property, mapped_column

# By default, libpq's variables say where the database is: PGHOST, PGUSER, PGDATABASE ...
engine = create_engine(os.environ.get("DATABASE_URL", "postgresql+psycopg://"))


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=text("snowflake_next_id(5)"))
    name: Mapped[str]


class Message(Base):
    __tablename__ = "message"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=text("snowflake_next_id(5)"))
    author_id: Mapped[int] = mapped_column(ForeignKey("author.id"), index=True)
    body: Mapped[str]
    at: Mapped[datetime] = column_property(func.snowflake_time(id, type_=DateTime(timezone=True)))
