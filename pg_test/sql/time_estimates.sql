-- Where a time is not known when a query is planned, its bounds are estimated at as many rows as the condition without
-- bounds: each operator, kind of value, layout and type of key.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET plan_cache_mode = force_generic_plan;

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

-- What a time is compared with: % is a value that is not known.
CREATE TABLE form (condition text);
INSERT INTO form SELECT format('time %s %%', operator) FROM unnest(ARRAY['<', '<=', '=', '>=', '>', 'BETWEEN % AND']) AS operator;
INSERT INTO form SELECT format('%% %s time', operator) FROM unnest(ARRAY['<', '<=', '=', '>=', '>']) AS operator;
INSERT INTO form SELECT format('(time, n) %s (%%, 7)', operator) FROM unnest(ARRAY['<', '<=', '>=', '>']) AS operator;
INSERT INTO form VALUES ('NOT time < %'), ('NOT (time < % OR time > %)'), ('time < %::date'), ('time >= %::timestamp'),
    ('time = %::date'), ('time < % AND n > 3'), ('time < % AND time < known'), ('time > % AND time < known'),
    ('time >= known AND time < %'), ('time BETWEEN ''-infinity'' AND %'), ('time BETWEEN % AND ''infinity'''),
    ('time <@ tstzrange(%, %)'), ('time <@ tstzrange(NULL, %)'), ('tstzrange(%, NULL) @> time');

-- The query of each kind of value that is not known, whose name it has.
CREATE FUNCTION statement(unknown text, kind kind, form text) RETURNS text LANGUAGE sql RETURN format(
    CASE unknown WHEN 'outer column' THEN 'SELECT (SELECT count(*) FROM %I WHERE %s) FROM probe' ELSE 'SELECT FROM %I WHERE %s' END,
    'ids_' || kind.name, replace(replace(regexp_replace(form, '\mtime\M', kind.time, 'g'), 'known', quote_literal(kind.since + interval '1 year')), '%',
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

-- The rows that a plan expects of the scan of the table of ids.
CREATE FUNCTION expected(query text, setting text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    PERFORM set_config('pg_mint.time_predicates', setting, false);
    EXECUTE 'PREPARE it (timestamptz) AS ' || query;
    EXECUTE 'EXPLAIN (FORMAT JSON) EXECUTE it (now())' INTO plan;
    DEALLOCATE it;
    RETURN jsonb_path_query_first(plan, 'strict $.** ? (@."Relation Name" starts with "ids_")."Plan Rows"');
END $$;
CREATE TABLE estimate AS
SELECT kind.name, form.condition, unknown, expected(query, 'off') AS without, expected(query, 'on') AS with_bounds
FROM kind, form, unnest(ARRAY['parameter', 'subquery', 'outer column']) AS unknown, statement(unknown, kind, condition) AS query;

-- Those that differ, of which there must be none.
SELECT condition, without, with_bounds, count(*), min(name) AS of, min(unknown) AS unknown
FROM estimate WHERE without IS DISTINCT FROM with_bounds GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT count(*) AS compared, count(without) AS with_a_scan, array_agg(DISTINCT without::int) AS rows FROM estimate;

DROP TABLE estimate, kind, form, probe CASCADE;
DO $$
DECLARE one regclass;
BEGIN
    FOR one IN SELECT oid FROM pg_class WHERE relname LIKE 'ids\_%' AND relkind = 'r' LOOP EXECUTE 'DROP TABLE ' || one; END LOOP;
END $$;
DROP DOMAIN event_id;
DROP FUNCTION expected;
DROP EXTENSION pg_mint;
