from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from app import app, page
from models import Message, engine

client = TestClient(app)


def post(path, **body):
    answer = client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def author():
    return post("/authors", name="Ada")["id"]


def test_ids_are_text_and_exact(author):
    """Both the key and the foreign key, as they are in the database."""
    sent = post("/messages", author_id=author, body="hello")
    with Session(engine) as db:
        row = db.scalars(select(Message).order_by(Message.id.desc()).limit(1)).one()
        assert row.id > 2**53 and row.author_id > 2**53
        assert (sent["id"], sent["author_id"]) == (str(row.id), str(row.author_id))
    assert client.get(f"/messages/{sent['id']}").json() == sent
    # Text also where the id is not a field of a row.
    assert f'"next":"{sent["id"]}"' in client.get("/messages", params={"limit": 1}).text.replace(" ", "")


def test_the_documentation_says_text():
    schemas = app.openapi()["components"]["schemas"]
    fields = [("MessageOut", "id"), ("MessageOut", "author_id"), ("NewMessage", "author_id")]
    ids = [schemas[name]["properties"][field] for name, field in fields]
    assert [(id["type"], id["format"]) for id in ids] == [("string", "int64")] * 3


def test_an_author_must_exist():
    assert client.post("/messages", json={"author_id": "1", "body": "?"}).status_code == 422
    assert client.get("/messages/1").status_code == 404
    assert client.get("/messages/9999999999999999999").status_code == 422


def test_pages_have_each_message_once(author):
    sent = [post("/messages", author_id=author, body=f"hello {n}")["id"] for n in range(25)]
    found, before = [], {}
    while len(found) < 25:
        answer = client.get("/messages", params={"limit": 10, **before}).json()
        found += [message["id"] for message in answer["messages"]]
        before = {"before": answer["next"]}
        # A new message moves no page.
        post("/messages", author_id=author, body="meanwhile")
    assert found[:25] == sent[::-1]


def test_a_range_of_time(author):
    sent = post("/messages", author_id=author, body="now")
    at = datetime.fromisoformat(sent["at"])
    tick = timedelta(milliseconds=1)

    def within(since, until):
        span = {"since": since.isoformat(), "until": until.isoformat()}
        return sent["id"] in [row["id"] for row in client.get("/messages", params=span).json()["messages"]]

    assert within(at, at + tick)
    assert not within(at - tick, at) and not within(at + tick, at + 2 * tick)


@pytest.mark.parametrize("span", [(2**62, None, None), (None, datetime.now().astimezone(), None)])
def test_the_primary_key_finds_them(span):
    query = page(*span, 20)
    with Session(engine) as db:
        # Of a small table, the planner would read all.
        db.execute(text("SET LOCAL enable_seqscan = off"))
        db.execute(text("SET LOCAL enable_bitmapscan = off"))
        compiled = query.compile(engine)
        plan = db.connection().exec_driver_sql(f"EXPLAIN {compiled}", compiled.params)
        plan = "\n".join(line for (line,) in plan)
    assert "Index Scan Backward using message_pkey" in plan and "Index Cond" in plan, plan
