import asyncio
import os
from datetime import datetime, timedelta, timezone
from uuid import UUID

import asyncpg


def point(text, holds):
    print(f"{'ok' if holds else 'not ok'} {text}")


async def main():
    since = datetime.now(timezone.utc) - timedelta(minutes=1)
    until = since + timedelta(minutes=2)
    connection = await asyncpg.connect(
        host=os.environ["PGHOST"], user=os.environ["PGUSER"], database=os.environ["PGDATABASE"]
    )
    await connection.execute(
        """CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text);
           CREATE TABLE event (id uuid PRIMARY KEY DEFAULT uuid_v7(), body text);
           CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)"""
    )
    point("create", True)

    one = await connection.fetchval("INSERT INTO message (body) VALUES ($1) RETURNING id", "hello")
    event = await connection.fetchval("INSERT INTO event (body) VALUES ('hello') RETURNING id")
    point("insert one", one > 2**60 and UUID(str(event)).version == 7)

    bodies = [f"hello {n}" for n in range(100)]
    rows = await connection.fetch("INSERT INTO message (body) SELECT unnest($1::text[]) RETURNING id", bodies)
    many = [row["id"] for row in rows]
    await connection.copy_records_to_table("message", records=[["copied"]] * 100, columns=["body"])
    copied = await connection.fetchval("SELECT count(*) FROM message WHERE body = 'copied' AND id > $1", one)
    point("insert many", len(many) == 100 and many == sorted(set(many)) and copied == 100)

    point("read back", await connection.fetchval("SELECT body FROM message WHERE id = $1", many[7]) == "hello 7")

    span = "SELECT count(*) FROM message WHERE snowflake_between(id, $1, $2)"
    now = await connection.fetchval(span, since, until)
    before = await connection.fetchval(span, since - timedelta(days=1), since)
    point("range by time", (now, before) == (201, 0))

    for layout in "$2", "$2::text":
        minted = await connection.fetchval(
            f"SELECT snowflake_time(snowflake_next_id($1, {layout}), 'twitter')", 5, "twitter"
        )
        point(f"layout as a parameter, as {layout}", since < minted < until)

    item = await connection.fetchval("INSERT INTO item (name) VALUES ('lamp') RETURNING id")
    found = await connection.fetchval("SELECT name FROM item WHERE id = $1", item)
    # In binary it is its 12 bytes, which COPY wants.
    await connection.set_type_codec("objectid", format="binary", encoder=bytes.fromhex, decoder=bytes.hex)
    copy = "507f1f77bcf86cd799439011"
    await connection.copy_records_to_table("item", records=[[copy, "copied"]], columns=["id", "name"])
    again = await connection.fetchval("SELECT id FROM item WHERE name = 'copied'")
    point("objectid", found == "lamp" and again == copy)
    await connection.close()


asyncio.run(main())
