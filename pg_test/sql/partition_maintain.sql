-- mint.partition_maintain and the register: what they do, and what they refuse.
CREATE SCHEMA home;
CREATE EXTENSION pg_mint SCHEMA home;
SET TimeZone = 'UTC';
CREATE SCHEMA shop;
SET search_path = shop, home;
\set VERBOSITY terse

CREATE TABLE event (id bigint PRIMARY KEY DEFAULT home.snowflake_next_id(5, 'twitter'), long int GENERATED ALWAYS AS (length(body)) STORED, body text CHECK (body <> '')) PARTITION BY RANGE (id);
CALL mint.partition_maintain('event', '1 month', 1, since => '2040-02-29 12:00Z');
CALL mint.partition_maintain('event', '1 month', 1, since => '2040-02-29 12:00Z');
SELECT inhrelid::regclass, pg_get_expr(relpartbound, 0) FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'event'::regclass ORDER BY inhrelid::regclass::text;
-- In a transaction block, nothing is committed.
BEGIN;
CALL mint.partition_maintain('event', '1 month', 2, since => '2040-02-29 12:00Z');
ROLLBACK;
SELECT count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass;
-- In a block of PL/pgSQL outside of one, each step is.
DO $$ BEGIN CALL mint.partition_maintain('event', '1 month', 3, since => '2040-02-29 12:00Z'); ROLLBACK; END $$;
SELECT count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass;

-- Nothing is dropped by default. What is older than keep is, and is not made again.
SET client_min_messages = warning;
CALL mint.partition_maintain('event', '3 months', 1, since => '2010-10-15');
SELECT count(*) > 60 AS many FROM pg_inherits WHERE inhparent = 'event'::regclass;
CALL mint.partition_maintain('event', '3 months', 1, since => '2011-01-01', keep => '1 year');
SELECT count(*) BETWEEN 8 AND 14 AS few FROM pg_inherits WHERE inhparent = 'event'::regclass;
RESET client_min_messages;

-- Rows of the default partition: refused, or moved, with their columns in another order there.
CREATE TABLE pile (body text, id uuid DEFAULT uuid_v7(), PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE pile_default (id uuid NOT NULL, gone int, body text);
ALTER TABLE pile_default DROP gone;
ALTER TABLE pile ATTACH PARTITION pile_default DEFAULT;
INSERT INTO pile SELECT n::text, uuid_v7('2040-01-01'::timestamptz + n * interval '1 s') FROM generate_series(1, 25000) n;
\set VERBOSITY default
CALL mint.partition_maintain('pile', '1 year', 1, since => '2040-01-01');
\set VERBOSITY terse
CALL mint.partition_maintain('pile', '1 year', 1, since => '2040-01-01', move_rows => true);
SELECT tableoid::regclass, count(*), sum(body::int) FROM pile GROUP BY 1;
-- What would notice that rows are moved prevents it.
INSERT INTO pile SELECT n::text, uuid_v7('2050-01-01'::timestamptz + n * interval '1 s') FROM generate_series(1, 5) n;
\set VERBOSITY default
CREATE TABLE leaf (id uuid REFERENCES pile);
CALL mint.partition_maintain('pile', '1 year', 1, since => '2050-01-01', move_rows => true);
DROP TABLE leaf;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN old; END $$;
CREATE TRIGGER note AFTER DELETE ON pile FOR EACH ROW EXECUTE FUNCTION note();
CALL mint.partition_maintain('pile', '1 year', 1, since => '2050-01-01', move_rows => true);
DROP TRIGGER note ON pile;
SET client_min_messages = error;
CREATE PUBLICATION pub FOR TABLE pile;
CALL mint.partition_maintain('pile', '1 year', 1, since => '2050-01-01', move_rows => true);
DROP PUBLICATION pub;
CREATE RULE note AS ON DELETE TO pile_default DO INSTEAD NOTHING;
CALL mint.partition_maintain('pile', '1 year', 1, since => '2050-01-01', move_rows => true);
DROP RULE note ON pile_default;
RESET client_min_messages;
\set VERBOSITY terse
CALL mint.partition_maintain('pile', '1 year', 1, since => '2050-01-01', move_rows => true);
SELECT tableoid::regclass, count(*) FROM pile GROUP BY 1 ORDER BY min(tableoid::regclass::text);

-- Arguments.
CALL mint.partition_maintain(NULL, '1 day');
CALL mint.partition_maintain('event', NULL);
CALL mint.partition_maintain('event', '1 month 1 day');
CALL mint.partition_maintain('event', '1 month', 0);
CALL mint.partition_maintain('event', '1 month', keep => '0');
CALL mint.partition_maintain('event', '1 month', zone => 'Mars');
CALL mint.partition_maintain('event', '1 month', layout => 'instagram');
CALL mint.partition_maintain('event', '1 month', move_rows => NULL);
CALL mint.partition_maintain('event', '1 month', lock_timeout => '2 s');
CALL mint.partition_maintain('event', '1 month', lock_timeout => '0');
CALL mint.partition_maintain('event', '1 month', retries => -1);
CALL mint.partition_maintain('pg_class', '1 month');
CALL mint.partition_maintain('event_pkey', '1 month');
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL mint.partition_maintain('event', '1 month');
ROLLBACK;
CREATE FUNCTION call_it() RETURNS void LANGUAGE sql AS $$ CALL mint.partition_maintain('event', '1 month', 9, since => '2070-01-01') $$;
SET client_min_messages = warning;
SELECT call_it();
RESET client_min_messages;

-- Rights: those of the owner, who needs CREATE on the schema.
CREATE ROLE regress_maker;
CREATE ROLE regress_other;
GRANT USAGE ON SCHEMA shop, home TO regress_maker, regress_other;
ALTER TABLE event OWNER TO regress_maker;
\set VERBOSITY default
CALL mint.partition_maintain('event', '1 month', 1, since => '2080-01-01');
SET ROLE regress_other;
CALL mint.partition_maintain('event', '1 month');
SELECT mint.partition_register('event', '1 month');
RESET ROLE;
GRANT CREATE ON SCHEMA shop TO regress_maker;
CALL mint.partition_maintain('event', '1 month', 1, since => '2080-01-01');
SELECT DISTINCT relowner::regrole FROM pg_class WHERE relname ~ '^event_2080';

-- The register.
SELECT mint.partition_register('event', '3 months', 2, keep => '10 years', zone => 'Europe/Berlin');
SELECT parent, owner, every, ahead, keep, layout, zone, move_rows, problem FROM mint.partitions;
SELECT mint.partition_register('event', '3 months', 3, layout => 'twitter', move_rows => true);
SELECT parent, owner, every, ahead, keep, layout, zone, move_rows, problem FROM mint.partitions;
SELECT mint.partition_register('event', '1 month 1 day');
SELECT mint.partition_register('event', '1 month', zone => 'Mars');
SELECT mint.partition_register('pg_class', '1 month');
SET client_min_messages = warning;
CALL mint.partition_maintain_all();
RESET client_min_messages;
SELECT made, missing_from, problem FROM mint.partitions;
SELECT status, value, threshold, unit, detail FROM mint.health() WHERE check_name = 'partitions';
ALTER TABLE event RENAME TO "Event.s";
CALL mint.partition_maintain_all();
SELECT parent, made, problem FROM mint.partitions;
SELECT status, value, threshold, unit, detail, hint FROM mint.health() WHERE check_name = 'partitions';
SET ROLE regress_other;
SELECT mint.partition_unregister('shop.event');
RESET ROLE;
SELECT mint.partition_unregister('event');
SELECT mint.partition_unregister('shop.event');
SELECT mint.partition_unregister('"Event.s"');
SELECT mint.partition_unregister('not a name');
SELECT mint.partition_unregister(NULL);
SELECT count(*) FROM mint.partitions;

-- A deferred foreign key would be checked within a step that moves rows.
CREATE TABLE kind (k int PRIMARY KEY);
CREATE TABLE kinds (
    id bigint NOT NULL DEFAULT snowflake_next_id(3, 'twitter'), k int REFERENCES kind DEFERRABLE INITIALLY DEFERRED
) PARTITION BY RANGE (id);
CREATE TABLE kinds_default PARTITION OF kinds DEFAULT;
INSERT INTO kinds DEFAULT VALUES;
CALL mint.partition_maintain('kinds', '1 year', 1, move_rows => true);

-- Behind a gap, the times of partitions are not certain: nothing is dropped where the layout of the column has changed, also by the
-- next run. Where no gap is, old partitions go.
CREATE TABLE remade (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), v int) PARTITION BY RANGE (id);
SET client_min_messages = warning;
CALL mint.partition_maintain('remade', '1 year', 1, since => now() - interval '3 years');
RESET client_min_messages;
INSERT INTO remade (v) SELECT 1 FROM generate_series(1, 10);
ALTER TABLE remade ALTER id SET DEFAULT snowflake_next_id(3, 'instagram');
SELECT mint.partition_register('remade', '1 year', 401);
SELECT mint.partition_register('remade', '1 year', 1, keep => '2 years');
SET client_min_messages = error;
CALL mint.partition_maintain_all();
CALL mint.partition_maintain('remade', '1 year', 1, keep => '2 years');
RESET client_min_messages;
SELECT count(*) FROM remade;
SELECT count(*) FROM pg_inherits WHERE inhparent = 'remade'::regclass;
ALTER TABLE remade ALTER id SET DEFAULT snowflake_next_id(3, 'twitter');
SET client_min_messages = warning;
CALL mint.partition_maintain('remade', '1 year', 1, keep => '1 year', layout => 'twitter');
RESET client_min_messages;
SELECT count(*) FROM remade;
SELECT count(*) FROM pg_inherits WHERE inhparent = 'remade'::regclass;

-- The values of a counter contain no time: new ones are in the oldest partition, which is not dropped as long as a table has such a
-- default.
CREATE TABLE visit (id bigserial PRIMARY KEY, page text);
INSERT INTO visit (page) SELECT 'before' FROM generate_series(1, 10);
SET client_min_messages = warning;
SELECT mint.convert('visit', 'id', 'snowflake_next_id(5)') IS NOT NULL AS converted;
SELECT snowflake_min(date_trunc('month', now()) - interval '2 years') AS edge \gset
ALTER TABLE visit RENAME TO visit_before;
CREATE TABLE visit (LIKE visit_before INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
ALTER TABLE visit ATTACH PARTITION visit_before FOR VALUES FROM (MINVALUE) TO (:edge);
CALL mint.partition_maintain('visit', '1 month', 2, since => now() - interval '2 years');
SELECT mint.partition_register('visit', '1 month', 2, keep => '12 months', layout => 'instagram');
SELECT problem FROM mint.partitions WHERE parent ~ 'visit';
SELECT mint.convert_revert('visit', 'id');
INSERT INTO visit (page) VALUES ('new') RETURNING id;
CALL mint.partition_maintain_all();
SELECT count(*) FROM visit WHERE page = 'new';
SELECT problem FROM mint.partitions WHERE parent ~ 'visit';
SELECT status, replace(detail, format('role "%s"', current_user), 'role "me"') AS detail FROM mint.health() WHERE check_name = 'partitions';
\set VERBOSITY default
CALL mint.partition_maintain('visit', '1 month', 2, keep => '12 months', layout => 'instagram');
SELECT count(*) FROM mint.partition_drop_plan('visit', '12 months', 'instagram');
SELECT mint.partition_register('visit', '1 month', 3, keep => '12 months', layout => 'instagram');
\set VERBOSITY terse
-- New partitions are still made, and nothing else is refused.
SELECT mint.partition_register('visit', '1 month', 3, layout => 'instagram');
CALL mint.partition_maintain_all();
SELECT made, problem FROM mint.partitions WHERE parent ~ 'visit';
-- Inserts into the partition itself, by its own default.
ALTER TABLE visit ALTER id SET DEFAULT snowflake_next_id(5);
SELECT mint.partition_register('visit', '1 month', 3, keep => '12 months');
ALTER TABLE visit_before ALTER id SET DEFAULT nextval('visit_id_seq');
CALL mint.partition_maintain('visit', '1 month', 3, keep => '12 months');
ALTER TABLE visit_before ALTER id DROP DEFAULT;
-- Without a default, a client can draw from the counter itself. Who knows better drops the partition.
ALTER TABLE visit ALTER id DROP DEFAULT;
CALL mint.partition_maintain('visit', '1 month', 3, keep => '18 months', layout => 'instagram');
SELECT count(*) FROM visit;
DROP TABLE visit_before;
CALL mint.partition_maintain('visit', '1 month', 3, keep => '18 months', layout => 'instagram');
CREATE FUNCTION wrapped() RETURNS bigint LANGUAGE sql AS 'SELECT home.snowflake_next_id(5)';
ALTER TABLE visit ALTER id SET DEFAULT wrapped();
CALL mint.partition_maintain('visit', '1 month', 3, keep => '12 months', layout => 'instagram');
SELECT count(*) FROM visit;
RESET client_min_messages;

-- A default of which nothing says that it is a counter: partitions with values of one are not dropped.
SET client_min_messages = warning;
SET search_path = shop, home;
CREATE SEQUENCE shop.hidden;
CREATE DOMAIN shop.hidden_id AS bigint DEFAULT nextval('shop.hidden');
CREATE FUNCTION shop.hidden_next() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('shop.hidden')$$;
CREATE FUNCTION shop.try_hidden(type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text; rows int;
BEGIN
    EXECUTE format('CREATE TABLE shop.hid (id %s, n int) PARTITION BY RANGE (id)', type);
    EXECUTE format('CREATE TABLE shop.hid_old PARTITION OF shop.hid FOR VALUES FROM (MINVALUE) TO (%s)', snowflake_min('2020-01-01Z', 'twitter'));
    INSERT INTO shop.hid (n) VALUES (1);
    BEGIN
        SELECT string_agg(command, ' ') FROM mint.partition_drop_plan('shop.hid', '1 year', layout => 'twitter') INTO said;
    EXCEPTION WHEN object_not_in_prerequisite_state THEN said := SQLERRM;
    END;
    SELECT count(*) FROM shop.hid INTO rows;
    DROP TABLE shop.hid;
    RETURN format('%s: %s rows, %s', type, rows, said);
END $$;
SELECT shop.try_hidden(type) FROM unnest(ARRAY['shop.hidden_id', $$bigint DEFAULT coalesce(nextval('shop.hidden'::text), 1)$$, 'bigint DEFAULT shop.hidden_next()', $$bigint DEFAULT nextval('shop.hidden')$$, 'bigint GENERATED BY DEFAULT AS IDENTITY']) AS type;
-- Ids that contain their time, from an expression with a sequence in it.
CREATE TABLE shop.made (id bigint DEFAULT ((extract(epoch FROM now()) * 1000)::bigint - 1288834974657) << 22 | nextval('shop.hidden') % 4096, n int) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE shop.made_old PARTITION OF shop.made FOR VALUES FROM (MINVALUE) TO (%s); CREATE TABLE shop.made_new PARTITION OF shop.made FOR VALUES FROM (%1$s) TO (MAXVALUE)', snowflake_min('2020-01-01Z', 'twitter')) \gexec
INSERT INTO shop.made (n) VALUES (1);
SELECT command FROM mint.partition_drop_plan('shop.made', '1 year', layout => 'twitter');

-- A column that was converted a second ago: the partition of the counter has rows of today, though its end is of an old time. Ids of
-- the generator beside them can be imported, and prove nothing.
CREATE TABLE shop.late (id bigserial PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE shop.late_a PARTITION OF shop.late FOR VALUES FROM (MINVALUE) TO (1000000);
CREATE TABLE shop.late_rest PARTITION OF shop.late FOR VALUES FROM (1000000) TO (1000000000000000000);
SELECT setval('shop.late_id_seq', 2000000);
INSERT INTO shop.late (body) SELECT 'today' FROM generate_series(1, 100);
CALL mint.partition_maintain('shop.late', '1 month', 2, layout => 'instagram');
SELECT mint.convert('shop.late', 'id', 'snowflake_next_id(5)') IS NOT NULL AS converted;
\set VERBOSITY default
CALL mint.partition_maintain('shop.late', '1 month', 2, keep => '12 months', since => now() - interval '13 months');
SELECT count(*) FROM mint.partition_drop_plan('shop.late', '12 months');
\set VERBOSITY terse
SELECT count(*) FROM shop.late WHERE body = 'today';
INSERT INTO shop.late VALUES (snowflake_min('2014-01-01Z'), 'imported');
SELECT name FROM mint.partition_drop_plan('shop.late', '12 months');
CALL mint.partition_maintain('shop.late', '1 month', 2, keep => '12 months', since => now() - interval '13 months');
SELECT count(*) FROM shop.late WHERE body = 'today';

-- A program that gives the values itself, which can be of a counter as well.
CREATE SEQUENCE shop.given_id;
CREATE TABLE shop.given (id bigint PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE shop.given_rest PARTITION OF shop.given FOR VALUES FROM (0) TO (1000000000000000000);
INSERT INTO shop.given SELECT nextval('shop.given_id'), 'today' FROM generate_series(1, 100);
CALL mint.partition_maintain('shop.given', '1 month', 2, layout => 'instagram', keep => '12 months', since => now() - interval '13 months');
SELECT name FROM mint.partition_drop_plan('shop.given', '12 months', layout => 'instagram');
SELECT count(*) FROM shop.given;
-- Those of a generator are old.
TRUNCATE shop.given;
INSERT INTO shop.given VALUES (snowflake_min('2014-01-01Z', 'instagram'), 'old');
CALL mint.partition_maintain('shop.given', '1 month', 2, layout => 'instagram', keep => '12 months', since => now() - interval '13 months');
SELECT count(*) FROM shop.given;

SET client_min_messages = warning;
DROP SCHEMA shop CASCADE;
DROP EXTENSION pg_mint;
DROP SCHEMA home;
DROP ROLE regress_maker, regress_other;
