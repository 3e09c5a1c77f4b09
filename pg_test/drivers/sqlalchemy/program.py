from datetime import datetime, timedelta, timezone
from uuid import UUID

from sqlalchemy import DDL, BigInteger, Text, create_engine, event, func, insert, inspect, select, text
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, orm_insert_sentinel
from sqlalchemy.types import UserDefinedType


class ObjectId(UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **_):
        return "objectid"


PGDialect.ischema_names["objectid"] = ObjectId


class Base(DeclarativeBase):
    pass


class Message(Base):
    __tablename__ = "message"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=text("snowflake_next_id(5)"))
    body: Mapped[str] = mapped_column(Text)
    # With it, one statement inserts many rows.
    sentinel: Mapped[int] = orm_insert_sentinel()


class Event(Base):
    __tablename__ = "event"
    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=text("uuid_v7()"))


class Item(Base):
    __tablename__ = "item"
    id: Mapped[str] = mapped_column(ObjectId, primary_key=True, server_default=text("objectid()"))
    name: Mapped[str] = mapped_column(Text)


def point(text, holds):
    print(f"{'ok' if holds else 'not ok'} {text}")


since = datetime.now(timezone.utc) - timedelta(minutes=1)
until = since + timedelta(minutes=2)
engine = create_engine("postgresql+psycopg://")
event.listen(Base.metadata, "before_create", DDL("CREATE EXTENSION IF NOT EXISTS pg_mint"))
sent = []
event.listen(engine, "before_cursor_execute", lambda _c, _k, statement, *_: sent.append(statement))


def changes():
    """Makes the tables as the models say, and returns how many statements that took."""
    sent.clear()
    Base.metadata.create_all(engine)
    return sum("CREATE TABLE" in statement for statement in sent)


point("create", changes() == 3)
point("schema check", changes() == 0)
point("schema check again", changes() == 0)
defaults = [column["default"] for column in inspect(engine).get_columns("message")]
point("reflection sees the default", defaults[0] == "snowflake_next_id(5)")

with Session(engine) as session:
    message, moment = Message(body="hello"), Event()
    session.add_all([message, moment])
    session.flush()
    point("insert one", message.id > 2**60 and moment.id.version == 7)

    messages = [Message(body=f"hello {n}") for n in range(100)]
    sent.clear()
    session.add_all(messages)
    session.flush()
    ids = [message.id for message in messages]
    bulk = list(session.scalars(insert(Message).returning(Message.id), [{"body": f"bulk {n}"} for n in range(100)]))
    point("insert many", len({*ids, *bulk}) == 200 and len(sent) == 2)

    session.expire_all()
    point("read back", session.get(Message, ids[7]).body == "hello 7")

    span = select(func.count()).select_from(Message).where(func.snowflake_between(Message.id, since, until))
    point("range by time", session.scalar(span) == 201)

    item = Item(name="lamp")
    session.add(item)
    session.flush()
    session.expire_all()
    point("objectid", session.scalars(select(Item).where(Item.id == item.id)).one().name == "lamp")
    session.commit()
