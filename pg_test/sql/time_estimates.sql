-- Where a time is not known when a query is planned, its bounds are estimated at as many rows as the condition without
-- bounds: each operator, kind of value, layout, type of key and kind of table, alone and beside each other condition on the
-- id.
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET plan_cache_mode = force_generic_plan;
SET enable_partition_pruning = off;

-- Ids of each layout and type, of which an eighth is null.
CREATE TABLE kind (name text, key text, time text, first text, constraints text DEFAULT '', since timestamptz DEFAULT '2026-01-01Z');
INSERT INTO kind SELECT layout, 'bigint', format('snowflake_time(id, %L)', layout), format('snowflake_min(at, %L)', layout)
FROM unnest(ARRAY['instagram', 'twitter', 'discord', 'mastodon', 'sonyflake', 'baidu', 'leaf', 'tso', 'yitter', 'pgedge',
    'javascript', 'time:40 shard:3 seq:10 epoch:2020-01-01T00:00:00Z', 'time:30 seq:10 shard:23 unit:1s epoch:2020-01-01T00:00:00Z',
    'time:51 shard:2 seq:10 unit:1ms epoch:1601-01-01T00:00:00Z']) AS layout;
-- Its last id is of 2024.
UPDATE kind SET since = '2020-01-01Z' WHERE name = 'baidu';
CREATE DOMAIN event_id AS bigint;
INSERT INTO kind VALUES ('domain', 'event_id', 'snowflake_time(id)', 'snowflake_min(at)', ''),
    ('uuid_v7', 'uuid', 'uuid_v7_time(id)', 'uuid_v7_min(at)', ''),
    ('uuid', 'uuid', 'uuid_time(id)', 'uuid_v7_min(at)', ', CHECK (uuid_version_of(id) = 7)'),
    ('objectid', 'objectid', 'objectid_time(id)', 'objectid_min(at)', '');

-- A time is compared with % for a value that is not known, and `first` for an id of one; `known` is a time, and `fixed`
-- its id.
CREATE TABLE form (condition text);
INSERT INTO form SELECT format('time %s %%', operator) FROM unnest(ARRAY['<', '<=', '=', '>=', '>', 'BETWEEN % AND']) AS operator;
INSERT INTO form SELECT format('%% %s time', operator) FROM unnest(ARRAY['<', '<=', '=', '>=', '>']) AS operator;
INSERT INTO form SELECT format('(time, n) %s (%%, 7)', operator) FROM unnest(ARRAY['<', '<=', '>=', '>']) AS operator;
INSERT INTO form VALUES ('NOT time < %'), ('NOT (time < % OR time > %)'), ('time < %::date'), ('time >= %::timestamp'),
    ('time = %::date'), ('time < % AND n > 3'), ('time < % AND time < known'), ('time > % AND time < known'),
    ('time >= known AND time < %'), ('time BETWEEN ''-infinity'' AND %'), ('time BETWEEN % AND ''infinity'''),
    ('time <@ tstzrange(%, %)'), ('time <@ tstzrange(NULL, %)'), ('tstzrange(%, NULL) @> time');
INSERT INTO form SELECT format('%s AND %s', one, other)
FROM unnest(ARRAY['time < %', '% <= time', 'time BETWEEN % AND %', 'time = %', '(time, n) < (%, 7)', '(time, n) >= (%, 7)',
    'time <@ tstzrange(%, %)']) AS one,
    unnest(ARRAY['id < first', 'first <= id', 'id <= fixed', 'id > fixed', 'id BETWEEN first AND fixed', 'id BETWEEN fixed AND first',
        'id = first', 'id <> first', '(id, n) < (first, 7)', '(id, n) >= (fixed, 7)', '(time, n) < (%, 7)', '(time, n) > (%, 7)',
        'time <= %', 'time > %', 'time = %', 'time <@ tstzrange(%, %)']) AS other;

-- The query of each kind of value that is not known, whose name it has.
CREATE FUNCTION statement(unknown text, kind kind, form text) RETURNS text LANGUAGE sql RETURN format(
    CASE unknown WHEN 'outer column' THEN 'SELECT (SELECT count(*) FROM %I WHERE %s) FROM probe' ELSE 'SELECT FROM %I WHERE %s' END,
    'ids_' || kind.name, replace(replace(replace(replace(regexp_replace(form, '\mtime\M', kind.time, 'g'), 'first', replace(kind.first, '(at', '(% + interval ''1 day''')),
        'fixed', replace(kind.first, '(at', '(known')), 'known', format('timestamptz %L', kind.since + interval '1 year')), '%',
        CASE unknown WHEN 'parameter' THEN '$1' WHEN 'subquery' THEN '(SELECT max(at) FROM probe)' ELSE 'probe.at' END));
CREATE TABLE probe (at timestamptz);
INSERT INTO probe VALUES ('2026-08-10Z');

DO $$
DECLARE kind kind;
BEGIN
    FOR kind IN SELECT * FROM kind LOOP
        EXECUTE format('CREATE TABLE %I (id %s UNIQUE, n int %s)', 'ids_' || kind.name, kind.key, kind.constraints);
        EXECUTE format('INSERT INTO %I SELECT CASE WHEN n %% 8 > 0 THEN %s END, n FROM generate_series(1, 4000) AS n,
            LATERAL (SELECT timestamptz %L + n * interval ''3 hours'') AS t (at)', 'ids_' || kind.name, kind.first, kind.since);
        EXECUTE format('ANALYZE %I', 'ids_' || kind.name);
    END LOOP;
END $$;

-- Partitions, of which one has no statistics; no statistics at all; an index, and statistics, of the time itself; policies
-- on the id and on the time.
INSERT INTO kind SELECT unnest(ARRAY['parts', 'new', 'indexed', 'described', 'policy', 'time_policy']), 'bigint', 'snowflake_time(id)', 'snowflake_min(at)';
CREATE TABLE ids_parts (id bigint UNIQUE, n int) PARTITION BY RANGE (id);
CREATE TABLE ids_parts_1 PARTITION OF ids_parts DEFAULT;
CREATE TABLE ids_parts_2 PARTITION OF ids_parts FOR VALUES FROM (snowflake_min('2026-03-01Z')) TO (snowflake_min('2026-10-01Z'));
INSERT INTO ids_parts SELECT id, n FROM ids_instagram WHERE id IS NOT NULL;
ANALYZE ids_parts_1;
CREATE TABLE ids_new (LIKE ids_instagram INCLUDING ALL);
CREATE TABLE ids_indexed (LIKE ids_instagram INCLUDING ALL);
CREATE TABLE ids_described (LIKE ids_instagram INCLUDING ALL);
CREATE TABLE ids_policy (LIKE ids_instagram INCLUDING ALL);
CREATE TABLE ids_time_policy (LIKE ids_instagram INCLUDING ALL);
INSERT INTO ids_new TABLE ids_instagram;
INSERT INTO ids_indexed TABLE ids_instagram;
INSERT INTO ids_described SELECT snowflake_min(timestamptz '2026-01-01Z' + n % 10 * interval '1 month') + n, n FROM ids_instagram;
INSERT INTO ids_policy TABLE ids_instagram;
INSERT INTO ids_time_policy TABLE ids_instagram;
ALTER TABLE ids_new SET (autovacuum_enabled = off);
ALTER TABLE ids_parts_2 SET (autovacuum_enabled = off);
CREATE INDEX ON ids_indexed (snowflake_time(id));
CREATE STATISTICS described ON (snowflake_time(id)) FROM ids_described;
ANALYZE ids_indexed, ids_described, ids_policy, ids_time_policy;
CREATE ROLE regress_reader;
GRANT SELECT ON ids_policy, ids_time_policy, probe TO regress_reader;
ALTER TABLE ids_policy ENABLE ROW LEVEL SECURITY;
CREATE POLICY later ON ids_policy USING (id >= snowflake_min('2026-02-01Z'));
ALTER TABLE ids_time_policy ENABLE ROW LEVEL SECURITY;
CREATE POLICY later ON ids_time_policy USING (snowflake_time(id) >= '2026-02-01Z');

-- The rows that a plan expects of the scans of the table of ids.
CREATE FUNCTION expected(query text, setting text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    PERFORM set_config('pg_mint.time_predicates', setting, false);
    PERFORM set_config('role', CASE WHEN query LIKE '%policy WHERE%' THEN 'regress_reader' ELSE 'none' END, false);
    EXECUTE 'PREPARE it (timestamptz) AS ' || query;
    EXECUTE 'EXPLAIN (FORMAT JSON) EXECUTE it (now())' INTO plan;
    DEALLOCATE it;
    PERFORM set_config('role', 'none', false);
    RETURN sum(rows::int) FROM jsonb_path_query(plan, 'strict $.** ? (@."Relation Name" starts with "ids_")."Plan Rows"') AS rows;
END $$;
CREATE TABLE estimate AS
SELECT kind.name, form.condition, unknown, expected(query, 'off') AS without, expected(query, 'on') AS with_bounds
FROM kind, form, unnest(ARRAY['parameter', 'subquery', 'outer column']) AS unknown, statement(unknown, kind, condition) AS query
-- Bounds exclude parts that are known not to have a row.
WHERE NOT (kind.name = 'parts' AND condition LIKE '%known%');

-- Estimates that differ, of which there must be none.
SELECT condition, without, with_bounds, count(*), min(name) AS of, min(unknown) AS unknown
FROM estimate WHERE without IS DISTINCT FROM with_bounds GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT count(*) AS compared, count(without) > count(*) * 0.99 AS with_a_scan, count(DISTINCT without) > 20 AS are_different FROM estimate;

-- Beside an end that is not known, a time that is known has its own share, of which a third is expected.
SELECT kind.name, alone, beside
FROM kind, unnest(ARRAY['parameter', 'subquery', 'outer column']) AS unknown,
    LATERAL (SELECT expected(statement(unknown, kind, 'time >= known'), 'on')::int, expected(statement(unknown, kind, 'time >= known AND id < first'), 'on')::int)
        AS guess (alone, beside)
WHERE kind.name NOT LIKE '%policy' AND abs(beside * 3 - alone) > 3 ORDER BY 1;

DROP TABLE estimate, kind, form, probe CASCADE;
DO $$
DECLARE one regclass;
BEGIN
    FOR one IN SELECT oid FROM pg_class WHERE relname LIKE 'ids\_%' AND relkind IN ('r', 'p') AND NOT relispartition LOOP EXECUTE 'DROP TABLE ' || one; END LOOP;
END $$;
DROP DOMAIN event_id;
DROP ROLE regress_reader;
DROP FUNCTION expected;
DROP EXTENSION pg_mint;
