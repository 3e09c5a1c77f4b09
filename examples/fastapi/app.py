"""Messages over HTTP. Ids are integers in Python and in the database, and strings in JSON: JavaScript rounds numbers."""

from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from models import Author, Message, engine

# Of an id that no bigint can be, the database would say so as an error of the server.
Id = Annotated[int, Field(ge=0, lt=2**63), PlainSerializer(str), WithJsonSchema({"type": "string", "format": "int64"})]


class NewAuthor(BaseModel):
    name: str


class NewMessage(BaseModel):
    author_id: Id
    body: str


class AuthorOut(NewAuthor):
    model_config = ConfigDict(from_attributes=True)
    id: Id


class MessageOut(NewMessage):
    model_config = ConfigDict(from_attributes=True)
    id: Id
    at: AwareDatetime


class Page(BaseModel):
    messages: list[MessageOut]
    next: Id | None


def session():
    with Session(engine) as session, session.begin():
        yield session


Db = Annotated[Session, Depends(session)]
app = FastAPI(title="Messages")


@app.post("/authors", status_code=201)
def add_author(new: NewAuthor, db: Db) -> AuthorOut:
    return db.scalars(insert(Author).values(name=new.name).returning(Author)).one()


@app.post("/messages", status_code=201)
def add_message(new: NewMessage, db: Db) -> MessageOut:
    try:
        return db.scalars(insert(Message).values(author_id=new.author_id, body=new.body).returning(Message)).one()
    except IntegrityError:
        raise HTTPException(422, "there is no such author") from None


@app.get("/messages/{id}")
def message(id: Id, db: Db) -> MessageOut:
    return db.get(Message, id) or missing()


@app.get("/messages")
def messages(
    db: Db,
    before: Id | None = None,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Page:
    rows = db.scalars(page(before, since, until, limit)).all()
    return Page(messages=rows, next=rows[-1].id if len(rows) == limit else None)


def page(before, since, until, limit):
    """Returns the query for the newest messages below an id and within a range of time. Both use the primary key."""
    query = select(Message).order_by(Message.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Message.id < before)
    if since is not None:
        query = query.where(Message.at >= since)
    if until is not None:
        query = query.where(Message.at < until)
    return query


def missing():
    raise HTTPException(404, "there is no such message")
