-- A span of time is a range of the primary key.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- Inside a tick of 10 ms, at its start, before the epoch, after the end.
SELECT at, snowflake_min(at, 'sonyflake') AS min, mint.snowflake_min_after(at, 'sonyflake') AS min_after,
       mint.snowflake_max_before(at, 'sonyflake') AS max_before, snowflake_max(at, 'sonyflake') AS max
FROM (VALUES (timestamptz '2014-09-01 00:00:00.01'), ('2014-09-01 00:00:00.015'), ('2014-09-01 00:00:00'),
             ('2014-08-31 23:59:59.999'), ('2300-01-01'), ('-infinity'), ('infinity')) t (at);
SELECT snowflake_min('2020-01-01', 'seq:10 time:30 shard:13 epoch:2020-01-01T00:00:00Z');

CREATE TABLE events (id bigint PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (snowflake_min('2026-01-01')) TO (snowflake_min('2026-02-01'));
CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM (snowflake_min('2026-02-01')) TO (snowflake_min('2026-03-01'));
CREATE TABLE events_3 PARTITION OF events FOR VALUES FROM (snowflake_min('2026-03-01')) TO (snowflake_min('2026-04-01'));
INSERT INTO events SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 minute', 5, 0), n
FROM generate_series(0, 100000) n;
VACUUM ANALYZE events;

-- Constants prune when the query is planned, and the index does the rest.
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_between(id, '2026-02-03', '2026-02-04');
SELECT count(*), min(snowflake_time(id)), max(snowflake_time(id)) FROM events
WHERE snowflake_between(id, '2026-02-03', '2026-02-04');
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= snowflake_min('2026-03-05');

-- Parameters prune when it is executed.
SET plan_cache_mode = force_generic_plan;
PREPARE span(timestamptz, timestamptz) AS SELECT count(*) FROM events WHERE snowflake_between(id, $1, $2);
EXPLAIN (COSTS OFF) EXECUTE span('2026-02-03', '2026-02-04');
EXECUTE span('2026-02-03', '2026-02-04');
EXECUTE span(NULL, '2026-02-04');
EXECUTE span('-infinity', 'infinity');
EXECUTE span('2026-02-03', 'infinity');
EXECUTE span('-infinity', '2026-02-03');
EXECUTE span('2026-02-03', NULL);
EXECUTE span('infinity', 'infinity');
EXECUTE span('-infinity', '-infinity');

-- A span is what bounds grow by, from every tick on; the length of a chunk or partition of another extension.
SELECT layout, snowflake_span('1 day', layout) AS day, snowflake_span('1 day 2 hours 10 seconds', layout) =
       snowflake_min(at + '26 hours 10 seconds', layout) - snowflake_min(at, layout) AS as_bounds
FROM (VALUES (snowflake_layout 'instagram'), ('twitter'), ('sonyflake'), ('time:32 shard:16 seq:15 unit:10s epoch:2020-01-01T00:00:00Z')) l (layout),
     (VALUES (timestamptz '2026-02-27 13:14:10')) t (at);
SELECT snowflake_span('1 month');
SELECT snowflake_span('1 year -12 months 1 day') = snowflake_span('24 hours') AS same;
SELECT snowflake_span('0');
SELECT snowflake_span('-1 day');
SELECT snowflake_span('1 ms', 'sonyflake');
SELECT snowflake_span('30000 days');
SELECT snowflake_span('1 day', 'seq:10 time:30 shard:13 epoch:2020-01-01T00:00:00Z');
SELECT snowflake_span(NULL, 'twitter') IS NULL AS unknown;

-- Expression indexes and generated columns accept what only computes.
CREATE TABLE shown (id bigint, at timestamptz GENERATED ALWAYS AS (snowflake_time(id)) STORED);
CREATE INDEX ON shown (snowflake_shard(id));
INSERT INTO shown VALUES (1949525278281554174);
TABLE shown;
DROP TABLE shown, events;
DROP EXTENSION pg_mint;
