-- New ids meet the checks, expressions and bounds of all tables that get the default.
CREATE EXTENSION pg_mint;
CREATE SCHEMA shop;
SET search_path = shop, public;
SET client_min_messages = warning;

-- Makes a table p by statements. Says what the plan says, what the conversion says, and whether rows can be inserted then.
CREATE FUNCTION try(VARIADIC statements text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE statement text;
BEGIN
    CREATE SCHEMA made; SET LOCAL search_path = made, public;
    FOREACH statement IN ARRAY statements LOOP EXECUTE statement; END LOOP;
    RETURN QUERY SELECT regexp_replace(note, '[0-9]{12,}', 'N', 'g')
        FROM mint.convert_plan('p', 'id', 'snowflake_next_id(5)') WHERE note ~ '^(blocker|warning)' ORDER BY step;
    BEGIN
        PERFORM mint.convert('p', 'id', 'snowflake_next_id(5)');
        EXECUTE 'INSERT INTO p (v) VALUES (1)';
        RETURN NEXT 'converted, and has a row';
    EXCEPTION WHEN OTHERS THEN RETURN NEXT SQLERRM;
    END;
    SET LOCAL search_path = shop, public; DROP SCHEMA made CASCADE;
END $$;

-- Partitions and children, with checks, indexes and bounds of their own.
\set by_list 'CREATE TABLE p (id bigint NOT NULL, v int) PARTITION BY LIST (v); CREATE INDEX ON p (id)'
\set one 'CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)'
SELECT try(:'by_list', :'one', 'ALTER TABLE p1 ADD CHECK (id < 100000)');
SELECT try(:'by_list', :'one', 'CREATE INDEX narrow ON p1 ((id::int))');
SELECT try(:'by_list', :'one', 'CREATE INDEX fine ON p1 ((id % 7))', 'ALTER TABLE p1 ADD CHECK (id > 0)');
SELECT try('CREATE TABLE p (id bigint PRIMARY KEY, v int)', 'CREATE TABLE child (PRIMARY KEY (id)) INHERITS (p)', 'ALTER TABLE child ADD CHECK (id < 100000)');
SELECT try('CREATE TABLE p (id bigint PRIMARY KEY, v int)', 'CREATE TABLE child (PRIMARY KEY (id), twice int GENERATED ALWAYS AS (id * 2) STORED) INHERITS (p)');
SELECT try(:'by_list', 'CREATE TABLE s PARTITION OF p FOR VALUES IN (1) PARTITION BY RANGE (id)', 'CREATE TABLE s1 PARTITION OF s FOR VALUES FROM (0) TO (1000)');
SELECT try(:'by_list', 'CREATE TABLE s PARTITION OF p FOR VALUES IN (1) PARTITION BY RANGE (id, v)', 'CREATE TABLE s1 PARTITION OF s FOR VALUES FROM (0, 0) TO (1000, 0)');
SELECT try(:'by_list', 'CREATE TABLE s PARTITION OF p FOR VALUES IN (1) PARTITION BY RANGE (id)', 'CREATE TABLE s1 PARTITION OF s DEFAULT');
-- A partition that takes no new ids can refuse them.
\set by_range 'CREATE TABLE p (id bigint PRIMARY KEY, v int) PARTITION BY RANGE (id)'
\set old 'CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000)'
\set new 'CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (MAXVALUE)'
SELECT try(:'by_range', :'old', :'new', 'ALTER TABLE p1 ADD CHECK (id < 1000)', 'CREATE INDEX ON p1 ((id::int))');
SELECT try(:'by_range', :'old' || ' PARTITION BY RANGE (id)', :'new', 'CREATE TABLE p11 PARTITION OF p1 FOR VALUES FROM (0) TO (1000)');
SELECT try(:'by_range', :'old', :'new', 'CREATE INDEX narrow ON p2 ((id::int))');
-- Each partition of a hash takes some.
SELECT try('CREATE TABLE p (id bigint PRIMARY KEY, v int) PARTITION BY HASH (id)', 'CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
    'CREATE TABLE p2 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1)', statement) FROM unnest(ARRAY['ALTER TABLE p1 ADD CHECK (id < 1000)', 'ALTER TABLE p2 ADD CHECK (id < 1000)']) AS statement;

-- Checks of several columns refuse what no other column can spare.
\set plain 'CREATE TABLE p (id bigint PRIMARY KEY, v int, old boolean)'
SELECT try(:'plain', format('ALTER TABLE p ADD CHECK (%s)', condition)) FROM unnest(ARRAY[
    'id < 100000 AND v > 0',
    'id < 100000 OR v IS NULL',
    'id < 100000 OR v = 1',
    'id::int > v',
    'CASE WHEN old THEN id::int < 5 ELSE true END']) AS condition;
-- A condition that the planner does not know spares as well, and so does one of other columns.
CREATE FUNCTION is_old() RETURNS boolean STABLE LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
SELECT try(:'plain', statement) FROM unnest(ARRAY[
    'ALTER TABLE p ADD CHECK (current_setting(''app.strict'', true) IS DISTINCT FROM ''on'' OR id::int < 1000)',
    'ALTER TABLE p ADD CHECK (CASE WHEN shop.is_old() THEN id::int < 1000 ELSE true END)',
    'CREATE POLICY old ON p USING (CASE WHEN shop.is_old() THEN id::int < 1000 ELSE true END)',
    'CREATE INDEX spared ON p ((CASE WHEN old THEN id::int END))']) AS statement;

-- What functions of a check write is undone.
CREATE TABLE log (id bigint);
CREATE FUNCTION noting(bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN INSERT INTO shop.log VALUES ($1); RETURN true; END';
CREATE FUNCTION quietly(bigint) RETURNS boolean STABLE LANGUAGE plpgsql AS 'BEGIN RETURN shop.noting($1); END';
CREATE TABLE noted (id bigint PRIMARY KEY CHECK (noting(id)), v int, CHECK (quietly(id) OR v > 0));
CREATE VIEW of_noted AS SELECT id FROM noted WHERE quietly(id);
SELECT count(*) > 0 AS planned FROM mint.convert_plan('noted', 'id', 'snowflake_next_id(5)') WHERE command LIKE 'SELECT mint.convert(%';
SELECT count(*) AS written FROM log;
SELECT mint.convert('noted', 'id', 'snowflake_next_id(5)');
SELECT count(*) AS written FROM log;

DROP SCHEMA shop CASCADE;
DROP EXTENSION pg_mint;
