-- Conditions on the time of an id in joins, views, changes, and partitions.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
\i sql/include/events.sql

CREATE TABLE other (id bigint PRIMARY KEY, at timestamptz, event bigint);
INSERT INTO other SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 minute', 5, 0), timestamptz '2026-01-01' + n * interval '1 minute', n FROM generate_series(0, 100) n;
VACUUM ANALYZE other;

-- Joins: on the sides where a condition is tested on rows of the table alone.
SELECT bounds($$SELECT * FROM other o LEFT JOIN events e ON e.id = o.event AND snowflake_time(e.id) > '2026-01-03'$$);
SELECT bounds($$SELECT * FROM other o LEFT JOIN events e ON e.id = o.event AND snowflake_time(o.id) > '2026-01-03'$$);
SELECT bounds($$SELECT * FROM other o LEFT JOIN events e ON e.id = o.event WHERE snowflake_time(e.id) > '2026-01-03'$$);
SELECT bounds($$SELECT * FROM other o LEFT JOIN events e ON e.id = o.event WHERE snowflake_time(o.id) > '2026-01-03'$$);
SELECT bounds($$SELECT * FROM other o FULL JOIN events e ON e.id = o.event AND snowflake_time(e.id) > '2026-01-03'$$);
SELECT bounds($$SELECT * FROM other o WHERE EXISTS (SELECT FROM events e WHERE e.id = o.event AND snowflake_time(e.id) > '2026-01-03')$$);
SELECT bounds($$SELECT * FROM other o WHERE NOT EXISTS (SELECT FROM events e WHERE e.id = o.event AND snowflake_time(e.id) > '2026-01-03')$$);

-- Views, CTEs, subqueries, aggregates that read one row.
CREATE VIEW timed AS SELECT *, snowflake_time(id) AS at FROM events;
EXPLAIN (COSTS OFF) SELECT * FROM timed WHERE at > '2026-01-03';
SELECT bounds($$WITH c AS MATERIALIZED (SELECT * FROM events WHERE snowflake_time(id) > '2026-01-03') SELECT * FROM c$$);
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM timed LIMIT 10) t WHERE at > '2026-01-03';
SELECT bounds($$SELECT max(id) FROM events WHERE snowflake_time(id) < '2026-01-03'$$);
EXPLAIN (COSTS OFF) DECLARE c CURSOR FOR SELECT * FROM events WHERE snowflake_time(id) > '2026-01-03';

-- UPDATE, DELETE and MERGE.
EXPLAIN (COSTS OFF) UPDATE events SET n = -n WHERE snowflake_time(id) < '2026-01-01 01:00';
EXPLAIN (COSTS OFF) DELETE FROM events WHERE snowflake_time(id) < '2026-01-01 01:00';
SELECT bounds($$MERGE INTO events e USING other o ON e.id = o.event AND snowflake_time(e.id) > '2026-01-03'
    WHEN MATCHED THEN UPDATE SET n = 0$$);
BEGIN;
DELETE FROM events WHERE snowflake_time(id) < '2026-01-01 01:00';
SELECT min(snowflake_time(id)) FROM events;
ROLLBACK;

-- Partitions are pruned when the query is planned, or executed.
CREATE TABLE parts (id bigint PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (snowflake_min('2026-01-01')) TO (snowflake_min('2026-02-01'));
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (snowflake_min('2026-02-01')) TO (snowflake_min('2026-03-01'));
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (snowflake_min('2026-03-01')) TO (snowflake_min('2026-04-01'));
INSERT INTO parts SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 hour', 5, 0), n FROM generate_series(0, 2000) n;
VACUUM ANALYZE parts;
EXPLAIN (COSTS OFF) SELECT * FROM parts WHERE snowflake_time(id) >= '2026-02-03' AND snowflake_time(id) < '2026-02-04';
EXPLAIN (COSTS OFF) DELETE FROM parts WHERE snowflake_time(id) >= '2026-03-10';
SET plan_cache_mode = force_generic_plan;
PREPARE span(timestamptz, timestamptz) AS SELECT count(*) FROM parts WHERE snowflake_time(id) BETWEEN $1 AND $2;
EXPLAIN (COSTS OFF) EXECUTE span('2026-02-03', '2026-02-04');
EXECUTE span('2026-02-03', '2026-02-04');
EXECUTE span(NULL, '2026-02-04');
EXECUTE span('-infinity', 'infinity');
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE snowflake_time(id) > timestamptz '2026-03-10' + age(now(), now());
-- Partitions by another column, each with an index that the id leads; and children by inheritance.
CREATE TABLE hashed (id bigint, tenant int, PRIMARY KEY (id, tenant)) PARTITION BY HASH (tenant);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
EXPLAIN (COSTS OFF) SELECT * FROM hashed WHERE snowflake_time(id) >= '2026-02-03';
CREATE TABLE mother (id bigint PRIMARY KEY);
CREATE TABLE child (PRIMARY KEY (id)) INHERITS (mother);
EXPLAIN (COSTS OFF) SELECT * FROM mother WHERE snowflake_time(id) >= '2026-02-03';
-- With a CHECK that calls the function, a child is excluded by the condition itself.
ALTER TABLE child ADD CONSTRAINT old CHECK (snowflake_time(id) < '2026-01-01');
EXPLAIN (COSTS OFF) SELECT * FROM mother WHERE snowflake_time(id) >= '2026-02-03';
ALTER TABLE child DROP CONSTRAINT old;

-- A default partition is read. For IS NOT NULL beside an OR, releases of PostgreSQL 15 and 16 forget it.
CREATE TABLE rest (id bigint) PARTITION BY RANGE (id);
CREATE TABLE rest_1 PARTITION OF rest FOR VALUES FROM (snowflake_min('2026-01-01')) TO (snowflake_min('2026-02-01'));
CREATE TABLE rest_2 PARTITION OF rest DEFAULT;
INSERT INTO rest SELECT snowflake_encode(at, 5, 0) FROM (VALUES (timestamptz '2026-01-05'), ('2026-03-01'), ('2026-03-02')) t (at);
CREATE INDEX ON rest (id);
SELECT count(*) FROM rest WHERE id IS NOT NULL AND snowflake_time(id) IN ('2026-03-01', '2026-03-02');
SELECT count(*) FROM rest WHERE id IS NOT NULL AND (snowflake_time(id) = '2026-03-01' OR snowflake_time(id) > now());
SELECT count(*) FROM rest, snowflake_decode(id) WHERE id IN (snowflake_encode('2026-03-01', 5, 0), snowflake_encode('2026-03-02', 5, 0));
SET enable_seqscan = off;
SELECT max(id) FROM rest WHERE snowflake_time(id) IN ('2026-03-01', '2026-03-02');
RESET enable_seqscan;
SELECT count(*) FROM rest a JOIN rest b ON a.id = b.id AND b.id IS NOT NULL WHERE snowflake_time(b.id) = '2026-03-01' OR snowflake_time(b.id) > now();
-- A condition that is true of an id that is null keeps its rows: of the table, or of an outer join.
INSERT INTO rest VALUES (NULL);
SELECT count(*) FROM rest WHERE snowflake_time(id) > '2026-03-01' OR id IS NULL;
SELECT count(*) FROM rest WHERE id IS NOT NULL AND (snowflake_time(id) > '2026-03-01' OR now() IS NOT NULL);
SELECT count(*) FROM generate_series(1, 3) n LEFT JOIN rest ON n = 4 WHERE snowflake_time(id) IN ('2026-03-01', '2026-03-02') OR n > 1;
-- Within an OR it makes them forget the default partition as well.
SELECT count(*) FROM rest WHERE (snowflake_time(id) BETWEEN '2026-01-01' AND '2026-01-20' OR id IS NOT NULL) AND snowflake_time(id) IN ('2026-01-05', '2026-03-01', '2026-03-02');
SELECT count(*) FROM rest WHERE snowflake_time(id) < '2026-01-20' OR id IS NOT NULL;
DELETE FROM rest WHERE id IS NULL OR snowflake_time(id) < '2026-01-01';
DROP TABLE rest;

-- Ids whose time no timestamp can hold are not looked at: the end of all times stays beside a bound that can be beyond.
CREATE TABLE far (id bigint PRIMARY KEY);
INSERT INTO far VALUES (0), (9223372036854775807);
SELECT snowflake_time(9223372036854775807, 'time:60 seq:3 unit:1s epoch:2020-01-01T00:00:00Z');
EXPLAIN (COSTS OFF) SELECT * FROM far WHERE snowflake_time(id, 'time:60 seq:3 unit:1s epoch:2020-01-01T00:00:00Z') <= 'infinity';
SELECT * FROM far WHERE snowflake_time(id, 'time:60 seq:3 unit:1s epoch:2020-01-01T00:00:00Z') <= 'infinity';
SELECT * FROM far WHERE snowflake_time(id, 'time:60 seq:3 unit:1s epoch:2020-01-01T00:00:00Z') > '-infinity';

-- The condition stays where it can be of use itself: for an index or a key of partitions of its expression, a partial
-- index, the constraints of children.
CREATE TABLE kept (id bigint PRIMARY KEY, tenant int);
CREATE INDEX by_tenant ON kept (tenant, snowflake_time(id));
EXPLAIN (COSTS OFF) SELECT * FROM kept WHERE snowflake_time(id) >= '2026-01-03';
DROP INDEX by_tenant;
CREATE INDEX recent ON kept (tenant) WHERE snowflake_time(id) >= '2026-01-01';
EXPLAIN (COSTS OFF) SELECT * FROM kept WHERE snowflake_time(id) >= '2026-01-03';
DROP INDEX recent;
CREATE INDEX live ON kept (tenant) WHERE tenant > 0;
EXPLAIN (COSTS OFF) SELECT * FROM kept WHERE snowflake_time(id) >= '2026-01-03';
CREATE TABLE by_time (id bigint, tenant int) PARTITION BY RANGE (snowflake_time(id));
CREATE TABLE by_time_1 PARTITION OF by_time FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE by_time_2 PARTITION OF by_time FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE INDEX ON by_time (id);
EXPLAIN (COSTS OFF) SELECT * FROM by_time WHERE snowflake_time(id) >= '2026-02-03';
CREATE TABLE by_both (id bigint, tenant int) PARTITION BY LIST (tenant);
CREATE INDEX ON by_both (id);
CREATE TABLE by_both_1 PARTITION OF by_both FOR VALUES IN (1) PARTITION BY RANGE (snowflake_time(id));
CREATE TABLE by_both_1_1 PARTITION OF by_both_1 FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE by_both_1_2 PARTITION OF by_both_1 FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
EXPLAIN (COSTS OFF) SELECT * FROM by_both WHERE snowflake_time(id) >= '2026-02-03';
-- Bounds on a column would be of one layout: of two nothing is derived, so that an id of another one is refused as without.
CREATE TABLE two_layouts (id bigint PRIMARY KEY);
INSERT INTO two_layouts VALUES (5), (3801535769458245632);
EXPLAIN (COSTS OFF) SELECT * FROM two_layouts WHERE snowflake_time(id, 'javascript') >= '1970-01-01' AND snowflake_time(id) < '2026-02-01';
SELECT * FROM two_layouts WHERE snowflake_time(id, 'javascript') >= '1970-01-01' AND snowflake_time(id) < '2026-02-01';
DROP TABLE far, kept, by_time, by_both, two_layouts;

DROP TABLE events, other, parts, hashed, mother, child CASCADE;
DROP FUNCTION bounds;
DROP EXTENSION pg_mint;
