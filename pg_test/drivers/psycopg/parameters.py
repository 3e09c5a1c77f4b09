import psycopg

CALLS = {
    "snowflake_next_id": "snowflake_time(snowflake_next_id({shard}, {layout}), 'twitter') > now() - interval '1 minute'",
    "snowflake_next_ids": "(SELECT count(*) FROM snowflake_next_ids({shard}, 3, {layout})) = 3",
    "snowflake_time": "snowflake_time(454947766275222906, {layout}) BETWEEN '2014-04-01' AND '2014-05-01'",
    "snowflake_between": "snowflake_between(454947766275222906, '2014-04-01', '2014-05-01', {layout})",
}
VALUES = {"shard": 5, "layout": "twitter"}

with psycopg.connect(autocommit=True) as connection:
    for form, sign in {"unspecified": "s", "text": "t", "binary": "b"}.items():
        for function, call in CALLS.items():
            query = "SELECT " + call.format(shard=f"%(shard){sign}", layout=f"%(layout){sign}")
            point = f"layout as a parameter of {function}, format {form}"
            try:
                row = connection.execute(query, VALUES, prepare=True).fetchone()
                print(f"ok {point}" if row == (True,) else f"not ok {point}: {row}")
            except psycopg.Error as error:
                print(f"not ok {point}: {error.diag.message_primary}")
