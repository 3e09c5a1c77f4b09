-- mint.partition_plan and mint.partition_maintain. Times are far ahead, or shapes are printed, so that the output is the same each day.
CREATE SCHEMA home;
CREATE EXTENSION pg_mint SCHEMA home;
SET TimeZone = 'UTC';
SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only
SET DateStyle = 'ISO';
CREATE SCHEMA shop;
SET search_path = shop, home;
CREATE VIEW tree AS SELECT inhparent::regclass AS parent, inhrelid::regclass AS part, pg_get_expr(relpartbound, oid) AS bounds
FROM pg_inherits JOIN pg_class ON oid = inhrelid;
GRANT SELECT ON tree TO PUBLIC;

-- Months, and that the statements run. The next plan has nothing to do.
CREATE TABLE event (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5, 'twitter'), body text CHECK (body <> ''), long int GENERATED ALWAYS AS (length(body)) STORED) PARTITION BY RANGE (id);
CREATE ROLE part_reader;
GRANT SELECT ON event TO part_reader, PUBLIC;
SELECT command FROM mint.partition_plan('event', '1 month', 1, since => '2040-02-29 12:00Z') LIMIT 1 \gexec
CALL mint.partition_maintain('event', '1 month', 2, since => '2040-02-29 12:00Z');
SELECT * FROM mint.partition_plan('event', '1 month', 2, 'twitter', since => '2040-02-29 12:00Z');
INSERT INTO event SELECT snowflake_encode(at, 5, 0, 'twitter'), 'x' FROM unnest('{2040-02-01 00:00Z,2040-02-29 23:59:59.999Z,2040-03-01 00:00Z,2040-04-30 23:59:59.999Z}'::timestamptz[]) at;
SELECT tableoid::regclass, long, count(*) FROM event GROUP BY 1, 2 ORDER BY 1;
-- Months begin in UTC, whatever the session calls UTC. Then months before, weeks from then on, a gap, and tens of days in it.
SET TimeZone = 'UTC+3';
SELECT count(*) FROM mint.partition_plan('event', '1 month', 1, since => '2041-02-15 12:00Z') WHERE extract(hour FROM since AT TIME ZONE interval '0') <> 0;
SET TimeZone = 'UTC';
CREATE FUNCTION missing(parent regclass, every interval, ahead int, at timestamptz, zone text DEFAULT 'UTC') RETURNS TABLE (name text, since timestamptz, until timestamptz)
LANGUAGE sql AS $$ SELECT DISTINCT name, since, until FROM mint.partition_plan(parent, every, ahead, zone => zone, since => at) ORDER BY since $$;
SELECT * FROM missing('event', '1 month', 3, '2039-12-31 23:59:59Z');
SELECT * FROM missing('event', '2 weeks', 2, '2040-04-20');
SELECT * FROM missing('event', '3 months', 1, '2040-04-20');
ALTER TABLE event DETACH PARTITION event_2040_03;
SELECT * FROM missing('event', '10 days', 1, '2040-03-05');
-- Midnights of a zone, one that does not exist, and a day that does not. Hours are those of UTC.
CREATE TABLE local (id bigint DEFAULT snowflake_next_id(1, 'tso')) PARTITION BY RANGE (id);
SELECT * FROM missing('local', '1 day', 1, '2040-03-24 12:00Z', 'Europe/Berlin');
SELECT DISTINCT name, since, until FROM mint.partition_plan('local', '1 day', 1, zone => 'America/Sao_Paulo', since => '2018-11-03 12:00Z') WHERE since < '2018-11-06' ORDER BY 2;
SELECT DISTINCT name, since, until FROM mint.partition_plan('local', '1 day', 1, zone => 'Pacific/Apia', since => '2011-12-29 12:00Z') WHERE since < '2012-01-01' ORDER BY 2;
SELECT * FROM missing('local', '12 hours', 1, '2040-03-24 12:00Z', 'Europe/Berlin');
-- UUIDs; ObjectIDs; ticks longer than the interval; a layout that ends.
CREATE TABLE document (id uuid PRIMARY KEY DEFAULT uuid_v7()) PARTITION BY RANGE (id);
SELECT right(command, 167) FROM mint.partition_plan('document', '1 year', 1, since => '2040-05-05');
CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid()) PARTITION BY RANGE (id);
CALL mint.partition_maintain('item', '6 hours', 1, since => '2040-05-05');
SELECT bounds FROM tree WHERE parent = 'item'::regclass;
CREATE TABLE slow (id bigint DEFAULT snowflake_next_id(1, 'time:30 shard:10 seq:10 unit:3600s epoch:2020-01-01T00:00:00Z')) PARTITION BY RANGE (id);
SELECT * FROM missing('slow', '20 minutes', 5, '2040-01-01');
CREATE TABLE ending (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (id);
SELECT name, until, right(command, 30) FROM mint.partition_plan('ending', '1 year', 5, since => '2045-01-01') WHERE command LIKE '%ATTACH%';
-- Bounds within a tick leave nothing to make, and a bound that is open is one.
CREATE TABLE finding (id uuid) PARTITION BY RANGE (id);
CREATE TABLE finding_a PARTITION OF finding FOR VALUES FROM (MINVALUE) TO ('02066fe5-1c00-7abc-8000-000000000001');
CREATE TABLE finding_b PARTITION OF finding FOR VALUES FROM ('02066fe5-1c00-7abd-8000-000000000002') TO ('0209aed5-abff-7abc-8000-000000000003');
SELECT * FROM missing('finding', '1 year', 1, '2040-06-01');
-- Names that are quoted, cut by bytes, and taken. Policies, a tablespace, options.
CREATE TABLE "Odd ""näme that is so long that nothing would fit behind itß" (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (id);
SELECT name, octet_length((parse_ident(name))[2]) FROM mint.partition_plan('"Odd ""näme that is so long that nothing would fit behind itß"', '1 day', 1, since => '2040-01-01') LIMIT 1;
CREATE TABLE secret (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (id);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON secret TO part_reader WITH GRANT OPTION;
CREATE TABLE secret_2040 ();
SELECT command FROM mint.partition_plan('secret', '1 year', 1, since => '2040-01-01') LIMIT 1 \gexec
-- Errors.
CREATE DOMAIN snowflake AS bigint; CREATE TABLE by_domain (id snowflake DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (id); CREATE TABLE by_list (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY LIST (id); CREATE TABLE by_hash (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY HASH (id); CREATE TABLE by_two (id bigint DEFAULT snowflake_next_id(1), at timestamptz) PARTITION BY RANGE (id, at); CREATE TABLE by_expression (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (snowflake_time(id));
CREATE TABLE v4 (id uuid DEFAULT gen_random_uuid()) PARTITION BY RANGE (id); CREATE TABLE counted (id bigint GENERATED ALWAYS AS IDENTITY) PARTITION BY RANGE (id); CREATE TABLE computed (id bigint DEFAULT snowflake_next_id(1, current_setting('x')::text)) PARTITION BY RANGE (id);
-- Citus marks its tables with such a trigger.
SET allow_system_table_mods = on;
CREATE FUNCTION pg_catalog.citus_truncate_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
RESET allow_system_table_mods;
CREATE TABLE distributed (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (id);
CREATE TRIGGER truncate_trigger AFTER TRUNCATE ON distributed EXECUTE FUNCTION citus_truncate_trigger();
CREATE FUNCTION attempt(call text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE d text; BEGIN EXECUTE 'SELECT count(*) FROM ' || call INTO d; RETURN d;
EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL; RETURN format('%s: %s (%s)', SQLSTATE, SQLERRM, d); END $$;
SELECT attempt(format('mint.partition_plan(%s)', call)) FROM unnest(ARRAY[
    $$'tree', '1 day'$$, $$NULL, '1 day'$$, $$'by_domain', '1 day'$$, $$'by_list', '1 day'$$, $$'by_hash', '1 day'$$, $$'by_two', '1 day'$$, $$'by_expression', '1 day'$$, $$'distributed', '1 day'$$,
    $$'event', NULL$$, $$'event', '0'$$, $$'event', '-1 day'$$, $$'event', '1 month 1 day'$$, $$'event', '1 month -1 day'$$, $$'event', '1.5 s'$$,
    $$'event', '1 day', 0$$, $$'event', '1 day', NULL$$, $$'event', '1 minute', since => '2020-01-01'$$, $$'event', '1 day', since => 'infinity'$$, $$'event', '1 day', keep => '23 hours'$$,
    $$'event', '1 day', zone => 'nowhere'$$, $$'v4', '1 day'$$, $$'finding', '1 day', keep => '2 days'$$, $$'finding', '1 day'$$, $$'document', '1 day', layout => 'twitter'$$, $$'event', '1 day', layout => 'leaf'$$,
    $$'counted', '1 day'$$, $$'computed', '1 day'$$, $$'counted', '1 day', layout => 'shard:10 time:41 seq:12 epoch:2020-01-01T00:00:00Z'$$]) WITH ORDINALITY AS c (call, place) ORDER BY place;
DROP FUNCTION pg_catalog.citus_truncate_trigger() CASCADE;

-- Maintenance, which only the owner can run: not a superuser, a member, a function or a transaction block, also with nothing to do.
CREATE ROLE part_owner; CREATE ROLE part_member IN ROLE part_owner; GRANT ALL ON SCHEMA shop TO part_owner, part_member; GRANT USAGE ON SCHEMA home TO PUBLIC;
CREATE TABLE flow (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id);
ALTER TABLE flow OWNER TO part_owner;
DO $$ BEGIN EXECUTE (SELECT command FROM mint.partition_plan('flow', '1 day') LIMIT 1); END $$;
CALL mint.partition_maintain('flow', '1 day');
SET ROLE part_member;
CALL mint.partition_maintain('flow', '1 day');
SET ROLE part_owner;
BEGIN;
CALL mint.partition_maintain('flow', '1 day');
ROLLBACK;
DO $$ BEGIN CALL mint.partition_maintain('flow', '1 day', keep => '30 days'); CALL mint.partition_maintain('flow', '1 day'); PERFORM FROM flow; END $$;
SELECT count(*), count(DISTINCT pg_get_userbyid(relowner)) AS owners FROM tree JOIN pg_class ON oid = part WHERE parent = 'flow'::regclass;
CREATE FUNCTION maintain() RETURNS void SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN CALL mint.partition_maintain('shop.flow', '1 day'); END $$;
SELECT maintain();
-- Functions and operators of others that fit better, in front of the search path and behind it, are not called.
RESET ROLE;
CREATE SCHEMA trap;
CREATE FUNCTION trap.sprung() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'sprung'; END $$;
CREATE FUNCTION trap.eq(text[], text[]) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()'; CREATE OPERATOR trap.= (FUNCTION = trap.eq, LEFTARG = text[], RIGHTARG = text[]); CREATE FUNCTION trap.eq(oid, regclass) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()'; CREATE OPERATOR trap.= (FUNCTION = trap.eq, LEFTARG = oid, RIGHTARG = regclass); CREATE FUNCTION trap.eq(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()'; CREATE OPERATOR trap.= (FUNCTION = trap.eq, LEFTARG = integer, RIGHTARG = integer);
CREATE FUNCTION trap.array_agg(text) RETURNS text[] LANGUAGE sql AS 'SELECT ARRAY[trap.sprung()::text]'; CREATE FUNCTION trap.format(text, text, text, text) RETURNS text LANGUAGE sql AS 'SELECT trap.sprung()::text'; CREATE FUNCTION trap.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT trap.sprung()::text';
CREATE FUNCTION trap.check(text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()'; CREATE DOMAIN trap.word AS text CHECK (trap.check(value)); CREATE TYPE trap.record AS (name text, command trap.word, drops boolean);
GRANT USAGE ON SCHEMA trap TO PUBLIC;
-- In a new session, as a session looks the names of a procedure up once.
\c -
SET TimeZone = 'UTC'; SET DateStyle = 'ISO, MDY'; SET client_min_messages = warning;
SET ROLE part_owner;
SET search_path = trap, pg_catalog, shop, home;
CALL mint.partition_maintain('flow', '1 day', 4);
CALL mint.partition_maintain('flow', '1 day', 4, retries => -1);
SET search_path = shop, home, trap;
CALL mint.partition_maintain('flow', '1 day', 5);
SELECT count(*) FROM pg_class WHERE relname = 'flow' AND relpages = 0;
SET search_path = shop, home;
SELECT count(*) FROM tree WHERE parent = 'flow'::regclass;
-- Keeping: nothing is made that would be dropped, and a second call has nothing to do. From days to months: what lies before the first day ends before now - keep.
CREATE TABLE past (id bigint DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id);
CALL mint.partition_maintain('past', '1 day', 3, since => now() - interval '40 days');
CREATE FUNCTION shape(parent regclass) RETURNS TABLE (parts bigint, old bigint, now bigint) LANGUAGE sql AS $$
    SELECT count(*), count(*) FILTER (WHERE until <= now() - interval '31 days'), count(*) FILTER (WHERE since <= now() AND now() < until)
    FROM (SELECT snowflake_time(r[1]::bigint, 'twitter') AS since, snowflake_time(r[2]::bigint, 'twitter') AS until FROM tree, regexp_matches(bounds, '(\d+)\D+(\d+)') AS r WHERE tree.parent = shape.parent) AS t $$;
SELECT parts, old BETWEEN 8 AND 10 AS old, now FROM shape('past');
CALL mint.partition_maintain('past', '1 day', 3, keep => '31 days');
SELECT parts BETWEEN 35 AND 36 AS parts, old, now FROM shape('past');
CALL mint.partition_maintain('past', '1 month', 2, keep => '31 days');
CALL mint.partition_maintain('past', '1 month', 2, since => '2026-01-01', keep => '31 days');
SELECT count(*) FROM mint.partition_plan('past', '1 month', 2, keep => '31 days');
SELECT DISTINCT regexp_replace(right(command, 76), '\d+', '#', 'g') FROM mint.partition_plan('past', '1 day', 1, keep => '1 day');
-- Ids of a default whose time is not known are not dropped by a layout that somebody passes.
CREATE TABLE scattered (id bigint DEFAULT snowflake_scatter(snowflake_next_id(5, 'twitter'))) PARTITION BY RANGE (id);
SELECT count(*) FROM mint.partition_plan('scattered', '1 month', layout => 'twitter', keep => '1 year');
ALTER TABLE scattered ALTER id DROP DEFAULT;
SELECT count(*) FROM mint.partition_plan('scattered', '1 month', layout => 'twitter', keep => '1 year');
RESET ROLE;
CREATE FUNCTION home.snowflake_next_mine(home.snowflake_layout) RETURNS bigint LANGUAGE sql RETURN 5;
ALTER TABLE scattered ALTER id SET DEFAULT home.snowflake_next_mine('twitter');
SELECT count(*) FROM mint.partition_plan('scattered', '1 month', layout => 'twitter', keep => '1 year');
DROP TABLE scattered; DROP FUNCTION home.snowflake_next_mine;
CREATE FUNCTION shop.uuid_v7() RETURNS uuid LANGUAGE sql RETURN gen_random_uuid();
CREATE TABLE uuids (id uuid DEFAULT shop.uuid_v7()) PARTITION BY RANGE (id);
SELECT count(*) FROM mint.partition_plan('uuids', '1 month', keep => '1 year');
ALTER TABLE uuids ALTER id SET DEFAULT home.uuid_v7('2020-01-01');
SELECT count(*) FROM mint.partition_plan('uuids', '1 month', keep => '1 year');
ALTER TABLE uuids ALTER id SET DEFAULT home.uuid_v7();
SELECT count(*) FROM mint.partition_plan('uuids', '1 month', keep => '1 year');
-- Rows in the default partition prevent a partition, and none of those that are for later rows.
CREATE TABLE spilled (LIKE past) PARTITION BY RANGE (id);
CREATE TABLE spilled_rest PARTITION OF spilled DEFAULT;
INSERT INTO spilled VALUES (snowflake_min(now(), 'twitter'));
\set VERBOSITY sqlstate
CALL mint.partition_maintain('spilled', '1 day', 3, 'twitter');
\set VERBOSITY default
SELECT count(*) FROM tree WHERE parent = 'spilled'::regclass;
SELECT count(*) FROM mint.partition_plan('past', '1 day', zone => NULL);
SELECT count(*) FROM mint.partition_plan('past', '1 hour', zone => 'Mars/X');
-- A partition without an end says nothing of the layout.
CREATE TABLE open_end (id bigint) PARTITION BY RANGE (id); CREATE TABLE open_end_a PARTITION OF open_end FOR VALUES FROM (2199023255552) TO (1125899906842624);
CREATE TABLE open_end_b PARTITION OF open_end FOR VALUES FROM (1125899906842624) TO (MAXVALUE);
SELECT name, command FROM mint.partition_plan('open_end', '1 day', 1, 'twitter', keep => '1 day');
-- A gap: what is before it has no command, and the call says so at its end. So it is in another layout, and if no partition has now.
CREATE TABLE flow_gap (id bigint) PARTITION BY RANGE (id);
CALL mint.partition_maintain('flow_gap', '1 day', 3, 'discord', since => now() - interval '40 days');
SELECT DISTINCT l, count(command) FROM unnest('{discord,java,twitter,pgedge,tsid,goflake,pgdog}'::text[]) AS l, LATERAL mint.partition_plan('flow_gap', '1 day', 3, l::snowflake_layout, keep => '10 days') WHERE command IS NULL OR command LIKE '%DETACH%' GROUP BY l;
SELECT part AS middle FROM tree WHERE parent = 'flow_gap'::regclass ORDER BY bounds DESC OFFSET 6 LIMIT 1 \gset
ALTER TABLE flow_gap DETACH PARTITION :middle;
DROP TABLE :middle;
SELECT count(*) BETWEEN 29 AND 31, count(command) FROM mint.partition_plan('flow_gap', '1 day', 3, 'discord', keep => '10 days');
SET client_min_messages = error;
\set VERBOSITY sqlstate
CALL mint.partition_maintain('flow_gap', '1 day', 3, 'discord', keep => '10 days');

-- A policy hides no row that refers to a partition.
SET ROLE part_owner;
CREATE TABLE referred (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id); CREATE TABLE refers (id bigint REFERENCES referred);
CALL mint.partition_maintain('referred', '1 day', 1, since => now() - interval '9 days'); INSERT INTO referred VALUES (snowflake_min(now() - interval '8 days')); INSERT INTO refers TABLE referred;
ALTER TABLE refers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; CALL mint.partition_maintain('referred', '1 day', 1, keep => '3 days'); SELECT count(*) FROM referred;
RESET ROLE;

-- Refused where objects of another role would run functions, or another role can change what names mean, by the procedure and by what is
-- printed when it runs; with rows within a second for bounds, or an age that is none. Also where each transaction sees one snapshot.
CREATE TABLE above (id bigint DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id);
CREATE TABLE meets (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id);
CREATE TABLE printed AS (SELECT command FROM mint.partition_plan('meets', '1 day') LIMIT 1)
    UNION ALL SELECT command FROM mint.convert_plan('meets', 'id', 'snowflake_next_id(6, ''twitter'')');
CREATE FUNCTION outcomes() RETURNS text LANGUAGE plpgsql AS $$ DECLARE statements text; outcomes text = ''; BEGIN
    FOR statements IN TABLE shop.printed LOOP BEGIN EXECUTE statements; RAISE SQLSTATE '00RAN'; EXCEPTION WHEN OTHERS THEN outcomes := outcomes || SQLSTATE || ' '; END; END LOOP;
    RETURN outcomes; END $$;
SELECT outcomes(); BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT outcomes(); ROLLBACK;
CREATE TABLE other_end (meets bigint REFERENCES meets); ALTER TABLE other_end OWNER TO part_member;
CALL mint.partition_maintain('meets', '1 day'); SELECT outcomes();
DROP TABLE other_end; CREATE TABLE meets_default PARTITION OF meets DEFAULT; ALTER TABLE meets_default OWNER TO part_member;
CALL mint.partition_maintain('meets', '1 day'); SELECT outcomes();
DROP TABLE meets_default; ALTER TABLE above ATTACH PARTITION meets DEFAULT; ALTER TABLE above OWNER TO part_member;
CALL mint.partition_maintain('meets', '1 day'); SELECT outcomes();
ALTER TABLE above DETACH PARTITION meets; DROP TABLE above; ALTER SCHEMA shop OWNER TO part_member;
CALL mint.partition_maintain('meets', '1 day'); SELECT outcomes();
-- As with schema public, of which each owner of the database is the owner.
ALTER SCHEMA shop OWNER TO pg_database_owner; ALTER DATABASE :"DBNAME" OWNER TO part_member;
CALL mint.partition_maintain('meets', '1 day'); SELECT outcomes();
ALTER DATABASE :"DBNAME" OWNER TO CURRENT_USER; ALTER SCHEMA shop OWNER TO CURRENT_USER;
CREATE SCHEMA elsewhere AUTHORIZATION part_member; CREATE TABLE elsewhere.part PARTITION OF meets DEFAULT;
CALL mint.partition_maintain('meets', '1 day'); SELECT outcomes();
DROP SCHEMA elsewhere CASCADE;
SELECT attempt('mint.partition_plan(''meets'', ''1 day'', keep => ''-1200 months 36030 days'')');
SET default_transaction_isolation = 'serializable';
SET quote_all_identifiers = on;
CALL mint.partition_maintain('meets', '1 day', since => now() - interval '9 days');
SELECT attempt('mint.partition_plan(''meets'', ''1 day'', layout => ''leaf'')') ~ 'that of column';
DO $$ BEGIN EXECUTE format('CREATE TABLE meets_odd PARTITION OF meets FOR VALUES FROM (%s) TO (%s)',
    snowflake_min('2024-01-01 00:00:00.5Z', 'twitter'), snowflake_min(now() - interval '99 days', 'twitter')); END $$;
SELECT count(*), count(command) FROM mint.partition_plan('meets', '1 day', keep => '20 days');
RESET default_transaction_isolation;
RESET quote_all_identifiers;
DROP SCHEMA shop, trap CASCADE; DROP EXTENSION pg_mint; DROP SCHEMA home; DROP ROLE part_reader, part_owner, part_member;
