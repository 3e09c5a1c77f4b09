-- mint.partition_plan and mint.partition_drop_plan: what they print, and that it runs. Times far ahead, so that the output is the same each day.
CREATE SCHEMA home;
CREATE EXTENSION pg_mint SCHEMA home;
SET TimeZone = 'UTC';
CREATE SCHEMA shop;
SET search_path = shop, home;

CREATE TABLE event (id bigint PRIMARY KEY DEFAULT home.snowflake_next_id(5, 'twitter'), body text CHECK (body <> ''), long int GENERATED ALWAYS AS (length(body)) STORED) PARTITION BY RANGE (id);
SELECT * FROM mint.partition_plan('event', '1 month', 2, since => '2040-02-29 12:00Z');

-- Months begin in UTC, whatever the zone of the session calls UTC.
SET TimeZone = 'UTC+3';
SELECT name, since FROM mint.partition_plan('event', '1 month', 1, since => '2040-02-15 12:00Z') WHERE extract(hour FROM since AT TIME ZONE interval '0') <> 0;
SET TimeZone = 'UTC';

-- The output runs as it is, and the next plan has nothing to do.
SELECT command FROM mint.partition_plan('event', '1 month', 2, since => '2040-02-29 12:00Z') \gexec
SELECT * FROM mint.partition_plan('event', '1 month', 2, since => '2040-02-29 12:00Z');
INSERT INTO event SELECT snowflake_encode(at, 5, 0, 'twitter'), 'x' FROM unnest('{2040-02-01 00:00Z,2040-02-29 23:59:59.999Z,2040-03-01 00:00Z,2040-04-30 23:59:59.999Z}'::timestamptz[]) at;
SELECT tableoid::regclass, long, count(*) FROM event GROUP BY 1, 2 ORDER BY 1;
INSERT INTO event VALUES (snowflake_encode('2040-05-01 00:00Z', 5, 0, 'twitter'), 'x');
\d event_2040_02

-- The same for one more month, and for the months before.
SELECT name, since, until FROM mint.partition_plan('event', '1 month', 3, since => '2039-12-31 23:59:59Z');
-- Weeks from now on: they begin where the months end, and then on Mondays.
SELECT name, since, until FROM mint.partition_plan('event', '7 days', 2, since => '2040-04-20');
SELECT command FROM mint.partition_plan('event', '7 days', 2, since => '2040-04-20') \gexec
SELECT name, since, until FROM mint.partition_plan('event', '1 month', 1, since => '2040-04-20');
-- A gap between two.
ALTER TABLE event DETACH PARTITION event_2040_03;
SELECT name, since, until FROM mint.partition_plan('event', '1 month', 1, since => '2040-02-01');
SELECT name, since, until FROM mint.partition_plan('event', '10 days', 1, since => '2040-03-05');
SELECT command FROM mint.partition_plan('event', '1 month', 1, since => '2040-02-01') \gexec

-- Dropping: none is old, then all that end before a time far ahead would be.
SELECT * FROM mint.partition_drop_plan('event', '1 day');
CREATE TABLE past (id bigint DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id);
SELECT count(*) > 60 AS enough FROM mint.partition_plan('past', '3 months', 1, since => '2011-01-01');
SELECT command FROM mint.partition_plan('past', '3 months', 1, since => '2011-01-01') WHERE until < '2013-01-01' \gexec
CREATE TABLE past_before PARTITION OF past FOR VALUES FROM (MINVALUE) TO (1);
SELECT * FROM mint.partition_drop_plan('past', '10 years') LIMIT 2;
SELECT command FROM mint.partition_drop_plan('past', '10 years', concurrently => true) LIMIT 4;
SELECT command FROM mint.partition_drop_plan('past', '10 years') LIMIT 2 \gexec
SELECT name, since, until FROM mint.partition_drop_plan('past', '10 years') LIMIT 1;
SELECT * FROM mint.partition_drop_plan('past', '100 years');
-- Ids of a counter, from before the first snowflake, are not taken for old ones.
SELECT relname FROM pg_class WHERE oid = 'past_before'::regclass;

-- A foreign table, and one that another session has begun to detach, are dropped as such.
CREATE FOREIGN DATA WRAPPER dummy;
CREATE SERVER far FOREIGN DATA WRAPPER dummy;
CREATE FOREIGN TABLE past_far PARTITION OF past FOR VALUES FROM (1) TO (20992597816246272) SERVER far;
SELECT command FROM mint.partition_drop_plan('past', '10 years') LIMIT 1;
DROP FOREIGN DATA WRAPPER dummy CASCADE;

-- Another time zone: its midnights, its names.
CREATE TABLE local (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (id);
SELECT name, since, until FROM mint.partition_plan('local', '1 day', 2, zone => 'Europe/Berlin', since => '2040-03-24 12:00Z');
SELECT name, since, until FROM mint.partition_plan('local', '12 hours', 2, zone => 'Europe/Berlin', since => '2040-03-24 12:00Z');

-- UUIDs and ObjectIDs, and domains over them.
CREATE DOMAIN key AS uuid;
CREATE TABLE document (id key PRIMARY KEY DEFAULT uuid_v7()) PARTITION BY RANGE (id);
SELECT command FROM mint.partition_plan('document', '1 year', 1, since => '2040-05-05');
SELECT command FROM mint.partition_plan('document', '1 year', 1, since => '2040-05-05') \gexec
INSERT INTO document SELECT uuid_v7(at) FROM unnest('{2040-01-01 00:00Z,2040-12-31 23:59:59.999999Z,2041-01-01 00:00Z}'::timestamptz[]) at;
SELECT tableoid::regclass, count(*) FROM document GROUP BY 1 ORDER BY 1;
SELECT name FROM mint.partition_plan('document', '1 year', 1, since => '2040-05-05');
CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid()) PARTITION BY RANGE (id);
SELECT command FROM mint.partition_plan('item', '6 hours', 1, since => '2040-05-05') \gexec
INSERT INTO item SELECT objectid_min(at) FROM unnest('{2040-05-05 00:00Z,2040-05-05 06:00Z}'::timestamptz[]) at;
SELECT tableoid::regclass, id FROM item ORDER BY id;

-- A layout whose ticks are longer than the interval, and one that ends within the plan.
CREATE TABLE slow (id bigint DEFAULT snowflake_next_id(1, 'time:30 shard:10 seq:10 unit:3600s epoch:2020-01-01T00:00:00Z')) PARTITION BY RANGE (id);
SELECT name, since, until FROM mint.partition_plan('slow', '20 minutes', 5, since => '2040-01-01');
CREATE TABLE ending (id bigint DEFAULT snowflake_next_id(1)) PARTITION BY RANGE (id);
SELECT name, since, until, right(command, 40) FROM mint.partition_plan('ending', '1 year', 5, since => '2045-01-01');
SELECT command FROM mint.partition_plan('ending', '1 year', 5, since => '2045-01-01') \gexec
INSERT INTO ending VALUES (9223372036854775807);
SELECT name FROM mint.partition_plan('ending', '1 year', 5, since => '2045-01-01');

-- Names: quoted, cut, and taken.
CREATE TABLE "Odd ""name" (id bigint) PARTITION BY RANGE (id);
SELECT name, command FROM mint.partition_plan('"Odd ""name"', '1 month', 1, 'twitter', since => '2040-01-01');
CREATE TABLE a_name_that_is_so_long_that_nothing_else_would_fit_behind_it (id bigint) PARTITION BY RANGE (id);
CREATE TABLE a_name_that_is_so_long_that_nothing_else_would_fit_beh_2040_02 (taken int);
SELECT name FROM mint.partition_plan('a_name_that_is_so_long_that_nothing_else_would_fit_behind_it', '1 month', 1, 'twitter', since => '2040-01-01');

-- A plan for now begins with now. The current partition of an id that is max_ahead ahead counts as such.
SELECT count(*) BETWEEN 4 AND 5 AS enough, min(since) = date_trunc('hour', now(), 'UTC') AS now, max(until) > now() + interval '3 hours' AS ahead FROM mint.partition_plan('local', '1 hour', 3);

-- Errors.
SELECT mint.partition_plan(NULL, '1 month');
SELECT mint.partition_plan('event', NULL);
SELECT mint.partition_plan('nothing', '1 month');
SELECT mint.partition_plan(0, '1 month');
SELECT mint.partition_plan('event_2040_02', '1 month');
CREATE TABLE by_list (id bigint) PARTITION BY LIST (id);
SELECT mint.partition_plan('by_list', '1 month', 2, 'twitter');
CREATE TABLE by_hash (id bigint) PARTITION BY HASH (id);
SELECT mint.partition_plan('by_hash', '1 month', 2, 'twitter');
CREATE TABLE by_two (id bigint, at timestamptz) PARTITION BY RANGE (at, id);
SELECT mint.partition_plan('by_two', '1 month', 2, 'twitter');
CREATE TABLE by_time (id bigint, at timestamptz) PARTITION BY RANGE (at);
SELECT mint.partition_plan('by_time', '1 month', 2, 'twitter');
CREATE TABLE by_expression (id bigint) PARTITION BY RANGE (snowflake_time(id));
SELECT mint.partition_plan('by_expression', '1 month', 2, 'twitter');
CREATE TABLE v4 (id uuid DEFAULT gen_random_uuid()) PARTITION BY RANGE (id);
SELECT mint.partition_plan('v4', '1 month');
SELECT mint.partition_plan('document', '1 month', 2, 'twitter');
CREATE TABLE made_elsewhere (id bigint DEFAULT 1) PARTITION BY RANGE (id);
SELECT mint.partition_plan('made_elsewhere', '1 month');
SELECT mint.partition_plan('by_list', '1 month');
SELECT mint.partition_plan('event', '1 month', 2, 'instagram');
SELECT mint.partition_plan('event', '1 month', 2, 'nothing');
SELECT count(*) FROM mint.partition_plan('event', '1 month', 1, 'leaf', since => '2040-02-01');
SELECT mint.partition_plan('made_elsewhere', '1 month', 2, 'shard:10 time:41 seq:12 epoch:2020-01-01T00:00:00Z');
SELECT mint.partition_plan('made_elsewhere', '1 month', 2, 'baidu');
SELECT mint.partition_plan('item', '1 month', since => '2110-01-01');
SELECT mint.partition_plan('event', '0');
SELECT mint.partition_plan('event', '-1 month');
SELECT mint.partition_plan('event', '1 month 1 day');
SELECT mint.partition_plan('event', '1 day 1 hour');
SELECT mint.partition_plan('event', '1 ms');
SELECT mint.partition_plan('event', '100000 years');
SELECT mint.partition_plan('event', '1 month', 0);
SELECT mint.partition_plan('event', '1 month', 10001);
SELECT mint.partition_plan('event', '1 minute', 10, since => '2020-01-01');
SELECT mint.partition_plan('event', '1 month', since => 'infinity');
SELECT mint.partition_plan('event', '1 month', since => '-infinity');
SELECT mint.partition_plan('event', '1 month', zone => 'nowhere');
SELECT mint.partition_drop_plan('event', '0');
SELECT mint.partition_drop_plan('event', '-1 day');
SELECT mint.partition_drop_plan('event', NULL);
SELECT mint.partition_drop_plan('by_list', '1 day');
CREATE TEMP TABLE fleeting (id bigint) PARTITION BY RANGE (id);
SELECT mint.partition_plan('fleeting', '1 month', 2, 'twitter');
-- Their SQLSTATEs.
CREATE FUNCTION code(statement text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN EXECUTE statement; RETURN 'none'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
SELECT code('SELECT ' || call), call FROM unnest(ARRAY[
    $$mint.partition_plan(NULL, '1 month')$$,
    $$mint.partition_plan('event', NULL)$$,
    $$mint.partition_plan('nothing', '1 month')$$,
    $$mint.partition_plan(0, '1 month')$$,
    $$mint.partition_plan('event_2040_02', '1 month')$$,
    $$mint.partition_plan('by_list', '1 month', 2, 'twitter')$$,
    $$mint.partition_plan('by_hash', '1 month', 2, 'twitter')$$,
    $$mint.partition_plan('by_two', '1 month', 2, 'twitter')$$,
    $$mint.partition_plan('by_time', '1 month', 2, 'twitter')$$,
    $$mint.partition_plan('by_expression', '1 month', 2, 'twitter')$$,
    $$mint.partition_plan('v4', '1 month')$$,
    $$mint.partition_plan('document', '1 month', 2, 'twitter')$$,
    $$mint.partition_plan('made_elsewhere', '1 month')$$,
    $$mint.partition_plan('by_list', '1 month')$$,
    $$mint.partition_plan('event', '1 month', 2, 'instagram')$$,
    $$mint.partition_plan('event', '1 month', 2, 'nothing')$$,
    $$mint.partition_plan('event', '1 month', 1, 'leaf', since => '2040-02-01')$$,
    $$mint.partition_plan('made_elsewhere', '1 month', 2, 'shard:10 time:41 seq:12 epoch:2020-01-01T00:00:00Z')$$,
    $$mint.partition_plan('made_elsewhere', '1 month', 2, 'baidu')$$,
    $$mint.partition_plan('item', '1 month', since => '2110-01-01')$$,
    $$mint.partition_plan('event', '0')$$,
    $$mint.partition_plan('event', '-1 month')$$,
    $$mint.partition_plan('event', '1 month 1 day')$$,
    $$mint.partition_plan('event', '1 day 1 hour')$$,
    $$mint.partition_plan('event', '1 ms')$$,
    $$mint.partition_plan('event', '100000 years')$$,
    $$mint.partition_plan('event', '1 month', 0)$$,
    $$mint.partition_plan('event', '1 month', 10001)$$,
    $$mint.partition_plan('event', '1 minute', 10, since => '2020-01-01')$$,
    $$mint.partition_plan('event', '1 month', since => 'infinity')$$,
    $$mint.partition_plan('event', '1 month', since => '-infinity')$$,
    $$mint.partition_plan('event', '1 month', zone => 'nowhere')$$,
    $$mint.partition_drop_plan('event', '0')$$,
    $$mint.partition_drop_plan('event', '-1 day')$$,
    $$mint.partition_drop_plan('event', NULL)$$,
    $$mint.partition_drop_plan('by_list', '1 day')$$,
    $$mint.partition_plan('fleeting', '1 month', 2, 'twitter')$$]) WITH ORDINALITY AS of (call, place) ORDER BY place;
SET client_min_messages = warning;
DROP SCHEMA shop CASCADE;
RESET client_min_messages;
DROP EXTENSION pg_mint;
DROP SCHEMA home;
