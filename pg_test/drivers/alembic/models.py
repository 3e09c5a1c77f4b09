from uuid import UUID

from sqlalchemy import BigInteger, Text, text
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import UserDefinedType


class ObjectId(UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **_):
        return "objectid"


# The name of the type in the catalog, without which reflection warns and a comparison of types sees nothing.
PGDialect.ischema_names["objectid"] = ObjectId


class Base(DeclarativeBase):
    pass


class Message(Base):
    __tablename__ = "message"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=text("snowflake_next_id(5)"))
    body: Mapped[str] = mapped_column(Text)


class Tweet(Base):
    __tablename__ = "tweet"
    # With the cast that the catalog gives back; without it each check would find a change.
    id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, server_default=text("snowflake_next_id(5, 'twitter'::snowflake_layout)")
    )


class Event(Base):
    __tablename__ = "event"
    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=text("uuid_v7()"))


class Item(Base):
    __tablename__ = "item"
    id: Mapped[str] = mapped_column(ObjectId, primary_key=True, server_default=text("objectid()"))
