-- Conditions on the time of an id become bounds of the id.
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';
SHOW pg_mint.time_predicates;
-- A scan of a whole table is what is left without an index; it is not shown as disabled.
SET seq_page_cost = 1000;
SET enable_bitmapscan = off;

-- The bounds in a plan. Versions write subplans differently.
CREATE FUNCTION bounds(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Index Cond|Seq Scan' THEN
            RETURN NEXT regexp_replace(replace(trim(line), '(id IS NOT NULL) AND ', ''), '\(InitPlan[^)]*\)[.]col1|[$]\d', '(InitPlan)');
        END IF;
    END LOOP;
END $$;

CREATE TABLE events (id bigint PRIMARY KEY, n int);
INSERT INTO events SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 minute', 5, 0), n
FROM generate_series(0, 10000) n;
VACUUM ANALYZE events;

-- Each operator, and the other way round. The bounds say the same as the condition, which is not tested any more. Of an
-- equality it stays, because the planner infers others of it.
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
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE NOT snowflake_time(id) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE NOT (snowflake_time(id) < '2026-01-03' OR snowflake_time(id) > '2026-01-04');
SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03' AND snowflake_time(id) < '2026-01-04';
SELECT count(*) FROM events WHERE snowflake_time(id) > '2026-01-03' AND snowflake_time(id) <= '2026-01-04';
SELECT count(*) FROM events WHERE snowflake_time(id) = '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) = '2026-01-03 00:00:00.0005';
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
-- Of an outer query it is a parameter as well.
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

-- Not touched: volatile, of another table, of another expression, correlated, OR, and what no index or partition key leads with.
CREATE TABLE other (id bigint PRIMARY KEY, at timestamptz, event bigint);
INSERT INTO other SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 minute', 5, 0), timestamptz '2026-01-01' + n * interval '1 minute', n FROM generate_series(0, 100) n;
VACUUM ANALYZE other;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) > clock_timestamp();
SELECT bounds($$SELECT * FROM events e JOIN other o ON snowflake_time(e.id) = o.at$$);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) < '2026-01-03' OR n = 5;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id + 1) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id)::date = '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) <> '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM other WHERE snowflake_time(event) < '2026-01-03';
SELECT bounds($$SELECT * FROM events e WHERE snowflake_time(id) = (SELECT at FROM other WHERE event = e.n)$$);
CREATE INDEX second ON other (at, event);
CREATE INDEX hashed ON other USING hash (event);
EXPLAIN (COSTS OFF) SELECT * FROM other WHERE snowflake_time(event) < '2026-01-03';
DROP INDEX second, hashed;

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
-- By another column, with an index of each partition that the id leads; and children by inheritance.
CREATE TABLE hashed (id bigint, tenant int, PRIMARY KEY (id, tenant)) PARTITION BY HASH (tenant);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
EXPLAIN (COSTS OFF) SELECT * FROM hashed WHERE snowflake_time(id) >= '2026-02-03';
CREATE TABLE mother (id bigint PRIMARY KEY);
CREATE TABLE child (PRIMARY KEY (id)) INHERITS (mother);
EXPLAIN (COSTS OFF) SELECT * FROM mother WHERE snowflake_time(id) >= '2026-02-03';

-- UUIDs: only of version 7, which a constraint can say.
CREATE TABLE documents (id uuid PRIMARY KEY, n int);
INSERT INTO documents SELECT uuid_v7(timestamptz '2026-01-01' + n * interval '1 minute'), n FROM generate_series(0, 1000) n;
INSERT INTO documents SELECT uuid_v6(), 0 UNION ALL SELECT uuid_v1(), 0 UNION ALL SELECT uuid_v4(), 0;
VACUUM ANALYZE documents;
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_v7_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM documents WHERE uuid_v7_time(id) < '2026-01-01 01:00';
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
ALTER TABLE documents ADD CONSTRAINT only_7 CHECK (n >= 0 AND uuid_version_of(id) = 7) NOT VALID;
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
DELETE FROM documents WHERE uuid_version_of(id) <> 7;
ALTER TABLE documents VALIDATE CONSTRAINT only_7;
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
ALTER TABLE documents DROP CONSTRAINT only_7, ADD CHECK (uuid_version_of(id) = 6 OR uuid_version_of(id) = 7);
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';

-- ObjectIDs.
CREATE TABLE objects (id objectid PRIMARY KEY, owner name DEFAULT current_user);
INSERT INTO objects SELECT objectid_min(timestamptz '2026-01-01' + n * interval '1 minute') FROM generate_series(0, 1000) n;
VACUUM ANALYZE objects;
EXPLAIN (COSTS OFF) SELECT * FROM objects WHERE objectid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM objects WHERE objectid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM objects WHERE objectid_time(id) < '2026-01-01 01:00:00.5';
SELECT count(*) FROM objects WHERE objectid_time(id) >= '2107-01-01';

-- Row security: comparisons of bigint and uuid leak nothing and can be bounds; those of objectid cannot.
CREATE ROLE regress_mint_reader;
CREATE TABLE secret (id bigint PRIMARY KEY, owner name);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE objects ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secret USING (owner = current_user);
CREATE POLICY own ON objects USING (owner = current_user);
GRANT SELECT ON secret, objects TO regress_mint_reader;
SET ROLE regress_mint_reader;
EXPLAIN (COSTS OFF) SELECT * FROM secret WHERE snowflake_time(id) >= '2026-02-03';
EXPLAIN (COSTS OFF) SELECT * FROM objects WHERE objectid_time(id) >= '2026-02-03';
RESET ROLE;

-- A role that may not call the function of the bound gets the same rows, and no error.
REVOKE EXECUTE ON FUNCTION snowflake_min(timestamptz, snowflake_layout) FROM PUBLIC;
GRANT SELECT ON events TO regress_mint_reader;
SET ROLE regress_mint_reader;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03';
RESET ROLE;
PREPARE mine AS SELECT count(*) FROM events WHERE snowflake_time(id) >= now() - interval '900 years';
EXECUTE mine;
SET plan_cache_mode = force_generic_plan;
EXECUTE mine;
SET ROLE regress_mint_reader;
EXECUTE mine;
RESET ROLE;
RESET plan_cache_mode;
GRANT EXECUTE ON FUNCTION snowflake_min(timestamptz, snowflake_layout) TO PUBLIC;
DROP OWNED BY regress_mint_reader;
DROP ROLE regress_mint_reader;

-- Nothing is known by its name.
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.snowflake_time(bigint) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT
    AS $$ BEGIN RETURN '-infinity'; END $$;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE elsewhere.snowflake_time(id) >= '2026-01-03';

-- A role that may not call the function itself gets the same error, in a plan of before too.
REVOKE EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) FROM PUBLIC;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';
CREATE ROLE regress_mint_reader;
GRANT SELECT ON events TO regress_mint_reader;
SET ROLE regress_mint_reader;
SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03';
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) TO regress_mint_reader;
SET ROLE regress_mint_reader;
PREPARE mine_too AS SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03';
EXECUTE mine_too;
EXPLAIN (COSTS OFF) EXECUTE mine_too;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) FROM regress_mint_reader;
SET ROLE regress_mint_reader;
EXECUTE mine_too;
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) TO PUBLIC;
DROP OWNED BY regress_mint_reader;
DROP ROLE regress_mint_reader;

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
-- The end of a layout stays beside the bound of another layout, which can be beyond it.
CREATE TABLE two_layouts (id bigint PRIMARY KEY);
INSERT INTO two_layouts VALUES (5), (3801535769458245632);
EXPLAIN (COSTS OFF) SELECT * FROM two_layouts WHERE snowflake_time(id, 'javascript') >= '1970-01-01' AND snowflake_time(id) < '2026-02-01';
SELECT * FROM two_layouts WHERE snowflake_time(id, 'javascript') >= '1970-01-01' AND snowflake_time(id) < '2026-02-01';
-- Partitions do not need to have an index that is not valid yet.
CREATE TABLE late (id bigint, tenant int) PARTITION BY HASH (tenant);
CREATE TABLE late_0 PARTITION OF late FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE INDEX ON ONLY late (id);
EXPLAIN (COSTS OFF) SELECT * FROM late WHERE snowflake_time(id) >= '2026-02-03';
DROP TABLE far, kept, by_time, by_both, two_layouts, late;

-- Functions of PL/pgSQL, and those that the extension had before.
CREATE FUNCTION since(at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM events WHERE snowflake_time(id) >= at; RETURN n; END $$;
SELECT since(at) FROM (VALUES (timestamptz '2026-01-03'), ('-infinity'), (NULL), ('infinity'), ('2026-01-04'), ('2026-01-05'), ('2026-01-07')) t (at);
CREATE INDEX ON events (snowflake_time(id));
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) = '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) = '2026-01-03';

-- After a new installation the functions have other oids.
DROP EXTENSION pg_mint CASCADE;
CREATE EXTENSION pg_mint;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';
DROP TABLE events, other, named, parts, hashed, mother, child, documents, secret CASCADE;
DROP SCHEMA elsewhere CASCADE;
DROP FUNCTION bounds;
DROP DOMAIN event_id;
DROP EXTENSION pg_mint;
