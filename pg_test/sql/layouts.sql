-- The type snowflake_layout.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';

SELECT name, bits, unit, epoch, shards, ids_per_second, first_invalid, expired FROM snowflake_layouts();
-- Frozen: names and bytes of published layouts.
SELECT name, encode(mint.snowflake_layout_send(layout), 'hex') AS bytes, definition FROM snowflake_layouts();
SELECT bool_and(definition::snowflake_layout = layout AND layout::text = name) FROM snowflake_layouts();

-- The same row for any layout.
SELECT * FROM snowflake_layouts('twitter') EXCEPT SELECT * FROM snowflake_layouts();
SELECT name, bits, unit, shards, ids_per_second, first_invalid, expired, definition FROM snowflake_layouts('time:42 shard:8 seq:13 epoch:2026-01-01T00:00:00Z');
SELECT name, shards, first_invalid FROM snowflake_layouts('time:62 seq:1 unit:3600s epoch:2020-01-01T00:00:00Z');
SELECT count(*) FROM snowflake_layouts(NULL);

-- The free form.
SELECT 'time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z'::snowflake_layout;
SELECT 'time:39 shard:5+5 seq:12 epoch:2025-01-01T00:00:00Z'::snowflake_layout;
SELECT '  seq:10   time:30 shard:13 unit:10ms epoch:2016-05-20T00:00:00+08:00 '::snowflake_layout;
SELECT 'time:40 seq:20 unit:100us epoch:2020-01-01T00:00:00Z start:random(256)'::snowflake_layout;
SELECT 'time:40 seq:10 unit:1s epoch:2020-01-01T00:00:00Z start:random'::snowflake_layout;

-- Texts that are no layouts, and the reason.
SELECT 'instagramm'::snowflake_layout;
SELECT ''::snowflake_layout;
SELECT 'time:42 shard:13 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'shard:13 time:41 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:0 shard:13 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:0 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:5+0 seq:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:10 seq:0 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:10 seq:12'::snowflake_layout;
SELECT 'time:41 shard:10 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:10 seq:12 epoch:2020-01-01T00:00:00'::snowflake_layout;
SELECT 'time:41 shard:10 seq:12 epoch:1288834974'::snowflake_layout;
SELECT 'time:41 shard:5+3+2 seq:12 epoch:1288834974657'::snowflake_layout;
SELECT 'TWITTER epoch:1361753741828'::snowflake_layout, 'Leaf'::snowflake_layout;
SELECT 'time:41 time:41 seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 worker:10 seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 node seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:ten seq:12 epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:10 seq:12 unit:1m epoch:2020-01-01T00:00:00Z'::snowflake_layout;
SELECT 'time:41 shard:10 seq:12 epoch:2020-01-01T00:00:00Z start:random(100)'::snowflake_layout;

-- A built-in layout with changes is shown in full, unless it is another built-in one.
SELECT 'instagram epoch:2026-01-01T00:00:00Z'::snowflake_layout;
SELECT 'twitter shard:8 seq:14'::snowflake_layout, ' twitter  seq:14 shard:8 '::snowflake_layout;
SELECT 'sonyflake epoch:2025-01-01T00:00:00Z'::snowflake_layout, 'twitter shard:10 start:random(128)'::snowflake_layout;
SELECT snowflake_time(snowflake_encode('2026-07-01', 5, 0, layout), layout), layout FROM (VALUES ('java time:42 epoch:2026-01-01T00:00:00Z'::snowflake_layout)) l (layout);
SELECT 'twitter shard:8 shard:9'::snowflake_layout;
SELECT 'twitter worker:8'::snowflake_layout;
SELECT 'twitter seq:14'::snowflake_layout;
SELECT 'twitter time:20 shard:32'::snowflake_layout;
SELECT 'leaf seq:6'::snowflake_layout;
SELECT 'twitter epoch:9999-12-31T00:00:00Z'::snowflake_layout;
SELECT 'twitter epoch:2026-01-01T00:00:00+16:00'::snowflake_layout;
SELECT 'twitter shard:8 leaf'::snowflake_layout;
SELECT 'Twiter shard:8'::snowflake_layout;

-- A text is a layout: in each of these calls PostgreSQL finds one function.
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod
FROM pg_cast WHERE casttarget = 'snowflake_layout'::regtype ORDER BY 1;
CREATE TABLE kind (t text, v varchar(20), c char(7), n name, l snowflake_layout, d text DEFAULT 'twitter');
INSERT INTO kind VALUES ('twitter', 'twitter', 'twitter', 'twitter', 'twitter');
\set id 850007368138018817
SELECT snowflake_shard(:id, 'twitter') AS literal, snowflake_shard(:id, 'twitter'::text) AS text, snowflake_shard(:id, 'twitter'::varchar) AS varchar,
       snowflake_shard(:id, 'twitter'::varchar(7)) AS varchar7, snowflake_shard(:id, E'twit\x74er') AS escaped, snowflake_shard(:id, layout => 'twitter'::text) AS named;
SELECT snowflake_shard(:id, t) AS text, snowflake_shard(:id, v) AS varchar, snowflake_shard(:id, l) AS layout, snowflake_shard(:id, d) AS by_default FROM kind;
SELECT snowflake_shard(:id, CASE WHEN random() < 2 THEN 'twitter' ELSE 'instagram' END) AS "case", snowflake_shard(:id, coalesce(NULL, 'twitter')) AS "coalesce",
       snowflake_shard(:id, coalesce(t, 'twitter')) AS of_text, snowflake_shard(:id, coalesce(l, 'twitter')) AS of_layout,
       snowflake_shard(:id, nullif('twitter', 'x')) AS "nullif", snowflake_shard(:id, 'twit' || 'ter') AS concatenated,
       snowflake_shard(:id, lower('TWITTER')) AS "function", snowflake_shard(:id, (SELECT 'twitter')) AS sublink,
       snowflake_shard(:id, (ARRAY['twitter'])[1]) AS element, snowflake_shard(:id, '{"l": "twitter"}'::jsonb ->> 'l') AS json
FROM kind;
SELECT snowflake_shard(:id, x) AS "values" FROM (VALUES ('twitter')) v (x);
SELECT snowflake_shard(snowflake_next_id(5, t), t) AS next_id, snowflake_shard(snowflake_next_id('5', v), v) AS unknown_shard, snowflake_shard(snowflake_encode('2026-01-01', 5, 0, t), v) AS encoded,
       snowflake_between(:id, '2017-04-06', '2017-04-07', t) AS "between", snowflake_min('2017-04-06', v) < :id AS min, snowflake_is_valid(:id, t) AS valid,
       (SELECT count(*) FROM snowflake_next_ids(5, 2, t)) AS next_ids FROM kind;
PREPARE unknown AS SELECT snowflake_shard(:id, $1);
EXECUTE unknown('twitter');
PREPARE typed(text, varchar) AS SELECT snowflake_shard(:id, $1) AS text, snowflake_shard(:id, $2) AS varchar;
EXECUTE typed('twitter', 'twitter');
CREATE FUNCTION by_variable(name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE mine text := name; his varchar := name; BEGIN RETURN snowflake_shard(850007368138018817, mine) + snowflake_shard(850007368138018817, his); END $$;
SELECT by_variable('twitter');
DROP FUNCTION by_variable;
CREATE FUNCTION in_sql(id bigint, layout text) RETURNS int LANGUAGE sql IMMUTABLE RETURN snowflake_shard(id, layout);
SELECT in_sql(:id, 'twitter'), pg_get_functiondef('in_sql'::regproc) LIKE '%(layout)::snowflake_layout%' AS shown;
DROP FUNCTION in_sql;
INSERT INTO kind (l) SELECT t FROM kind;
-- Comparisons are of layouts. Texts compare as before.
SELECT t = l AS text, l = v AS varchar, t = v AS texts, t = 'twitter ' AS literal, l = 'twitter ' AS layout FROM kind WHERE t IS NOT NULL;
-- A text that is no layout is an error when it is read.
SELECT snowflake_shard(:id, t) FROM (VALUES ('no such'::text)) v (t);
SELECT t = 'twitter'::snowflake_layout FROM (VALUES ('twitter'), ('odd')) v (t);
SELECT snowflake_shard(:id, NULL::text) IS NULL AS "null";
-- char(n) and name have no such cast; PostgreSQL casts char(n) to text by itself, and one cast is all that it adds.
\set VERBOSITY terse
SELECT snowflake_shard(:id, c) FROM kind;
SELECT snowflake_shard(:id, n) FROM kind;
-- A layout becomes text on assignment only, as ever.
SELECT length('twitter'::snowflake_layout);
\set VERBOSITY default
DROP TABLE kind;

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
\c contrib_regression
DROP DATABASE latin;
