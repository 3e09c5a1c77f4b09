-- The type snowflake_layout.
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';

SELECT name, bits, unit, epoch, nodes, ids_per_second, first_invalid, expired FROM snowflake_layouts();
-- Frozen: names and bytes of published layouts.
SELECT name, encode(mint.snowflake_layout_send(layout), 'hex') AS bytes, definition FROM snowflake_layouts();
SELECT bool_and(definition::snowflake_layout = layout AND layout::text = name) FROM snowflake_layouts();

-- The free form.
SELECT 'time:41 node:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z'::snowflake_layout;
SELECT 'time:39 node:5+5 seq:12 epoch:2025-01-01T00:00:00Z'::snowflake_layout;
SELECT '  seq:10   time:30 node:13 unit:10ms epoch:2016-05-20T00:00:00+08:00 '::snowflake_layout;
SELECT 'time:40 seq:20 unit:100us epoch:2020-01-01T00:00:00Z start:random(256)'::snowflake_layout;
SELECT 'time:40 seq:10 unit:1s epoch:2020-01-01T00:00:00Z start:random'::snowflake_layout;

-- What is none, and why.
SELECT 'instagramm'::snowflake_layout;
SELECT ''::snowflake_layout;
SELECT 'time:42 node:13 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'node:13 time:41 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:0 node:13 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:0 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:5+0 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:10 seq:0 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:10 seq:12'::snowflake_layout;
SELECT 'time:41 node:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:10 seq:12 epoch:2020-01-01T00:00:00'::snowflake_layout;
SELECT 'time:41 node:10 seq:12 epoch:1288834974657'::snowflake_layout;
SELECT 'time:41 time:41 seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 worker:10 seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:ten seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:10 seq:12 unit:1m epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node:10 seq:12 epoch:2020-01-01T00:00:00Z start:random(100)'::snowflake_layout;

-- Sorting, grouping, hashing, indexing, COPY.
SELECT count(*), count(DISTINCT layout) FROM (SELECT layout FROM snowflake_layouts() UNION ALL SELECT layout FROM snowflake_layouts()) l;
SELECT 'leaf'::snowflake_layout = 'twitter' AS eq, 'leaf'::snowflake_layout <> 'twitter' AS ne,
       'twitter'::snowflake_layout <= 'twitter' AS le, 'twitter'::snowflake_layout > 'twitter' AS gt;
CREATE TABLE kinds (layout snowflake_layout PRIMARY KEY, n int) PARTITION BY HASH (layout);
CREATE TABLE kinds0 PARTITION OF kinds FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE kinds1 PARTITION OF kinds FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO kinds SELECT layout FROM snowflake_layouts();
SELECT count(*) FROM kinds JOIN snowflake_layouts() USING (layout);
DROP TABLE kinds;
DROP EXTENSION pg_mint;
-- In a database whose encoding is not UTF-8, what was wrong is still shown.
CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
\c latin
CREATE EXTENSION pg_mint;
SELECT mint.snowflake_layout_in(textout(chr(233) || 'clair'));
\c regression
DROP DATABASE latin;
