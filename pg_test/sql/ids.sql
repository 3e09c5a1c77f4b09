-- Published ids of other systems, and what cannot be an id.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';

SELECT snowflake_encode('2018-06-09T10:00:00Z', 786, 3450, 'java');
SELECT * FROM snowflake_decode(850007368138018817, 'twitter');
SELECT snowflake_encode(timestamptz '2011-08-24T21:07:01.721Z' + 1387263000 * interval '1 ms', 31341 % 2000, 5001 % 1024);
SELECT snowflake_encode('2020-01-01T00:00:00Z', 2, 1, 'sonyflake'),
       snowflake_encode('2025-06-01T00:00:00Z', 65535, 255, 'sonyflake2');
SELECT * FROM snowflake_decode(180363646902239241, 'time:29 shard:21 seq:13 unit:1s epoch:2016-09-20T00:00:00+08:00');

-- A layout can have made an id, or not.
SELECT snowflake_is_valid(0) AS zero, snowflake_is_valid(-1) AS negative, snowflake_is_valid(9223372036854775807) AS last,
       snowflake_is_valid(9007199254740991, 'javascript') AS of_53_bits, snowflake_is_valid(9007199254740992, 'javascript') AS of_54_bits,
       snowflake_is_valid(NULL) AS "null";

-- The first and the last of a layout.
SELECT snowflake_encode('2046-06-27T17:00:49.496Z', 8191, 1023);
SELECT snowflake_encode('2080-07-10T17:30:30.208Z', 1023, 4095, 'twitter');
SELECT snowflake_encode('2011-08-24T21:07:01.721Z', 0, 0);
SELECT snowflake_encode('2024-11-20T13:24:15Z', 0, 0, 'baidu');

-- Beyond them.
SELECT snowflake_encode('2046-06-27T17:00:49.497Z', 0, 0);
SELECT snowflake_encode('2011-08-24T21:07:01.720Z', 0, 0);
SELECT snowflake_encode('infinity', 0, 0);
SELECT snowflake_encode('-infinity', 0, 0);
SELECT snowflake_encode('2020-01-01Z', 8192, 0);
SELECT snowflake_encode('2020-01-01Z', -1, 0);
SELECT snowflake_encode('2020-01-01Z', 0, 1024);
SELECT snowflake_encode('2020-01-01Z', 0, -1);
SELECT snowflake_encode('2020-01-01Z', 1, 0, 'mastodon');
SELECT snowflake_decode(-1);
SELECT snowflake_time(1::bigint << 60, 'javascript');
-- The HINT of a negative id, as that of Mastodon's instance actor, helps a query and an index.
CREATE TABLE account AS SELECT unnest(ARRAY[-99, snowflake_encode('2020-01-01Z', 0, 0, 'mastodon')]) AS id;
SELECT min(snowflake_time(id, 'mastodon')) FROM account;
SELECT min(snowflake_time(id, 'mastodon')), min(id_to_text(id)) FROM account WHERE id >= 0;
CREATE INDEX ON account (snowflake_time(id, 'mastodon'));
CREATE INDEX ON account (snowflake_time(id, 'mastodon')) WHERE id >= 0;
DROP TABLE account;
SELECT snowflake_next_id(8192);
SELECT snowflake_next_id(-1);
SELECT snowflake_next_id(5, 'tso');
SELECT snowflake_next_id(NULL);
SELECT snowflake_next_id(1, NULL);
SELECT snowflake_next(NULL);
SELECT snowflake_next_ids(1, -1);
SELECT snowflake_next_ids(1, NULL);
SELECT snowflake_next_ids(NULL, 1);
SELECT snowflake_next_id(1, 'baidu');
SELECT snowflake_next_id(1, 'time:41 shard:10 seq:12 unit:1ms epoch:2200-01-01T00:00:00Z');
SELECT snowflake_time(NULL), snowflake_encode(NULL, 1, 1), snowflake_min(NULL);

-- Their SQLSTATEs.
CREATE FUNCTION state(statement text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN EXECUTE statement; RETURN 'none'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
SELECT state(statement), statement FROM unnest(ARRAY[
    $$SELECT snowflake_encode('infinity', 0, 0)$$,
    $$SELECT snowflake_encode('2020-01-01Z', 8192, 0)$$,
    $$SELECT snowflake_encode('2020-01-01Z', 0, 1024)$$,
    $$SELECT snowflake_decode(-1)$$,
    $$SELECT snowflake_next_id(NULL)$$,
    $$SELECT snowflake_next_id(8192)$$,
    $$SELECT snowflake_next_ids(1, -1)$$,
    $$SELECT snowflake_next_id(1, 'baidu')$$,
    $$SELECT snowflake_next_id(1, 'time:41 shard:10 seq:12 epoch:2200-01-01T00:00:00Z')$$,
    $$SELECT snowflake_next_id()$$,
    $$SELECT snowflake_min('2020-01-01', 'seq:10 time:30 shard:13 epoch:2020-01-01T00:00:00Z')$$,
    $$SELECT snowflake_shard(-1, 'java')$$,
    $$SELECT 'nonsense'::snowflake_layout$$]) AS statement;
DROP FUNCTION state(text);
DROP EXTENSION pg_mint;
