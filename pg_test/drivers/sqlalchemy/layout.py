import asyncio
import os
from datetime import datetime, timedelta, timezone

from sqlalchemy import create_engine, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

ADDRESS = "postgresql+{driver}://{PGUSER}@{PGHOST}:{PGPORT}/{PGDATABASE}"
LAYOUT = "twitter"
TWEET = 454947766275222906
APRIL, MAY = (datetime(2014, month, 1, tzinfo=timezone.utc) for month in (4, 5))
A_MINUTE_AGO = datetime.now(timezone.utc) - timedelta(minutes=1)

CALLS = {
    "snowflake_next_id": func.snowflake_time(func.snowflake_next_id(5, LAYOUT), LAYOUT) > A_MINUTE_AGO,
    "snowflake_time": func.snowflake_time(TWEET, LAYOUT).between(APRIL, MAY),
    "snowflake_between": func.snowflake_between(TWEET, APRIL, MAY, LAYOUT),
}


def report(driver, connection):
    for function, call in CALLS.items():
        point = f"layout as a parameter of func.{function}, {driver}"
        try:
            with connection.begin():
                value = connection.execute(select(call)).scalar_one()
                print(f"ok {point}" if value is True else f"not ok {point}: {value}")
        except DBAPIError as error:
            print(f"not ok {point}: {error.orig}".splitlines()[0])


async def report_asynchronously(driver):
    async with create_async_engine(ADDRESS.format(driver=driver, **os.environ)).connect() as connection:
        await connection.run_sync(lambda connection: report(driver, connection))


for driver in "psycopg", "pg8000":
    with create_engine(ADDRESS.format(driver=driver, **os.environ)).connect() as connection:
        report(driver, connection)
asyncio.run(report_asynchronously("asyncpg"))
