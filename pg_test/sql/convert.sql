-- Conversions of columns of types bigint and uuid, and their reverts.
CREATE EXTENSION pg_mint;
-- The owner has this name, whoever runs the test.
CREATE ROLE merchant SUPERUSER; SET SESSION AUTHORIZATION merchant;
CREATE SCHEMA shop;
SET search_path = shop, public;

-- What a dump would say of a column and of the sequences that the owner has, without their rows.
CREATE VIEW sequences_now AS
SELECT c.relname, r.typ AS type, s.seqstart AS start, s.seqincrement AS inc, s.seqmax AS max, s.seqmin AS min, s.seqcache AS cache, s.seqcycle AS cycle,
       (SELECT string_agg(d.refobjid::regclass || '.' || d.refobjsubid || ' ' || d.deptype::text, ', ')
           FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass) AS owned_by,
       pg_get_userbyid(c.relowner) AS owner, (SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM unnest(c.relacl) x) AS acl, obj_description(c.oid, 'pg_class') AS comment
FROM pg_class c JOIN pg_sequence s ON s.seqrelid = c.oid, LATERAL (SELECT s.seqtypid::regtype AS typ) r
WHERE c.relnamespace = 'shop'::regnamespace ORDER BY c.relname;
CREATE VIEW columns_now AS
SELECT a.attrelid::regclass AS relation, a.attname, NULLIF(a.attidentity::text, '') AS identity, a.attnotnull AS not_null, pg_get_expr(d.adbin, d.adrelid) AS "default"
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attname IN ('id', 'Id "x"') AND a.attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'shop'::regnamespace AND relkind IN ('r', 'p')) ORDER BY a.attrelid::regclass::text COLLATE "C";

-- 1. A serial.
CREATE TABLE customer (id bigserial PRIMARY KEY, name text);
INSERT INTO customer (name) VALUES ('Ada'), ('Grace');
CREATE TEMP TABLE before AS SELECT *, (SELECT row(last_value, is_called)::text FROM customer_id_seq) AS state FROM sequences_now;
SELECT phase, command, object, lock, note FROM mint.convert_plan('customer', 'id', 'snowflake_next_id(5)') ORDER BY step;
SELECT mint.convert('customer', 'id', 'snowflake_next_id(5)');
INSERT INTO customer (name) VALUES ('Edsger');
SELECT name, id > 4000000000000000000 AS is_new, snowflake_shard(id) FROM customer ORDER BY id;
SELECT * FROM columns_now;
SELECT * FROM sequences_now;
SELECT nextval('customer_id_seq');
SELECT pg_get_serial_sequence('customer', 'id');
SELECT * FROM mint.conversions;
-- A second call does nothing.
SELECT mint.convert('customer', 'id', 'snowflake_next_id(5)');
SELECT phase, command, note FROM mint.convert_plan('customer', 'id', 'snowflake_next_id(5)');
SELECT mint.convert_revert('customer', 'id');
SELECT * FROM columns_now;
SELECT *, (SELECT row(last_value, is_called)::text FROM customer_id_seq) AS state FROM sequences_now EXCEPT SELECT * FROM before;
INSERT INTO customer (name) VALUES ('Barbara') RETURNING id;
SELECT mint.convert_revert('customer', 'id');
SELECT * FROM mint.conversions;
-- It was never drawn from: last_value and is_called are as before. And again, with other ids in the table.
SELECT mint.convert('customer', 'id', 'snowflake_next_id(5)') IS NOT NULL AS again;
DROP TABLE customer; DROP SEQUENCE customer_id_seq; DROP TABLE before;
CREATE TABLE fresh (id bigserial PRIMARY KEY);
-- The server prints it in several lines.
CREATE TABLE lines (id bigint PRIMARY KEY);
SELECT mint.convert('lines', 'id', 'snowflake_next_id(CASE WHEN pg_is_in_recovery() THEN 5 ELSE 6 END)') IS NOT NULL AS done;
SELECT mint.convert('lines', 'id', 'snowflake_next_id(CASE WHEN pg_is_in_recovery() THEN 5 ELSE 6 END)') IS NULL AS done_before;
DROP TABLE lines;
SELECT mint.convert('fresh', 'id', $$snowflake_next_id(7, 'twitter')$$);
SELECT mint.convert_revert('fresh', 'id');
SELECT last_value, is_called FROM fresh_id_seq;
DROP TABLE fresh;

-- 2. Quoted names, a sequence that was renamed, with a comment, privileges and a start of its own; 8. increment, cycle, cache.
CREATE SCHEMA "Odd 'schema'";
CREATE TABLE "Odd 'schema'"."Table ""t""" ("Id ""x""" bigserial PRIMARY KEY);
ALTER SEQUENCE "Odd 'schema'"."Table ""t""_Id ""x""_seq" RENAME TO "it's";
ALTER SEQUENCE "Odd 'schema'"."it's" INCREMENT 7 START 100 RESTART 30 MINVALUE -5 MAXVALUE 1000000 CACHE 3 CYCLE;
COMMENT ON SEQUENCE "Odd 'schema'"."it's" IS 'don''t touch \n {"a": 1}';
CREATE ROLE reader;
GRANT USAGE, SELECT ON SEQUENCE "Odd 'schema'"."it's" TO reader WITH GRANT OPTION;
GRANT SELECT ON SEQUENCE "Odd 'schema'"."it's" TO PUBLIC;
INSERT INTO "Odd 'schema'"."Table ""t""" DEFAULT VALUES;
CREATE TEMP VIEW odd AS SELECT s.*, c.relacl::text, obj_description(c.oid) AS comment, q.last_value, q.is_called, pg_get_serial_sequence('"Odd ''schema''"."Table ""t"""', 'Id "x"') AS serial
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid, "Odd 'schema'"."it's" q WHERE c.relname = 'it''s';
CREATE TEMP TABLE before AS SELECT * FROM odd;
SELECT mint.convert('"Odd ''schema''"."Table ""t"""', 'Id "x"', 'snowflake_next_id(5)');
SELECT seqcycle, last_value, serial FROM odd;
INSERT INTO "Odd 'schema'"."Table ""t""" DEFAULT VALUES;
SELECT nextval('"Odd ''schema''"."it''s"');
SELECT mint.convert_revert('"Odd ''schema''"."Table ""t"""', 'Id "x"');
SELECT count(*) AS same FROM (SELECT * FROM odd INTERSECT SELECT * FROM before) s;
DROP TABLE before CASCADE; DROP VIEW odd; DROP SCHEMA "Odd 'schema'" CASCADE;

-- A sequence that no column owns, and one that counts down.
CREATE SEQUENCE countdown INCREMENT -1;
CREATE TABLE down (id bigint PRIMARY KEY DEFAULT nextval('countdown'));
INSERT INTO down SELECT FROM generate_series(1, 3);
SELECT mint.convert('down', 'id', 'snowflake_next_id(5)') IS NOT NULL AS converted;
SELECT last_value, is_called FROM countdown;
SELECT nextval('countdown');
INSERT INTO down DEFAULT VALUES;
SELECT mint.convert_revert('down', 'id');
INSERT INTO down DEFAULT VALUES RETURNING id;
SELECT * FROM sequences_now;
DROP TABLE down; DROP SEQUENCE countdown;

-- In another schema.
CREATE SCHEMA elsewhere; CREATE SEQUENCE elsewhere.numbers;
CREATE TABLE far (id bigint PRIMARY KEY DEFAULT nextval('elsewhere.numbers'));
INSERT INTO far DEFAULT VALUES;
SELECT mint.convert('far', 'id', 'snowflake_next_id(5)') IS NOT NULL AS converted;
SELECT sequence, last_value FROM mint.conversions;
SELECT mint.convert_revert('far', 'id');
INSERT INTO far DEFAULT VALUES RETURNING id;
DROP TABLE far; DROP SCHEMA elsewhere CASCADE;

-- 4. and 5. Identity columns.
CREATE TABLE always (id bigint GENERATED ALWAYS AS IDENTITY (START 10 INCREMENT 5 CACHE 2 CYCLE MAXVALUE 100000) PRIMARY KEY, n int);
COMMENT ON SEQUENCE always_id_seq IS 'the numbers';
GRANT USAGE ON SEQUENCE always_id_seq TO reader;
REVOKE SELECT ON SEQUENCE always_id_seq FROM CURRENT_USER;
GRANT SELECT ON SEQUENCE always_id_seq TO CURRENT_USER;
ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT ALL ON SEQUENCES TO PUBLIC;
INSERT INTO always (n) VALUES (1), (2), (3);
CREATE TABLE by_default (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, n int);
REVOKE ALL ON SEQUENCE by_default_id_seq FROM PUBLIC;
CREATE TEMP TABLE before AS SELECT s.*, a.*,
    (SELECT row(last_value, is_called)::text FROM always_id_seq) AS state,
    (SELECT row(last_value, is_called)::text FROM by_default_id_seq) AS state2
    FROM sequences_now s, columns_now a;
SELECT phase, command, object, lock, note FROM mint.convert_plan('always', 'id', 'snowflake_next_id(5)') ORDER BY step;
SELECT mint.convert('always', 'id', 'snowflake_next_id(5)');
SET pg_mint.node = 3;
SELECT mint.convert('by_default', 'id', $$snowflake_next('twitter')$$);
SELECT * FROM columns_now;
SELECT * FROM sequences_now;
INSERT INTO always (n) VALUES (4);
INSERT INTO always (id, n) OVERRIDING SYSTEM VALUE VALUES (5, 5);
SELECT mint.convert_revert('always', 'id'), mint.convert_revert('by_default', 'id');
SELECT * FROM columns_now;
SELECT s.*, a.*,
    (SELECT row(last_value, is_called)::text FROM always_id_seq) AS state,
    (SELECT row(last_value, is_called)::text FROM by_default_id_seq) AS state2
    FROM sequences_now s, columns_now a EXCEPT SELECT * FROM before;
INSERT INTO always (id) VALUES (1);
ALTER DEFAULT PRIVILEGES IN SCHEMA shop REVOKE ALL ON SEQUENCES FROM PUBLIC;
DROP TABLE always, by_default, before;

-- 6. No default, another default, and uuid: the statement that reverts it is returned.
CREATE TABLE app_made (id bigint PRIMARY KEY);
SELECT mint.convert('app_made', 'id', 'snowflake_next_id(5)');
CREATE TABLE document (id uuid PRIMARY KEY DEFAULT gen_random_uuid());
INSERT INTO document DEFAULT VALUES;
SELECT phase, command, note FROM mint.convert_plan('document', 'id', 'uuid_v7()') ORDER BY step;
SELECT mint.convert('document', 'id', 'uuid_v7()');
SELECT mint.convert('document', 'id', 'uuid_v7()');
INSERT INTO document DEFAULT VALUES;
SELECT count(*), count(DISTINCT id) FROM document;
SELECT mint.convert_revert('document', 'id');
DROP TABLE app_made, document;

-- 9. A domain.
CREATE DOMAIN key AS bigint CHECK (VALUE > 0);
CREATE TABLE in_domain (id key PRIMARY KEY);
SELECT mint.convert('in_domain', 'id', 'snowflake_next_id(5)');
INSERT INTO in_domain DEFAULT VALUES;
DROP TABLE in_domain;

-- Counters.
SELECT segment_create('numbers', start => 1000);
CREATE TABLE counted (id bigserial PRIMARY KEY);
INSERT INTO counted SELECT FROM generate_series(1, 20);
SELECT mint.convert('counted', 'id', $$segment_next('numbers')$$);
INSERT INTO counted DEFAULT VALUES RETURNING id > 1000 AS is_new;
SELECT mint.convert_revert('counted', 'id');
DROP TABLE counted; DROP SEQUENCE numbers;

-- 10. and 11. Partitions, a partition of a partition, one without the default, and children by inheritance.
CREATE TABLE event (id bigint GENERATED BY DEFAULT AS IDENTITY, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (10);
CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM (10) TO (20) PARTITION BY LIST (at);
CREATE TABLE event_2_a PARTITION OF event_2 DEFAULT;
INSERT INTO event (at) VALUES (1), (11);
CREATE TEMP TABLE before AS SELECT * FROM columns_now;
SELECT mint.convert('event', 'id', 'snowflake_next_id(5)') IS NOT NULL AS converted;
SELECT * FROM columns_now;
INSERT INTO event (at) VALUES (2), (12);
INSERT INTO event_1 (at) VALUES (3);
SELECT tableoid::regclass, id > 1000000 AS is_new, at FROM event ORDER BY at;
SELECT mint.convert_revert('event', 'id');
SELECT * FROM columns_now EXCEPT SELECT * FROM before;
INSERT INTO event (at) VALUES (4) RETURNING id;
DROP TABLE event, before;
CREATE TABLE log (id bigserial PRIMARY KEY, at int);
CREATE TABLE log_child (more text, PRIMARY KEY (id)) INHERITS (log);
CREATE TABLE log_bare (PRIMARY KEY (id)) INHERITS (log);
ALTER TABLE log_bare ALTER id DROP DEFAULT;
CREATE TEMP TABLE before AS SELECT * FROM columns_now;
SELECT mint.convert('log', 'id', 'snowflake_next_id(5)');
SELECT * FROM columns_now;
SELECT mint.convert_revert('log', 'id');
SELECT * FROM columns_now EXCEPT SELECT * FROM before;
SELECT * FROM before EXCEPT SELECT * FROM columns_now;
DROP TABLE log, log_child, log_bare, before;

-- 12. to 16., 25. and 27. What a conversion of a bigint leaves alone: foreign keys of all kinds, views, policies, triggers, publications.
CREATE TABLE node (id bigserial PRIMARY KEY, parent bigint, other bigint, UNIQUE (id, other),
    FOREIGN KEY (parent, other) REFERENCES node (id, other) DEFERRABLE INITIALLY DEFERRED);
ALTER TABLE node ADD FOREIGN KEY (parent) REFERENCES node NOT VALID;
CREATE TABLE leaf (node bigint REFERENCES node ON DELETE CASCADE, at int) PARTITION BY LIST (at);
CREATE TABLE leaf_1 PARTITION OF leaf DEFAULT;
CREATE VIEW nodes AS SELECT id, parent FROM node;
CREATE MATERIALIZED VIEW node_count AS SELECT count(id) FROM node;
CREATE RULE none AS ON DELETE TO node WHERE old.id = 1 DO INSTEAD NOTHING;
CREATE POLICY even ON node USING (id % 2 = 0);
ALTER TABLE node ENABLE ROW LEVEL SECURITY;
ALTER TABLE node REPLICA IDENTITY USING INDEX node_pkey;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM currval(''node_id_seq''); RETURN NULL; END';
CREATE TRIGGER refuse AFTER UPDATE OF id ON node FOR EACH ROW WHEN (old.id > 5) EXECUTE FUNCTION refuse();
CREATE FUNCTION newest() RETURNS bigint BEGIN ATOMIC SELECT max(id) FROM node; END;
-- Functions that use the sequence, take an id as an integer, or only look like it.
CREATE FUNCTION latest() RETURNS bigint LANGUAGE sql AS 'INSERT INTO Node DEFAULT VALUES; SELECT pg_catalog.lastval ()';
CREATE FUNCTION upcoming() RETURNS bigint BEGIN ATOMIC SELECT last_value FROM node_id_seq; END;
CREATE FUNCTION has_node(integer) RETURNS bool LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM shop.node WHERE id = $1)';
CREATE FUNCTION has_leaf(text, smallint[]) RETURNS bool BEGIN ATOMIC SELECT EXISTS (SELECT FROM leaf WHERE node = ANY ($2)); END;
CREATE FUNCTION other_table(integer) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN my_lastval(); /* node_2, my_node */ END';
CREATE STATISTICS node_statistics ON id, parent FROM node;
SET client_min_messages = error;
CREATE PUBLICATION nodes FOR TABLE node;
RESET client_min_messages;
INSERT INTO node (parent) VALUES (NULL), (1);
SET session_replication_role = replica;
SELECT note FROM mint.convert_plan('node', 'id', 'snowflake_next_id(5)') WHERE command IS NULL;
SELECT mint.convert('node', 'id', 'snowflake_next_id(5)');
RESET session_replication_role;
INSERT INTO node (parent) VALUES (1);
INSERT INTO leaf SELECT id, 1 FROM nodes;
SELECT mint.convert_revert('node', 'id');
SELECT count(*), newest() > 1000 AS newest FROM leaf;
DROP PUBLICATION nodes;
DROP TABLE node, leaf CASCADE;
DROP FUNCTION refuse, latest, has_node, other_table;
CREATE UNLOGGED TABLE quick (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
SELECT mint.convert('quick', 'id', 'snowflake_next_id(5)') IS NOT NULL AS converted;
SELECT relname, relpersistence FROM pg_class WHERE relname LIKE 'quick%' ORDER BY 1;
SELECT mint.convert_revert('quick', 'id');
SELECT relname, relpersistence FROM pg_class WHERE relname LIKE 'quick%' ORDER BY 1;
DROP TABLE quick;

-- 12. Cycles of foreign keys between integers, by the script.
CREATE TABLE husband (id serial PRIMARY KEY, wife integer);
CREATE TABLE wife (id integer PRIMARY KEY REFERENCES husband, husband integer REFERENCES husband);
ALTER TABLE husband ADD FOREIGN KEY (id) REFERENCES wife DEFERRABLE INITIALLY DEFERRED, ADD FOREIGN KEY (wife) REFERENCES wife;
BEGIN; INSERT INTO husband DEFAULT VALUES; INSERT INTO wife VALUES (1, 1); UPDATE husband SET wife = 1; COMMIT;
SET client_min_messages = warning;
\set ECHO none
SELECT command FROM mint.convert_plan('husband', 'id', 'snowflake_next_id(5)') WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
RESET client_min_messages;
SELECT attrelid::regclass, attname, atttypid::regtype
    FROM pg_attribute WHERE attrelid IN ('husband'::regclass, 'wife'::regclass) AND attnum > 0 AND NOT attisdropped
    ORDER BY attrelid::regclass::text, attname;
BEGIN;
INSERT INTO husband (wife) VALUES (1) RETURNING id > 1000 AS is_new;
INSERT INTO wife SELECT max(id), max(id) FROM husband;
COMMIT;
SELECT count(*) FROM husband JOIN wife USING (id);
DROP TABLE husband, wife; DROP SEQUENCE husband_id_seq;

-- 25. An event trigger sees the statements, and runs with the rights of the table's owner.
CREATE TABLE seen (tag text, by_whom name);
CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO shop.seen SELECT tg_tag, current_user; END';
CREATE ROLE keeper; GRANT USAGE, CREATE ON SCHEMA shop TO keeper; GRANT INSERT ON seen TO keeper;
CREATE TABLE kept (id bigserial PRIMARY KEY); ALTER TABLE kept OWNER TO keeper;
CREATE EVENT TRIGGER see ON ddl_command_end EXECUTE FUNCTION see();
SELECT mint.convert('kept', 'id', 'snowflake_next_id(5)') IS NOT NULL AS converted;
DROP EVENT TRIGGER see;
SELECT tag, by_whom, count(*) FROM seen GROUP BY 1, 2 ORDER BY 1;
SELECT mint.convert_revert('kept', 'id');
DROP TABLE kept, seen; DROP FUNCTION see; REVOKE ALL ON SCHEMA shop FROM keeper; DROP ROLE keeper;

-- In a transaction block: a rollback leaves nothing, and the sequence not at its end.
CREATE TABLE undone (id bigserial PRIMARY KEY);
INSERT INTO undone DEFAULT VALUES;
BEGIN;
SELECT mint.convert('undone', 'id', 'snowflake_next_id(5)');
INSERT INTO undone DEFAULT VALUES;
ROLLBACK;
INSERT INTO undone DEFAULT VALUES RETURNING id;
BEGIN;
SAVEPOINT here;
SELECT mint.convert('undone', 'id', 'snowflake_next_id(5)');
ROLLBACK TO here;
INSERT INTO undone DEFAULT VALUES RETURNING id;
SELECT mint.convert('undone', 'id', 'snowflake_next_id(5)');
SELECT mint.convert_revert('undone', 'id');
COMMIT;
INSERT INTO undone DEFAULT VALUES RETURNING id;
-- Settings are as before, and names are the caller's.
SET search_path = shop, public;
SET lock_timeout = '7s';
SELECT mint.convert('undone', 'id', 'snowflake_next_id(5)', lock_timeout => '1 s', retries => 0);
SELECT current_setting('lock_timeout') AS lock_timeout, current_setting('search_path') AS search_path, current_setting('row_security') AS row_security, current_user;
RESET lock_timeout;
DROP TABLE undone; DROP SEQUENCE undone_id_seq;

-- An owner who is not a superuser; 26. row security, which is not forced.
CREATE ROLE owner; CREATE ROLE member IN ROLE owner;
GRANT USAGE, CREATE ON SCHEMA shop TO owner;
SET ROLE owner;
CREATE TABLE own (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE POLICY none ON own USING (false);
ALTER TABLE own ENABLE ROW LEVEL SECURITY;
RESET ROLE; SET ROLE member;
SELECT mint.convert('own', 'id', 'snowflake_next_id(5)');
SELECT table_name, sequence, kind FROM mint.conversions;
RESET ROLE;
SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relname LIKE 'own%' ORDER BY 1;
SELECT mint.convert_revert('own', 'id');
SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relname LIKE 'own%' ORDER BY 1;
DROP TABLE own;

-- An owner who may not use the schema: all is done with its rights.
SET ROLE owner;
CREATE TABLE own (id bigserial PRIMARY KEY);
RESET ROLE; REVOKE USAGE ON SCHEMA shop FROM owner;
SELECT mint.convert('own', 'id', 'snowflake_next_id(5)');
SELECT note FROM mint.convert_plan('own', 'id', 'snowflake_next_id(5)');
DROP TABLE own;

-- Names are not compared as texts: a backslash is printed by one rule and quoted by another.
CREATE TABLE "a\b" (id bigserial PRIMARY KEY, other bigint);
INSERT INTO "a\b" DEFAULT VALUES;
SELECT mint.convert('"a\b"', 'id', $$segment_next('"a\b_id_seq"')$$);
SELECT mint.convert('"a\b"', 'id', 'snowflake_next_id(5)');
SELECT table_name, sequence FROM mint.conversions;
SELECT mint.convert_revert('"a\b"', 'id');
INSERT INTO "a\b" DEFAULT VALUES RETURNING id;
SELECT mint.convert('"a\b"', 'id', 'snowflake_next_id(5)');
CREATE SEQUENCE "other\s"; ALTER TABLE "a\b" ALTER id SET DEFAULT nextval('"other\s"');
SELECT mint.convert_revert('"a\b"', 'id');
DROP TABLE "a\b"; DROP SEQUENCE "a\b_id_seq", "other\s";

DROP VIEW sequences_now, columns_now;
DROP SCHEMA shop CASCADE;
DROP ROLE reader; DROP ROLE member; DROP ROLE owner;
RESET SESSION AUTHORIZATION; DROP ROLE merchant;
DROP EXTENSION pg_mint;
