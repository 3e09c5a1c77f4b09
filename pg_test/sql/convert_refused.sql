-- What a conversion refuses: by name, with what to do, and with everything as it was.
CREATE EXTENSION pg_mint;
-- The owner has this name, whoever runs the test.
CREATE ROLE merchant SUPERUSER; SET SESSION AUTHORIZATION merchant;
CREATE SCHEMA shop;
SET search_path = shop, public;
CREATE TABLE t (id bigserial PRIMARY KEY, n integer, total numeric, label text, g bigint GENERATED ALWAYS AS (n + 1) STORED);
INSERT INTO t (n) VALUES (1);

-- Arguments.
SELECT mint.convert('t', 'nothing', 'snowflake_next_id(5)');
SELECT mint.convert('none', 'id', 'snowflake_next_id(5)');
SELECT mint.convert(4000000000::oid::regclass, 'id', 'snowflake_next_id(5)');
SELECT mint.convert(NULL, 'id', 'snowflake_next_id(5)');
SELECT mint.convert('t', NULL, 'snowflake_next_id(5)');
SELECT mint.convert('t', 'id', NULL);
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)', lock_timeout => NULL);
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)', lock_timeout => '-1 s');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)', lock_timeout => '1 microsecond');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)', retries => -1);
SELECT mint.convert('t', 'tableoid', 'snowflake_next_id(5)');
CREATE VIEW v AS SELECT * FROM t;
SELECT mint.convert('v', 'id', 'snowflake_next_id(5)');
SELECT mint.convert('t_id_seq', 'last_value', 'snowflake_next_id(5)');

-- The new default is one expression, and a generator.
SELECT mint.convert('t', 'id', '');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5); DROP TABLE t');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5), DROP COLUMN n');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5), snowflake_next_id(6)');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5) FROM t');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5) AS x');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5) LIMIT 1');
SELECT mint.convert('t', 'id', 'DISTINCT snowflake_next_id(5)');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5) UNION SELECT 1');
SELECT mint.convert('t', 'id', '(SELECT snowflake_next_id(5))');
SELECT mint.convert('t', 'id', 'snowflake_next_id(n)');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5) /* ');
SELECT mint.convert('t', 'id', 'nextval(''t_id_seq'')');
SELECT mint.convert('t', 'id', 'now()');
SELECT mint.convert('t', 'id', '7');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5) + 1');
SELECT mint.convert('t', 'id', 'snowflake_next_ids(5, 3)');
SELECT mint.convert('t', 'id', 'snowflake_min(now())');
SELECT mint.convert('t', 'id', 'uuid_v7()');
\set VERBOSITY terse
SELECT mint.convert('t', 'id', 'nobodys(5)');
\set VERBOSITY default
-- A function of somebody else with the name of a generator.
CREATE FUNCTION shop.snowflake_next_id(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
SELECT mint.convert('t', 'id', 'snowflake_next_id(''5''::text)');
-- What the generator itself refuses: a shard out of range, a layout that has ended (19.), no node, NULL.
SELECT mint.convert('t', 'id', 'snowflake_next_id(5000000)');
SELECT mint.convert('t', 'id', 'snowflake_next_id(NULL::int)');
SELECT mint.convert('t', 'id', 'snowflake_next_id()');
SELECT mint.convert('t', 'id', $$snowflake_next_id(5, 'time:41 shard:10 seq:12 epoch:1940-01-01T00:00:00Z')$$);
SELECT note FROM mint.convert_plan('t', 'id', $$snowflake_next_id(5, 'time:41 shard:10 seq:12 epoch:1940-01-01T00:00:00Z')$$);
SELECT mint.convert('t', 'id', $$snowflake_next_id(5, 'nonsense')$$);
SELECT mint.convert('t', 'id', $$segment_next('t_id_seq')$$);

-- 9. and 13. Types, generated columns.
SELECT mint.convert('t', 'n', 'snowflake_next_id(5)');
SELECT mint.convert('t', 'total', 'snowflake_next_id(5)');
SELECT mint.convert('t', 'label', 'uuid_v7()::text');
SELECT mint.convert('t', 'g', 'snowflake_next_id(5)');

-- 3. A sequence that is looked up by a text.
CREATE SEQUENCE s;
CREATE TABLE by_text (id bigint PRIMARY KEY DEFAULT nextval('s'::text));
SELECT mint.convert('by_text', 'id', 'snowflake_next_id(5)');
ALTER TABLE by_text ALTER id SET DEFAULT nextval('s') + 1;
SELECT mint.convert('by_text', 'id', 'snowflake_next_id(5)');
-- 7. Shared sequences, and those of another column.
ALTER TABLE by_text ALTER id SET DEFAULT nextval('t_id_seq');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
SELECT mint.convert('by_text', 'id', 'snowflake_next_id(5)');
DROP TABLE by_text;
ALTER SEQUENCE s OWNED BY t.id;
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
DROP SEQUENCE s;

-- No primary key, and none that helps.
CREATE TABLE bare (id bigserial, tenant int, UNIQUE (tenant, id));
CREATE INDEX part ON bare (id) WHERE id > 5;
SELECT mint.convert('bare', 'id', 'snowflake_next_id(5)');
DROP TABLE bare;

-- 4. of 1.3: foreign keys that could not hold the new ids, also of others that refer to those.
CREATE TABLE child (id integer PRIMARY KEY REFERENCES t);
CREATE TABLE grandchild (child integer REFERENCES child, ok bigint REFERENCES t);
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
DROP TABLE child, grandchild;

-- Domains over integers, of the column and of one that refers to it.
CREATE DOMAIN number AS integer; CREATE DOMAIN small_number AS number;
CREATE TABLE parent (id number PRIMARY KEY);
CREATE TABLE child (parent small_number REFERENCES parent, t small_number REFERENCES t);
SELECT mint.convert('parent', 'id', 'snowflake_next_id(5)');
SELECT note FROM mint.convert_plan('parent', 'id', 'snowflake_next_id(5)');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
SELECT note FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)');
DROP TABLE child, parent; DROP DOMAIN number CASCADE;

-- A view on the sequence of an identity column.
CREATE TABLE always (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE VIEW last AS SELECT last_value FROM always_id_seq;
SELECT mint.convert('always', 'id', 'snowflake_next_id(5)');
DROP VIEW last;

-- 11. Children and partitions; 10. foreign tables, other owners, defaults and identities of their own.
CREATE TABLE root (id bigserial, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE part_1 PARTITION OF root FOR VALUES FROM (0) TO (10);
SELECT mint.convert('part_1', 'id', 'snowflake_next_id(5)');
ALTER TABLE part_1 ALTER id SET DEFAULT 7;
SELECT mint.convert('root', 'id', 'snowflake_next_id(5)');
ALTER TABLE part_1 ALTER id DROP DEFAULT;
CREATE ROLE other;
GRANT USAGE ON SCHEMA shop TO other;
ALTER TABLE part_1 OWNER TO other;
SELECT mint.convert('root', 'id', 'snowflake_next_id(5)');
ALTER TABLE part_1 OWNER TO CURRENT_USER;
CREATE FOREIGN DATA WRAPPER w; CREATE SERVER far FOREIGN DATA WRAPPER w;
CREATE TABLE root_2 (id bigint DEFAULT nextval('root_id_seq'), at int) PARTITION BY RANGE (at);
CREATE FOREIGN TABLE part_2 PARTITION OF root_2 FOR VALUES FROM (10) TO (20) SERVER far;
SELECT mint.convert('root_2', 'id', 'snowflake_next_id(5)');
DROP FOREIGN DATA WRAPPER w CASCADE;
DROP TABLE root_2, root;

-- Partitioned by the id itself: there must be a partition for the new ones.
CREATE TABLE by_id ("the id" bigserial PRIMARY KEY) PARTITION BY RANGE ("the id");
CREATE TABLE by_id_1 PARTITION OF by_id FOR VALUES FROM (0) TO (1000);
SELECT note LIKE 'blocker: table "by_id" has no partition for new ids.%' AS refused FROM mint.convert_plan('by_id', 'the id', 'snowflake_next_id(5)');
\set VERBOSITY terse
SELECT mint.convert('by_id', 'the id', 'snowflake_next_id(5)');
\set VERBOSITY default
CREATE TABLE by_id_2 PARTITION OF by_id FOR VALUES FROM (1000) TO (MAXVALUE);
SELECT mint.convert('by_id', 'the id', 'snowflake_next_id(5)');
INSERT INTO by_id DEFAULT VALUES RETURNING tableoid::regclass;
DROP TABLE by_id; DROP SEQUENCE "by_id_the id_seq";
-- 16. Temporary tables; 26. row security that is forced.
CREATE TEMP TABLE shortly (id bigserial PRIMARY KEY);
SELECT mint.convert('shortly', 'id', 'snowflake_next_id(5)');
ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
ALTER TABLE t DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;

-- 17. Not the owner; another owner of the sequence; an owner who cannot create the sequence again.
SET ROLE other;
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
SELECT * FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)');
SELECT mint.convert_revert('t', 'id');
RESET ROLE;
ALTER TABLE always OWNER TO other;
SELECT mint.convert('always', 'id', 'snowflake_next_id(5)');
GRANT CREATE ON SCHEMA shop TO other;
SELECT mint.convert('always', 'id', 'snowflake_next_id(5)');
REVOKE CREATE ON SCHEMA shop FROM other;
SELECT mint.convert_revert('always', 'id');
SELECT note FROM mint.convert_plan('always', 'id', NULL);
GRANT CREATE ON SCHEMA shop TO other;
SELECT mint.convert_revert('always', 'id');
DROP TABLE always;
CREATE TABLE mixed (id bigint PRIMARY KEY);
CREATE SEQUENCE mixed_seq; ALTER SEQUENCE mixed_seq OWNER TO other;
ALTER TABLE mixed ALTER id SET DEFAULT nextval('mixed_seq');
SELECT mint.convert('mixed', 'id', 'snowflake_next_id(5)');
DROP TABLE mixed; DROP SEQUENCE mixed_seq;
-- Privileges that the owner has revoked from itself.
SET ROLE other;
CREATE TABLE shop.blind (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE TABLE shop.blind_wide (id bigserial PRIMARY KEY);
REVOKE SELECT ON SEQUENCE shop.blind_id_seq FROM other; REVOKE SELECT ON SEQUENCE shop.blind_wide_id_seq FROM other;
SELECT command IS NOT NULL AS is_blocker, note FROM mint.convert_plan('shop.blind', 'id', 'snowflake_next_id(5)');
SELECT command IS NOT NULL AS is_blocker, note FROM mint.convert_plan('shop.blind_wide', 'id', 'snowflake_next_id(5)');
SELECT mint.convert('shop.blind_wide', 'id', 'snowflake_next_id(5)');
GRANT SELECT, UPDATE ON SEQUENCE shop.blind_wide_id_seq TO other;
SELECT mint.convert('shop.blind_wide', 'id', 'snowflake_next_id(5)');
DROP TABLE shop.blind, shop.blind_wide; DROP SEQUENCE shop.blind_wide_id_seq;
RESET ROLE;
-- A foreign key whose partitions would keep the name of what is built beside it.
CREATE TABLE shop.pointed (id serial PRIMARY KEY);
CREATE TABLE shop.pointing (id bigint CONSTRAINT points REFERENCES shop.pointed) PARTITION BY RANGE (id);
SELECT command IS NOT NULL AS is_blocker, note FROM mint.convert_plan('shop.pointed', 'id', 'snowflake_next_id(5)');
DROP TABLE shop.pointing, shop.pointed;
-- Privileges that another role granted.
CREATE TABLE granted (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
GRANT USAGE ON SEQUENCE granted_id_seq TO other WITH GRANT OPTION;
SET ROLE other;
GRANT USAGE ON SEQUENCE shop.granted_id_seq TO pg_monitor;
RESET ROLE;
SELECT mint.convert('granted', 'id', 'snowflake_next_id(5)');
DROP TABLE granted;

-- 18. Ids at or above the first new one: of another layout, of the future.
INSERT INTO t (id) VALUES (9000000000000000000);
\set VERBOSITY terse
SELECT mint.convert('t', 'id', $$snowflake_next_id(5, 'time:41 shard:10 seq:12 epoch:2025-01-01T00:00:00Z')$$);
\set VERBOSITY sqlstate
SELECT mint.convert('t', 'id', 'snowflake_next_id((random() * 5)::int)');
SELECT mint.convert('t', 'id', $$segment_next('s2')$$);
\set VERBOSITY default
DELETE FROM t WHERE id > 1000;
SELECT segment_create('s2');
SELECT mint.convert('t', 'id', $$segment_next('s2')$$);

-- Checks and domains that refuse the new ids.
CREATE DOMAIN small AS bigint CHECK (VALUE < 1000000);
CREATE TABLE checked (id bigserial PRIMARY KEY CONSTRAINT low CHECK (id < 2147483648), small small UNIQUE);
SELECT regexp_replace(note, '[0-9]{12,}', 'N', 'g') AS note FROM mint.convert_plan('checked', 'id', 'snowflake_next_id(5)');
\set VERBOSITY terse
SELECT mint.convert('checked', 'small', 'snowflake_next_id(5)');
\set VERBOSITY default
DROP TABLE checked; DROP DOMAIN small;

-- A plan with a blocker fails where it is run, whatever the settings and the names are; what only says something is not run.
CREATE TABLE "it's \ $1" ("a\'b" serial PRIMARY KEY, id bigserial, n numeric);
ALTER TABLE "it's \ $1" ADD CONSTRAINT "\'low" CHECK ("a\'b" < 1000);
\set SHOW_CONTEXT never
\set VERBOSITY terse
\set ECHO none
SELECT command FROM mint.convert_plan('"it''s \ $1"', 'a\''b', 'snowflake_next_id(5)') WHERE command IS NOT NULL ORDER BY step \gexec
-- PostgreSQL 19 has these strings alone.
SELECT 'it''s \ $1' AS named, 'a\''b' AS of_it, current_setting('server_version_num')::int < 190000 AS has_other_strings \gset
SELECT count(set_config(name, 'off', false)) AS set FROM pg_settings
WHERE name IN ('standard_conforming_strings', 'escape_string_warning') AND :'has_other_strings' \gset
SELECT command FROM mint.convert_plan((SELECT oid FROM pg_class WHERE relname = :'named')::regclass, :'of_it', 'snowflake_next_id(5)') WHERE command IS NOT NULL ORDER BY step \gexec
SELECT count(set_config(name, 'on', false)) AS set FROM pg_settings
WHERE name IN ('standard_conforming_strings', 'escape_string_warning') AND :'has_other_strings' \gset
\set VERBOSITY default
SELECT command FROM mint.convert_plan('"it''s \ $1"', 'id', 'snowflake_next_id(5)') WHERE command IS NOT NULL ORDER BY step \gexec
\set VERBOSITY sqlstate
SELECT command FROM mint.convert_plan('"it''s \ $1"', 'n', 'snowflake_next_id(5)') WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
\set VERBOSITY default
\set SHOW_CONTEXT errors
DROP TABLE "it's \ $1";

-- Roles that insert need EXECUTE on the generator; a uuid without an index is converted.
CREATE ROLE "can insert"; CREATE ROLE can_select;
CREATE TABLE inserted (id bigserial PRIMARY KEY, u uuid DEFAULT gen_random_uuid());
GRANT INSERT ON inserted TO "can insert"; GRANT SELECT ON inserted TO can_select;
REVOKE EXECUTE ON FUNCTION snowflake_next_id(int) FROM PUBLIC;
SELECT mint.convert('inserted', 'id', 'snowflake_next_id(5)');
SELECT note FROM mint.convert_plan('inserted', 'id', 'snowflake_next_id(5)');
GRANT EXECUTE ON FUNCTION snowflake_next_id(int) TO "can insert";
SELECT mint.convert('inserted', 'id', 'snowflake_next_id(5)');
GRANT EXECUTE ON FUNCTION snowflake_next_id(int) TO PUBLIC;
SELECT mint.convert('inserted', 'u', 'uuid_v7()');
REVOKE EXECUTE ON FUNCTION snowflake_next_id(int) FROM "can insert";
DROP TABLE inserted; DROP SEQUENCE inserted_id_seq; DROP ROLE "can insert", can_select;
-- READ COMMITTED only, and a function that catches the error finds the transaction as it was.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
ROLLBACK;
DO $$ BEGIN
    INSERT INTO t (n) VALUES (2);
    BEGIN
        PERFORM mint.convert('t', 'n', 'snowflake_next_id(5)');
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLERRM;
    END;
    BEGIN
        INSERT INTO t (id) VALUES (9000000000000000000);
        PERFORM mint.convert('t', 'id', $q$snowflake_next_id(5, 'twitter')$q$);
    EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLSTATE;
    END;
    INSERT INTO t (n) VALUES (3);
END $$;
SELECT n FROM t ORDER BY n;

-- Reverts: no record, a sequence that was set, comments that only look like a record, two of them.
SELECT mint.convert_revert('t', 'id');
ALTER TABLE t ALTER id DROP DEFAULT;
SELECT mint.convert_revert('t', 'id');
ALTER TABLE t ALTER id SET DEFAULT nextval('t_id_seq');
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
SELECT setval('t_id_seq', 50);
SELECT mint.convert_revert('t', 'id');
SELECT setval('t_id_seq', 9223372036854775807);
CREATE SEQUENCE forged;
\set words 'the sequence that a column drew from before mint.convert(): it has no values until mint.convert_revert(), which reads: '
SELECT :'words' || '{"pg_mint_conversion":1}' AS record \gset
COMMENT ON SEQUENCE forged IS :'record';
CREATE SEQUENCE forged_2;
SELECT :'words' || '{"pg_mint_conversion":1,"schema":"shop",' ||
    '"table":"t","column":"id","kind":"serial","is_owned":true,"cycle":false,"last_value":1,"is_called":true,"comment":null,"bare":[]}' AS record \gset
COMMENT ON SEQUENCE forged_2 IS :'record';
SELECT mint.convert_revert('t', 'id');
-- That of another owner does not count, and neither does one that no sequence could have.
ALTER SEQUENCE forged_2 OWNER TO other;
SELECT table_name, sequence FROM mint.conversions;
SELECT mint.convert_revert('t', 'id');
DROP SEQUENCE forged, forged_2;
SELECT :'words' || '{"pg_mint_conversion":1,"schema":"shop",' ||
    '"table":"t","column":"id","kind":"serial","is_owned":true,"cycle":false,"last_value":-1,"is_called":true,"comment":null,"bare":[]}' AS record \gset
COMMENT ON SEQUENCE t_id_seq IS :'record';
ALTER TABLE t ALTER id SET DEFAULT snowflake_next_id(5);
SELECT mint.convert_revert('t', 'id');
SELECT mint.convert_revert('v', 'id');

-- Another table took the name: that one was not converted.
CREATE TABLE renamed (id bigserial PRIMARY KEY);
SELECT mint.convert('renamed', 'id', 'snowflake_next_id(5)');
ALTER TABLE renamed RENAME TO first;
CREATE TABLE renamed (id bigserial PRIMARY KEY);
SELECT mint.convert_revert('renamed', 'id');
SELECT mint.convert('renamed', 'id', 'snowflake_next_id(5)');
SELECT note FROM mint.convert_plan('renamed', 'id', 'snowflake_next_id(5)');
SELECT adrelid::regclass, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid IN ('renamed'::regclass, 'first'::regclass) ORDER BY 1;

DROP SCHEMA shop CASCADE;
DROP ROLE other;
RESET SESSION AUTHORIZATION; DROP TABLE shortly; DROP ROLE merchant;
DROP EXTENSION pg_mint;
