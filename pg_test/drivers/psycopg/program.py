from datetime import datetime, timedelta, timezone
from uuid import UUID

import psycopg


def point(text, holds):
    print(f"{'ok' if holds else 'not ok'} {text}")


since = datetime.now(timezone.utc) - timedelta(minutes=1)
until = since + timedelta(minutes=2)
with psycopg.connect(autocommit=True) as connection, connection.cursor() as cursor:
    cursor.execute("CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text)")
    cursor.execute("CREATE TABLE event (id uuid PRIMARY KEY DEFAULT uuid_v7(), body text)")
    cursor.execute("CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)")
    point("create", True)

    insert = "INSERT INTO message (body) VALUES (%s) RETURNING id"
    (one,) = cursor.execute(insert, ["hello"]).fetchone()
    (event,) = cursor.execute("INSERT INTO event (body) VALUES ('hello') RETURNING id").fetchone()
    point("insert one", one > 2**60 and isinstance(event, UUID) and event.version == 7)

    cursor.executemany(insert, [[f"hello {n}"] for n in range(100)], returning=True)
    many = [cursor.fetchone()[0]]
    while cursor.nextset():
        many.append(cursor.fetchone()[0])
    with cursor.copy("COPY message (body) FROM STDIN") as copy:
        for n in range(100):
            copy.write_row([f"copied {n}"])
    copied = cursor.execute("SELECT count(*) FROM message WHERE body LIKE 'copied%%' AND id > %s", [one]).fetchone()
    point("insert many", many == sorted(set(many)) and len(many) == 100 and copied == (100,))

    body = cursor.execute("SELECT body FROM message WHERE id = %s", [many[7]]).fetchone()
    point("read back", body == ("hello 7",))

    span = "SELECT count(*) FROM message WHERE snowflake_between(id, %s, %s)"
    now = cursor.execute(span, [since, until]).fetchone()
    before = cursor.execute(span, [since - timedelta(days=1), since]).fetchone()
    point("range by time", (now, before) == ((201,), (0,)))

    (item,) = cursor.execute("INSERT INTO item (name) VALUES ('lamp') RETURNING id").fetchone()
    found = cursor.execute("SELECT name FROM item WHERE id = %s", [item]).fetchone()
    binary = connection.cursor(binary=True).execute("SELECT id FROM item").fetchone()
    point("objectid", found == ("lamp",) and binary == (bytes.fromhex(item),))
