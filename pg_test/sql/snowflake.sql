-- Minting and reading back.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';

-- The headline: a column default.
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), title text);
INSERT INTO photos (title) SELECT 'photo ' || n FROM generate_series(1, 10000) n;
SELECT count(*), count(DISTINCT id), min(snowflake_shard(id)), max(snowflake_shard(id)) FROM photos;
SELECT max(abs(extract(epoch FROM snowflake_time(id) - clock_timestamp()))) < 60 AS about_now FROM photos;

-- The catalog shows a default as it was written: programs that compare the two find no difference.
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'photos'::regclass;
ALTER TABLE photos ALTER id SET DEFAULT snowflake_next_id(5, 'twitter');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'photos'::regclass;

-- Every integer is a shard. A bigint is cast.
SELECT snowflake_shard(snowflake_next_id(7::smallint)) AS small,
       snowflake_shard(snowflake_next_id(7)) AS int,
       snowflake_shard(snowflake_next_id('7')) AS text;
\set VERBOSITY terse
SELECT snowflake_next_id(7::bigint);
\set VERBOSITY default
SELECT snowflake_shard(snowflake_next_id((user_id % 2000)::int)) FROM (VALUES (31341::bigint)) u (user_id);
SELECT pg_typeof(snowflake_shard(1)), pg_typeof(shard), pg_typeof(parts) FROM snowflake_decode(1);
-- The widest node has 31 bits.
SELECT snowflake_shard(snowflake_next_id(2147483647, wide), wide), snowflake_decode(snowflake_encode('2026-01-01', 2147483647, 3, wide), wide)
FROM (VALUES ('twitter time:30 unit:1s epoch:2026-01-01T00:00:00Z shard:16+15 seq:2'::snowflake_layout)) l (wide);
SELECT snowflake_next_id(1, 'twitter time:20 shard:32');
PREPARE mint AS SELECT snowflake_shard(snowflake_next_id($1));
EXECUTE mint(7);
SELECT snowflake_shard(snowflake_next_id(3, 'twitter'), 'twitter') AS positional,
       snowflake_shard(snowflake_next_id(shard => 3, layout => 'sonyflake'), 'sonyflake') AS named;

-- The node of the server.
SELECT snowflake_next_id();
SET pg_mint.node = 9;
SELECT snowflake_shard(snowflake_next_id()), snowflake_shard(snowflake_next('twitter'), 'twitter');
SELECT snowflake_next('twitter') > 0, snowflake_shard(snowflake_next('mastodon'), 'mastodon') AS no_node;
SET pg_mint.node = 2000;
SELECT snowflake_next('twitter');
RESET pg_mint.node;

-- Ids ascend within a session.
SELECT count(*) FILTER (WHERE id <= before) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
      FROM (SELECT n, snowflake_next_id(1) AS id FROM generate_series(1, 20000) n) a) b;

-- Layouts that could issue the same id share a lane; others do not.
SELECT snowflake_next_id(3, 'leaf') > snowflake_next_id(3, 'twitter') AS never,
       snowflake_next_id(3, 'java') < snowflake_next_id(3, 'discord') AS always;

-- Many at once: unique, ascending, streaming.
SELECT count(*), count(DISTINCT id), bool_and(snowflake_shard(id) = 7)
FROM snowflake_next_ids(7, 100000) id;
SELECT count(*) FILTER (WHERE id <= before) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
      FROM snowflake_next_ids(7, 20000) WITH ORDINALITY AS ids (id, n)) b;
SELECT count(*) FROM snowflake_next_ids(7, 0);
SELECT count(*) FROM (SELECT snowflake_next_ids(7, 1000000000000) LIMIT 5) few;
-- Ids that are generated while a cursor is open are above those that it still has, and below those that it takes later.
BEGIN;
DECLARE many CURSOR FOR SELECT snowflake_next_ids(7, 5000) AS id;
FETCH many \gset first_
SELECT snowflake_next_id(7) AS meanwhile \gset
FETCH many \gset next_
MOVE 4997 IN many;
FETCH many \gset last_
COMMIT;
SELECT :first_id < :next_id AND :next_id < :meanwhile AND :meanwhile < :last_id AS above;

-- The last id, as lastval().
DISCARD SEQUENCES;
SELECT snowflake_last_id();
SELECT snowflake_next_id(5) = snowflake_last_id() AS same;
DISCARD ALL;
SELECT snowflake_last_id();
SET timezone = 'UTC';

-- A sequence that starts at random spreads over a power of two.
SELECT bool_and(snowflake_sequence(id, 'leaf') < 128), count(DISTINCT snowflake_sequence(id, 'leaf')) > 20 AS spread
FROM (SELECT snowflake_next_id(n % 1000, 'leaf') AS id FROM generate_series(1, 1000) n) ids;

-- So it does in any layout.
SELECT count(DISTINCT snowflake_sequence(id, 'twitter start:random') & 7) AS ends FROM (SELECT snowflake_next_id(n, 'twitter start:random') AS id FROM generate_series(0, 199) n) ids;

-- A shard starts above an id.
SELECT snowflake_encode(clock_timestamp() + '1 s', 70, 500) AS imported \gset
SELECT snowflake_start_above(:imported) = snowflake_time(:imported) AS starts_there;
SELECT snowflake_next_id(70) > :imported AS above;
SELECT snowflake_start_above(snowflake_encode('2020-01-01Z', 70, 0)) >= snowflake_time(:imported) AS older;
BEGIN READ ONLY;
SELECT snowflake_start_above(:imported + 100) >= snowflake_time(:imported) AS read_only;
ROLLBACK;
SELECT snowflake_next_id(70) > :imported + 100 AS above;
SELECT snowflake_start_above(max(id)) IS NULL AS of_an_empty_table FROM (SELECT 1::bigint AS id) t WHERE false;
SELECT snowflake_start_above(-1);
SELECT snowflake_start_above(1::bigint << 53, 'javascript');
SELECT snowflake_start_above(5, 'no layout');

-- In one transaction with CREATE EXTENSION, whether it ends well or not.
DROP EXTENSION pg_mint CASCADE;
BEGIN;
CREATE EXTENSION pg_mint;
SELECT snowflake_shard(snowflake_next_id(5));
ROLLBACK;
BEGIN;
CREATE EXTENSION pg_mint;
SELECT snowflake_shard(snowflake_next_id(5));
COMMIT;
SELECT snowflake_shard(snowflake_next_id(5));

-- Read-only transactions mint.
BEGIN READ ONLY;
SELECT snowflake_shard(snowflake_next_id(5));
COMMIT;

-- One million ids in one statement, from rest, on default settings.
CREATE TABLE million AS SELECT snowflake_next_id(77) AS id FROM generate_series(1, 1000000);
SELECT count(*), count(DISTINCT id) FROM million;
DROP TABLE million;
DROP EXTENSION pg_mint;
