-- Conditions on the time of an id become bounds of the id.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
\i sql/include/events.sql
SHOW pg_mint.time_predicates;

-- Each operator, and the other way round. The bounds say the same as the condition, which is not tested any more. An equality
-- has no bounds; its range with two ends has them.
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) > '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) <= '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) = '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE '2026-01-03' <= snowflake_time(id);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE '2026-01-03' < snowflake_time(id);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE '2026-01-03' >= snowflake_time(id);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE '2026-01-03' > snowflake_time(id);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE '2026-01-03' = snowflake_time(id);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) BETWEEN '2026-01-03' AND '2026-01-04';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) BETWEEN '2026-01-03' AND '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE NOT snowflake_time(id) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE NOT (snowflake_time(id) < '2026-01-03' OR snowflake_time(id) > '2026-01-04');
SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03' AND snowflake_time(id) < '2026-01-04';
SELECT count(*) FROM events WHERE snowflake_time(id) > '2026-01-03' AND snowflake_time(id) <= '2026-01-04';
SELECT count(*) FROM events WHERE snowflake_time(id) = '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) = '2026-01-03 00:00:00.0005';
SELECT count(*) FROM events WHERE snowflake_time(id) BETWEEN '2026-01-03' AND '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) BETWEEN '2026-01-03 00:00:00.0005' AND '2026-01-03 00:00:00.0005';
SELECT count(*) FROM events WHERE snowflake_time(id) BETWEEN '-infinity' AND 'infinity';
SELECT count(*) FROM events WHERE snowflake_time(id) >= 'infinity' OR snowflake_time(id) <= '-infinity';
SELECT count(*) FROM events WHERE snowflake_time(id) >= NULL;

-- Stable expressions, dates and timestamps without time zone.
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) > now() - interval '1 day';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= current_date;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= date '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) < localtimestamp;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE timestamp '2026-01-03 12:00' < snowflake_time(id);
SELECT count(*) FROM events WHERE snowflake_time(id) >= date '2026-01-03' AND snowflake_time(id) < date '2026-01-04';
SELECT count(*) FROM events WHERE snowflake_time(id) >= timestamp '2026-01-03' AND snowflake_time(id) < timestamp '2026-01-04';
-- A date is the start of a day in the session's time zone.
SET timezone = 'Asia/Tokyo';
SELECT min(snowflake_time(id)) FROM events WHERE snowflake_time(id) >= date '2026-01-03';
SET timezone = 'UTC';
-- Beyond the last timestamp no error is raised.
SELECT count(*) FROM events WHERE snowflake_time(id) < date '5000000-01-01' AND snowflake_time(id) > date '-infinity';
SELECT count(*) FROM events WHERE snowflake_time(id) >= date '5000000-01-01';
SET timezone = 'America/Los_Angeles';
SELECT count(*) FROM events WHERE snowflake_time(id) < timestamp '294276-12-31 23:00';
SET timezone = 'UTC';

-- Subqueries that are evaluated once; parameters, in plans for a value and in those for all values.
SELECT bounds($$SELECT * FROM events WHERE snowflake_time(id) > (SELECT max(at) FROM (VALUES (timestamptz '2026-01-03')) t (at))$$);
PREPARE since(timestamptz) AS SELECT count(*) FROM events WHERE snowflake_time(id) >= $1;
EXPLAIN (COSTS OFF) EXECUTE since('2026-01-03');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE since('2026-01-03');
EXECUTE since('2026-01-03');
EXECUTE since('-infinity');
EXECUTE since('infinity');
EXECUTE since(NULL);
RESET plan_cache_mode;
DEALLOCATE since;
-- A value of an outer query is a parameter as well.
SELECT bounds($$SELECT (SELECT count(*) FROM events WHERE snowflake_time(id) >= at) FROM (VALUES (timestamptz '2026-01-03'), ('2026-01-04')) t (at)$$);
SELECT (SELECT count(*) FROM events WHERE snowflake_time(id) >= at) FROM (VALUES (timestamptz '2026-01-03'), ('2026-01-04')) t (at);

-- Layouts: constants with the time on top.
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id, 'twitter') >= '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id, 'seq:10 time:30 shard:13 epoch:2020-01-01T00:00:00Z') >= '2026-01-03';
PREPARE of_layout(text) AS SELECT * FROM events WHERE snowflake_time(id, $1) >= '2026-01-03';
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE of_layout('twitter');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE of_layout('twitter');
RESET plan_cache_mode;
DEALLOCATE of_layout;

-- Nothing is derived of ranges and rows, which have the same rows; what is written instead.
SELECT bounds($$SELECT * FROM events WHERE snowflake_time(id) <@ tstzrange('2026-01-03', now())$$);
SELECT bounds($$SELECT * FROM events WHERE snowflake_time(id) >= lower(tstzrange('2026-01-03', now())) AND snowflake_time(id) < upper(tstzrange('2026-01-03', now()))$$);
SELECT bounds($$SELECT * FROM events WHERE (snowflake_time(id), n) < ('2026-01-03', 5)$$);
SELECT bounds($$SELECT * FROM events WHERE (snowflake_time(id), n) < ('2026-01-03', 5) AND snowflake_time(id) <= '2026-01-03'$$);
SELECT count(*) FROM events WHERE snowflake_time(id) <@ tstzrange('2026-01-03', '2026-01-04', '[]');
SELECT count(*) FROM events WHERE snowflake_time(id) <@ 'empty'::tstzrange OR snowflake_time(id) <@ NULL::tstzrange;
SELECT count(*) FROM events WHERE tstzrange(NULL, '2026-01-03') @> snowflake_time(id);
SELECT count(*) FROM events WHERE (snowflake_time(id), n) <= ('2026-01-03', 2880);
SELECT count(*) FROM events WHERE (snowflake_time(id), n) <= ('2026-01-03', 2880) AND snowflake_time(id) <= '2026-01-03';

-- Nothing is derived of a part of an OR, nor of what is one; it has the same rows.
SELECT bounds($$SELECT * FROM events WHERE snowflake_time(id) < '2026-01-01 01:00' OR '2026-01-07 22:00' <= snowflake_time(id)$$);
SELECT bounds($$SELECT * FROM events WHERE snowflake_time(id) BETWEEN SYMMETRIC '2026-01-03 01:00' AND '2026-01-03'$$);
SELECT bounds($$SELECT * FROM events WHERE snowflake_time(id) IN ('2026-01-03', '2026-01-04')$$);
SELECT bounds($$SELECT * FROM events WHERE snowflake_time(id) < '2026-01-03' OR n = 5$$);
SELECT count(*) FROM events WHERE snowflake_time(id) < '2026-01-01 01:00' OR '2026-01-07' <= snowflake_time(id);
SELECT count(*) FROM events WHERE snowflake_time(id) BETWEEN SYMMETRIC '2026-01-04' AND '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) IN ('2026-01-03', '2026-01-04', NULL, '2026-01-04 00:00:30');
SELECT count(*) FROM events WHERE snowflake_time(id) = '2026-01-03' OR snowflake_time(id) > '2026-01-07' AND snowflake_time(id) IN (now(), '2026-01-07 12:00');
-- Queries to write instead.
EXPLAIN (COSTS OFF) SELECT * FROM events ORDER BY id DESC LIMIT 3;
SELECT snowflake_time(min(id)), snowflake_time(max(id)) FROM events WHERE n < 5000;

-- The columns of snowflake_decode in FROM; not with others, and not in a list of columns.
SELECT bounds($$SELECT n, shard FROM events, snowflake_decode(id) WHERE at > '2026-01-07 22:38' AND at < '2026-01-08'$$);
SELECT n, at, shard, sequence, parts FROM events, snowflake_decode(id) WHERE at > '2026-01-07 22:38';
SELECT e.n, d FROM events e LEFT JOIN LATERAL snowflake_decode(id, 'shard:3+10 time:40 seq:10 epoch:2020-01-01T00:00:00Z') d ON d.shard > 0 WHERE e.n < 2;
EXPLAIN (COSTS OFF) SELECT n, snowflake_decode(id) FROM events WHERE n = 1;
EXPLAIN (COSTS OFF) SELECT * FROM events, snowflake_decode(id) WITH ORDINALITY WHERE n = 1;
-- A role that may not call it is refused as before.
CREATE ROLE regress_reader;
GRANT SELECT ON events TO regress_reader;
REVOKE EXECUTE ON FUNCTION snowflake_decode FROM PUBLIC;
SET ROLE regress_reader;
SELECT count(at) FROM events, snowflake_decode(id);
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_decode TO PUBLIC;
-- It does not need to be allowed to call the functions of the columns.
REVOKE EXECUTE ON FUNCTION snowflake_shard FROM PUBLIC;
SET ROLE regress_reader;
SELECT count(shard) FROM events, snowflake_decode(id);
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_shard TO PUBLIC;
REVOKE SELECT ON events FROM regress_reader;
DROP ROLE regress_reader;

-- Some conditions stay: volatile, of another table, of another expression, correlated. Bounds do not need an index.
CREATE TABLE other (id bigint PRIMARY KEY, at timestamptz, event bigint);
INSERT INTO other SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 minute', 5, 0), timestamptz '2026-01-01' + n * interval '1 minute', n FROM generate_series(0, 100) n;
VACUUM ANALYZE other;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) > clock_timestamp();
SELECT bounds($$SELECT * FROM events e JOIN other o ON snowflake_time(e.id) = o.at$$);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id + 1) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id)::date = '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) <> '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM other WHERE snowflake_time(event) < '2026-01-03';
SELECT bounds($$SELECT * FROM events e WHERE snowflake_time(id) = (SELECT at FROM other WHERE event = e.n)$$);

-- Switched off; a plan in use stays.
PREPARE spans AS SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03';
EXECUTE spans;
SET pg_mint.time_predicates = off;
EXPLAIN (COSTS OFF) EXECUTE spans;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';
SET pg_mint.time_predicates = on;
DEALLOCATE spans;

-- BRIN, also where the id is not its first column; a partial index; a domain.
CREATE INDEX ON other USING brin (at, event);
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM other WHERE snowflake_time(event) < '2026-01-03';
SET enable_bitmapscan = off;
CREATE DOMAIN event_id AS bigint;
CREATE TABLE named (id event_id PRIMARY KEY, live boolean);
EXPLAIN (COSTS OFF) SELECT * FROM named WHERE snowflake_time(id) < '2026-01-03';

DROP TABLE events, other, named;
DROP DOMAIN event_id;
DROP FUNCTION bounds;
DROP EXTENSION pg_mint;
