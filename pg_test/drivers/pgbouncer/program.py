from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import psycopg


def point(text, holds):
    print(f"{'ok' if holds else 'not ok'} {text}")


def connect():
    # A statement that is prepared in one session does not exist in the next one.
    return psycopg.connect(autocommit=True, prepare_threshold=None)


def work(client):
    ids, sessions = [], set()
    with connect() as connection:
        for n in range(100):
            query = "INSERT INTO message (body) VALUES (%s) RETURNING id, pg_backend_pid()"
            id, session = connection.execute(query, [f"{client}.{n}"]).fetchone()
            ids.append(id)
            sessions.add(session)
    return ids, sessions


since = datetime.now(timezone.utc) - timedelta(minutes=1)
until = since + timedelta(minutes=2)
with connect() as connection:
    connection.execute("CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text)")
    connection.execute("CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)")
    point("create", True)

    (one,) = connection.execute("INSERT INTO message (body) VALUES ('hello') RETURNING id").fetchone()
    point("insert one", one > 2**60)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(8)))
    ids = [id for ids, _ in answers for id in ids]
    point("insert many", len(set(ids)) == 800)
    sessions = set().union(*(sessions for _, sessions in answers))
    point("eight clients share at most three sessions", len(sessions) <= 3)

    body = connection.execute("SELECT body FROM message WHERE id = %s", [answers[3][0][7]]).fetchone()
    point("read back", body == ("3.7",))

    span = "SELECT count(*) FROM message WHERE snowflake_between(id, %s, %s)"
    point("range by time", connection.execute(span, [since, until]).fetchone() == (801,))

    query = "SELECT snowflake_time(snowflake_next_id(%s, %s), 'twitter')"
    (minted,) = connection.execute(query, [5, "twitter"]).fetchone()
    point("layout as a parameter", since < minted < until)

    (item,) = connection.execute("INSERT INTO item (name) VALUES ('lamp') RETURNING id").fetchone()
    point("objectid", connection.execute("SELECT name FROM item WHERE id = %s", [item]).fetchone() == ("lamp",))

    with connection.transaction():
        (id,) = connection.execute("INSERT INTO message (body) VALUES ('last') RETURNING id").fetchone()
        last = connection.execute("SELECT snowflake_last_id()").fetchone()
    point("snowflake_last_id() in a transaction", last == (id,))
