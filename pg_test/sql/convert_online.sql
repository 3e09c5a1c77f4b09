-- The script that makes integers bigint: what stands in its way is named before, and what hangs on a column comes with it.
CREATE EXTENSION pg_mint;
CREATE SCHEMA "Sh op";
SET search_path = "Sh op", public;
SET client_min_messages = warning;

-- What the script of a table has to do, by its blockers and its phases.
CREATE FUNCTION left_to_do(relation regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT coalesce(substring(note FROM '^blocker: (.*)'), phase) FROM mint.convert_plan(relation, 'id', 'snowflake_next_id(5)')
    WHERE note LIKE 'blocker%' OR command IS NOT NULL ORDER BY step
$$;

-- Columns that only have the name of a shadow are neither filled nor dropped.
CREATE TABLE their_new (id serial PRIMARY KEY, mint_new_id text);
CREATE TABLE their_old (id serial PRIMARY KEY, mint_old_id integer);
CREATE TABLE their_bigint (id bigserial PRIMARY KEY, mint_old_id integer);
SELECT left_to_do('their_new');
SELECT left_to_do('their_old');
SELECT phase FROM mint.convert_plan('their_bigint', 'id', 'snowflake_next_id(5)') WHERE command LIKE '%DROP%';

-- A trigger that fires after the script's; one whose name sorts before does no harm.
CREATE FUNCTION thousand() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := NEW.id + 1000; RETURN NEW; END';
CREATE TABLE late (id serial PRIMARY KEY);
CREATE TRIGGER "über" BEFORE INSERT ON late FOR EACH ROW EXECUTE FUNCTION thousand();
SELECT left_to_do('late');
ALTER TRIGGER "über" ON late RENAME TO uber;
SELECT left_to_do('late') EXCEPT SELECT unnest('{prepare,backfill,constraint,index,swap,cleanup,default}'::text[]);

-- Row types in other columns, rules, typed tables, row security.
CREATE TABLE stored (id serial PRIMARY KEY);
CREATE TABLE log (was stored, were stored[]);
CREATE DOMAIN one_stored AS stored;
SELECT left_to_do('stored');
CREATE TABLE ruled (id serial PRIMARY KEY, name text);
CREATE RULE never AS ON UPDATE TO ruled DO INSTEAD NOTHING;
SELECT left_to_do('ruled');
CREATE TYPE plain AS (id integer, name text);
CREATE TABLE typed OF plain (PRIMARY KEY (id));
SELECT left_to_do('typed');
ALTER TABLE typed NOT OF;
SELECT count(*) FROM left_to_do('typed');
-- The type of a column in a partition key stays, at any level and in a table that refers to it.
CREATE TABLE click (id serial PRIMARY KEY) PARTITION BY RANGE (id);
SELECT left_to_do('click');
DROP TABLE click;
CREATE TABLE click (id serial, v int, PRIMARY KEY (v, id)) PARTITION BY LIST (v);
SELECT left_to_do('click');
CREATE TABLE click_1 PARTITION OF click FOR VALUES IN (1) PARTITION BY HASH (id);
SELECT left_to_do('click');
CREATE TABLE clicked (id serial PRIMARY KEY);
CREATE TABLE by_click (clicked integer REFERENCES clicked) PARTITION BY HASH (clicked);
SELECT left_to_do('clicked');
CREATE TABLE hidden (id serial PRIMARY KEY);
ALTER TABLE hidden FORCE ROW LEVEL SECURITY;
SELECT left_to_do('hidden');
-- Columns with the name of a column that refers to the table, or of the table itself.
CREATE TABLE orders (id serial PRIMARY KEY);
CREATE TABLE item (id serial PRIMARY KEY, of_order integer REFERENCES orders);
CREATE TABLE parcel (of_order integer, order_id smallint, "Order" integer, orders_id bigint, item_id integer);
CREATE TABLE same_id (id integer REFERENCES orders);
SELECT note FROM mint.convert_plan('orders', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'warning: these%';
ALTER TABLE same_id ALTER id TYPE bigint; ALTER TABLE orders ALTER id TYPE bigint; ALTER TABLE item ALTER of_order TYPE bigint;
SELECT note FROM mint.convert_plan('orders', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'warning: these%';

-- A trigger that suppresses updates ends the backfill, which would never end otherwise.
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TABLE frozen (id serial PRIMARY KEY, name text);
INSERT INTO frozen (name) VALUES ('a'), ('b');
CREATE TRIGGER frozen BEFORE UPDATE ON frozen FOR EACH ROW WHEN (OLD.name = 'b') EXECUTE FUNCTION nothing();
\set ECHO none
\set SHOW_CONTEXT never
SELECT command FROM mint.convert_plan('frozen', 'id', 'snowflake_next_id(5)') WHERE phase IN ('prepare', 'backfill') ORDER BY step \gexec
\set ECHO all

-- A trigger that is disabled for a load copies again, and the rows of the load are filled.
ALTER TABLE frozen DISABLE TRIGGER ALL;
INSERT INTO frozen (name) VALUES ('c');
UPDATE frozen SET id = id + 100;
\set ECHO none
SELECT command FROM mint.convert_plan('frozen', 'id', 'snowflake_next_id(5)') WHERE phase IN ('prepare', 'backfill') ORDER BY step \gexec
\set ECHO all
INSERT INTO frozen (name) VALUES ('d');
SELECT name, id = mint_new_id AS is_copied FROM frozen ORDER BY name;
-- From the check on, nothing else can be written.
\set ECHO none
SELECT command FROM mint.convert_plan('frozen', 'id', 'snowflake_next_id(5)') WHERE phase = 'constraint' ORDER BY step \gexec
\set ECHO all
ALTER TABLE frozen DISABLE TRIGGER ALL;
UPDATE frozen SET id = id + 1 WHERE name = 'a';
DROP TABLE frozen;

-- Names that the script uses itself; comments, statistics and options of everything that is replaced; foreign keys to a
-- partitioned table; indexes and foreign keys with names like those of successors; two scripts at once on one table.
CREATE TABLE part (id integer PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
INSERT INTO part SELECT generate_series(1, 9);
CREATE TABLE "Pa'ge %" (id serial CONSTRAINT "The Key" PRIMARY KEY, page int, pages int, shown int, locked int, written int, fill int, t int, attempt int, last int);
CREATE INDEX mint_2026 ON "Pa'ge %" (id, page);
CREATE TABLE line (page integer NOT NULL, other integer, UNIQUE (page, other),
    CONSTRAINT "key of page" FOREIGN KEY (page) REFERENCES "Pa'ge %", CONSTRAINT mint_fk_to_part FOREIGN KEY (page) REFERENCES part);
CREATE TABLE other (id serial PRIMARY KEY);
ALTER TABLE line ADD FOREIGN KEY (other) REFERENCES other;
INSERT INTO "Pa'ge %" (page) SELECT generate_series(1, 9);
INSERT INTO other SELECT nextval('other_id_seq') FROM generate_series(1, 9);
INSERT INTO line SELECT n, n FROM generate_series(1, 9) AS n;
COMMENT ON CONSTRAINT "The Key" ON "Pa'ge %" IS 'of pages';
COMMENT ON INDEX "The Key" IS 'its index';
COMMENT ON INDEX mint_2026 IS 'by page';
COMMENT ON CONSTRAINT "key of page" ON line IS 'of lines';
COMMENT ON COLUMN line.page IS 'where';
ALTER TABLE line ALTER page SET STATISTICS 700, ALTER page SET (n_distinct = 5);
CREATE VIEW shape AS
WITH mine AS (SELECT oid FROM pg_class WHERE oid IN ('"Pa''ge %"'::regclass, 'line'::regclass, 'other'::regclass))
SELECT format('%s.%s %s %s %s %s', attrelid::regclass, attname, attnotnull, attstattarget,
    (SELECT array_agg(option) FROM unnest(attoptions) AS option WHERE option LIKE 'n_distinct%'), col_description(attrelid, attnum)) AS what
FROM pg_attribute WHERE attrelid IN (TABLE mine) AND attnum > 0 AND NOT attisdropped AND attname !~ '^mint_'
UNION ALL SELECT format('%s %s: %s, %s', conrelid::regclass, conname, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint'))
FROM pg_constraint WHERE conrelid IN (TABLE mine) AND conparentid = 0
UNION ALL SELECT format('%s, %s', pg_get_indexdef(indexrelid), obj_description(indexrelid, 'pg_class')) FROM pg_index WHERE indrelid IN (TABLE mine);
CREATE TABLE shape_before AS SELECT what FROM shape;
\set ECHO none
SELECT command FROM mint.convert_plan('other', 'id', 'snowflake_next_id(5)') WHERE phase IN ('prepare', 'backfill', 'constraint', 'index') ORDER BY step \gexec
\set ECHO all
SELECT left_to_do('"Pa''ge %"');
\set ECHO none
SELECT command FROM mint.convert_plan('other', 'id', 'snowflake_next_id(5)') WHERE phase = 'swap' ORDER BY step \gexec
SELECT command FROM mint.convert_plan('"Pa''ge %"', 'id', 'snowflake_next_id(5)') WHERE command IS NOT NULL AND phase NOT IN ('cleanup', 'default') ORDER BY step \gexec
\set ECHO all
SELECT attrelid::regclass AS relation, attname, atttypid::regtype AS type FROM pg_attribute
WHERE attrelid IN ('"Pa''ge %"'::regclass, 'line'::regclass, 'other'::regclass) AND attname ~ '^(mint_.*|id|page|other)$' AND NOT attisdropped
ORDER BY attrelid::regclass::text, attnum;
(TABLE shape EXCEPT TABLE shape_before) UNION ALL (TABLE shape_before EXCEPT TABLE shape);
INSERT INTO "Pa'ge %" (page) VALUES (10); INSERT INTO other DEFAULT VALUES;

-- A column that comes to refer between the swap and the cleanup waits for the next script.
CREATE TABLE comes_late (page integer REFERENCES "Pa'ge %");
SELECT left_to_do('"Pa''ge %"');
\set ECHO none
SELECT command FROM mint.convert_plan('"Pa''ge %"', 'id', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
SELECT command FROM mint.convert_plan('"Pa''ge %"', 'id', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
SELECT command FROM mint.convert_plan('other', 'id', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
SELECT command FROM mint.convert_plan('other', 'id', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
DROP TABLE comes_late;
(TABLE shape EXCEPT TABLE shape_before) UNION ALL (TABLE shape_before EXCEPT TABLE shape);

-- The function of the trigger is the owner's, whoever made one of its name or runs the script. The owner ends it.
SET mint_script.trusted = 'on';
CREATE ROLE keeper; CREATE ROLE mallory; GRANT USAGE, CREATE ON SCHEMA "Sh op" TO keeper, mallory;
CREATE TABLE kept (id serial PRIMARY KEY); INSERT INTO kept SELECT generate_series(1, 3); ALTER TABLE kept OWNER TO keeper;
SET ROLE mallory;
\set ECHO none
SELECT format('CREATE FUNCTION mint_copy_%s_id() RETURNS trigger LANGUAGE plpgsql AS %L', 'kept'::regclass::oid, 'BEGIN RETURN NEW; END') \gexec
RESET ROLE;
SELECT command FROM mint.convert_plan('kept', 'id', 'snowflake_next_id(5)') WHERE phase IN ('prepare', 'backfill', 'constraint', 'index', 'swap') ORDER BY step \gexec
\set ECHO all
SELECT tgname, pg_get_userbyid(proowner) FROM pg_trigger JOIN pg_proc p ON p.oid = tgfoid WHERE tgrelid = 'kept'::regclass AND NOT tgisinternal;
SET ROLE keeper;
\set ECHO none
SELECT command FROM mint.convert_plan('kept', 'id', 'public.snowflake_next_id(5)') WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
RESET ROLE; RESET mint_script.trusted;
\d kept

-- Expressions, checks, views, triggers, statistics and privileges that name the column come with it, exactly as they were.
CREATE ROLE reader;
CREATE TABLE "T" ("I d" serial PRIMARY KEY, other int, name text, CONSTRAINT positive CHECK ("I d" > 0 AND name <> 'I d'), CHECK (other <> "I d") NOT VALID);
CREATE UNIQUE INDEX partial ON "T" (lower(name), "I d" DESC) INCLUDE (other) WITH (fillfactor = 70) WHERE "I d" > 1 AND name <> '"I d"';
CREATE INDEX far ON "T" (other) WHERE "I d" IS NOT NULL;
CREATE INDEX spoken ON "T" (md5("I d"::text)) WHERE CASE WHEN "I d" > 1 THEN true ELSE name IS NULL END;
COMMENT ON CONSTRAINT positive ON "T" IS 'no zero';
CREATE STATISTICS st ON "I d", other FROM "T"; COMMENT ON STATISTICS st IS 'together';
CREATE FUNCTION nothing_else() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER of_it AFTER UPDATE OF "I d" ON "T" FOR EACH ROW WHEN (OLD."I d" <> NEW."I d") EXECUTE FUNCTION nothing_else();
ALTER TABLE "T" DISABLE TRIGGER of_it; COMMENT ON TRIGGER of_it ON "T" IS 'when changed';
GRANT SELECT ("I d"), UPDATE ("I d") ON "T" TO reader WITH GRANT OPTION;
CREATE VIEW "V %" WITH (security_barrier = true, check_option = local) AS SELECT "I d", name AS "na me" FROM "T" WHERE name <> '$mint0$';
CREATE VIEW "W" WITH (security_invoker = true) AS SELECT v."I d" AS a, t.other FROM "V %" v JOIN "T" t USING ("I d");
ALTER VIEW "V %" ALTER "na me" SET DEFAULT 'none';
COMMENT ON VIEW "V %" IS 'it''s a view'; COMMENT ON COLUMN "V %"."I d" IS 'the id';
GRANT SELECT ON "V %" TO reader; GRANT UPDATE ("na me") ON "V %" TO PUBLIC;
CREATE RULE quiet AS ON DELETE TO "W" DO INSTEAD NOTHING; COMMENT ON RULE quiet ON "W" IS 'no deletes';
CREATE TRIGGER instead INSTEAD OF INSERT ON "W" FOR EACH ROW EXECUTE FUNCTION nothing_else(); COMMENT ON TRIGGER instead ON "W" IS 'no inserts';
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO mallory;
INSERT INTO "T" (other, name) VALUES (7, 'a'), (8, 'b');
CREATE VIEW exactly AS
SELECT x.what FROM pg_class c, pg_namespace n, LATERAL (
    SELECT format('%s %s %s %s', c.relname, c.reloptions, (SELECT array_agg(format('%s', acl) ORDER BY acl::text) FROM unnest(coalesce(c.relacl, acldefault('r', c.relowner))) acl), obj_description(c.oid, 'pg_class'))
    UNION ALL SELECT pg_get_viewdef(c.oid) WHERE c.relkind = 'v'
    UNION ALL SELECT format('%s.%s %s %s %s', c.relname, attname, attacl, col_description(c.oid, attnum), (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = c.oid AND adnum = attnum))
        FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attname !~ '^mint_'
    UNION ALL SELECT format('%s %s %s', pg_get_triggerdef(oid), tgenabled, obj_description(oid, 'pg_trigger')) FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal AND tgname !~ '^~'
    UNION ALL SELECT format('%s %s', pg_get_ruledef(oid), obj_description(oid, 'pg_rewrite')) FROM pg_rewrite WHERE ev_class = c.oid
    UNION ALL SELECT format('%s %s %s', stxname, (SELECT array_agg(attname ORDER BY attname) FROM pg_attribute WHERE attrelid = stxrelid AND attnum = ANY (stxkeys)), obj_description(oid, 'pg_statistic_ext')) FROM pg_statistic_ext WHERE stxrelid = c.oid
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = c.oid
    UNION ALL SELECT format('%s %s %s', conname, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint')) FROM pg_constraint WHERE conrelid = c.oid AND conname !~ '^mint_'
            -- PostgreSQL 18 has a row for NOT NULL as well.
            AND contype <> 'n'
) AS x (what) WHERE n.oid = c.relnamespace AND n.nspname = 'Sh op' AND c.relname IN ('T', 'V %', 'W');
CREATE TABLE exactly_before AS SELECT what FROM exactly;
SELECT count(*) FROM exactly_before;
CREATE FUNCTION steps(relation regclass, name text, new_default text, OUT phase text, OUT count bigint) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT phase, count(*) FROM mint.convert_plan(relation, name, new_default) WHERE command IS NOT NULL OR note LIKE 'blocker%' GROUP BY 1 ORDER BY min(step) $$;
SELECT * FROM steps('"T"', 'I d', 'snowflake_next_id(5)');
\set ECHO none
SELECT command FROM mint.convert_plan('"T"', 'I d', 'snowflake_next_id(5)') WHERE command IS NOT NULL AND phase NOT IN ('cleanup', 'default') ORDER BY step \gexec
\set ECHO all
(TABLE exactly EXCEPT TABLE exactly_before) UNION ALL (TABLE exactly_before EXCEPT TABLE exactly);
SELECT pg_typeof(a), current_setting('search_path') FROM "W" WHERE a = 1;
INSERT INTO "T" VALUES (9, 7, 'c');
INSERT INTO "T" (name, "I d") VALUES ('far', -1);
INSERT INTO "T" (other, name, "I d") VALUES (3, 'far', 3000000000), (3, 'near', 30);
DELETE FROM "T" WHERE name = 'far';
\set ECHO none
SELECT command FROM mint.convert_plan('"T"', 'I d', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
SELECT command FROM mint.convert_plan('"T"', 'I d', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
(TABLE exactly EXCEPT TABLE exactly_before) UNION ALL (TABLE exactly_before EXCEPT TABLE exactly);
SELECT pg_typeof(a) FROM "W" LIMIT 1;

-- What the swap cannot make again as it was.
CREATE FUNCTION of_view("W") RETURNS int LANGUAGE sql AS 'SELECT 1';
ALTER VIEW "V %" OWNER TO keeper;
CREATE MATERIALIZED VIEW stored_view AS SELECT "I d" FROM "T";
ALTER TABLE "T" ADD CONSTRAINT apart EXCLUDE USING btree ("I d" WITH =), ADD twice int GENERATED ALWAYS AS ("I d" * 2) STORED;
SELECT note FROM mint.convert_plan('"T"', 'I d', 'snowflake_next_id(5)');
DROP FUNCTION of_view; DROP MATERIALIZED VIEW stored_view; DROP VIEW "W", "V %", exactly; DROP TABLE "T";
-- A word that is a column and something else.
CREATE TABLE odd (zone serial PRIMARY KEY, at timestamptz, CHECK (zone > 0 AND at::timestamp with time zone > '2000-01-01'::timestamp with time zone));
SELECT note FROM mint.convert_plan('odd', 'zone', 'snowflake_next_id(5)') WHERE note LIKE 'blocker%';
-- A view that cannot be made again, as its owner cannot execute the function of its trigger.
CREATE TABLE shown (id serial PRIMARY KEY); ALTER TABLE shown OWNER TO keeper;
SET ROLE keeper; CREATE VIEW written AS SELECT id FROM shown; RESET ROLE;
CREATE FUNCTION of_view() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER instead INSTEAD OF INSERT ON written FOR EACH ROW EXECUTE FUNCTION of_view();
REVOKE EXECUTE ON FUNCTION of_view FROM PUBLIC;
SET ROLE keeper;
SELECT note FROM mint.convert_plan('shown', 'id', 'public.snowflake_next_id(5)') WHERE note LIKE 'blocker%';
RESET ROLE; DROP TABLE shown CASCADE; DROP FUNCTION of_view;
-- What only the last step would have found.
CREATE TABLE pair (a int, b serial, PRIMARY KEY (a, b));
SELECT note FROM mint.convert_plan('pair', 'b', 'snowflake_next_id(5)');
CREATE TABLE small (id serial PRIMARY KEY CHECK (id < 1000000));
SELECT regexp_replace(note, '[0-9]{12,}', 'N') FROM mint.convert_plan('small', 'id', 'snowflake_next_id(5)');
-- Checks and indexes that raise an error for new ids; not those whose predicate has none of these.
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
ALTER TABLE small DROP CONSTRAINT small_id_check, ADD CONSTRAINT cast_check CHECK (id::positive > 0);
SELECT regexp_replace(note, '[0-9]{12,}', 'N') FROM mint.convert_plan('small', 'id', 'snowflake_next_id(5)');
ALTER TABLE small DROP CONSTRAINT cast_check;
CREATE INDEX fits ON small ((id * 1000)) WHERE id < 1000000;
SELECT regexp_replace(note, '[0-9]{12,}', 'N') FROM mint.convert_plan('small', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'blocker%';
CREATE INDEX thousands ON small ((id % 7), (id * 1000));
SELECT regexp_replace(note, '[0-9]{12,}', 'N') FROM mint.convert_plan('small', 'id', 'snowflake_next_id(5)');
-- A bigint that refers to an integer keeps its index.
CREATE TABLE narrow (id serial PRIMARY KEY); CREATE TABLE wide (id bigint REFERENCES narrow UNIQUE);
SELECT * FROM steps('narrow', 'id', 'snowflake_next_id(5)');

SET client_min_messages = error;
DROP SCHEMA "Sh op" CASCADE;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM mallory;
DROP ROLE reader;
DROP ROLE keeper, mallory;
DROP EXTENSION pg_mint;
