-- Expressions that raise an error for new ids are named before anything is done, whatever they are of.
CREATE EXTENSION pg_mint;
CREATE SCHEMA shop;
SET search_path = shop, public;
SET client_min_messages = warning;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION noted(relation regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT regexp_replace(note, '[0-9]{12,}', 'N', 'g') FROM mint.convert_plan(relation, 'id', 'snowflake_next_id(5)')
    WHERE note ~ '^(blocker|warning)' ORDER BY step
$$;

-- One at a time, of a bigint and of an integer.
CREATE FUNCTION try(kind text, statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE t (id %s PRIMARY KEY, name text, other int)', kind);
    EXECUTE 'INSERT INTO t (name, other) VALUES (''a'', 1)';
    EXECUTE statement;
    RETURN QUERY SELECT format('%s: %s', kind, note) FROM noted('t') AS note;
    DROP TABLE t CASCADE;
END $$;
CREATE TABLE nothing_of_it (note text);
SELECT try(kind, statement) FROM unnest(ARRAY['bigserial', 'serial']) AS kind, unnest(ARRAY[
    'CREATE INDEX thousands ON t ((id * 1000))',
    'CREATE INDEX mixed ON t ((id * 1000), other) WHERE other > 1',
    'CREATE INDEX spared ON t ((id * 1000)) WHERE id < 1000000 AND other > 1',
    'CREATE STATISTICS counted ON (id * 1000) FROM t',
    'CREATE TRIGGER watch AFTER UPDATE ON t FOR EACH ROW WHEN (new.id * 1000 > 5) EXECUTE FUNCTION nothing()',
    'CREATE TRIGGER watch AFTER UPDATE ON t FOR EACH ROW WHEN (old.name <> new.name AND new.id::bigint::int > old.other) EXECUTE FUNCTION nothing()',
    'CREATE TRIGGER calm AFTER UPDATE ON t FOR EACH ROW WHEN (old.name <> new.name AND new.id > old.other) EXECUTE FUNCTION nothing()',
    'CREATE VIEW fine AS SELECT id, (id % 7)::int AS part, CASE WHEN id < 1000 THEN id::numeric::int END AS small FROM t WHERE id > 0',
    'CREATE VIEW narrow AS SELECT id, id::numeric::int AS n FROM t',
    'CREATE VIEW through AS SELECT id::text::int AS n FROM t',
    'CREATE VIEW condition AS SELECT name FROM t WHERE int4(id::numeric) > 5 AND name = ''x''',
    'CREATE VIEW first AS SELECT id AS a, name FROM t; CREATE VIEW second AS SELECT chr(a::numeric::int) FROM first JOIN nothing_of_it ON note = name',
    'CREATE VIEW first AS SELECT id::numeric AS a FROM t; CREATE VIEW twice AS SELECT x.a::int FROM first x JOIN first y USING (a) LEFT JOIN t ON t.id = x.a',
    'CREATE VIEW outside AS SELECT o.note, t.id::numeric::int AS n FROM nothing_of_it AS o LEFT JOIN t ON t.name = o.note'
]) AS statement
WHERE set_config('client_min_messages', 'warning', false) <> '';
-- What an integer cannot have, and the conversion of a bigint itself.
SELECT try('bigserial', statement) FROM unnest(ARRAY[
    'ALTER TABLE t ADD twice int GENERATED ALWAYS AS (id * 2) STORED',
    'ALTER TABLE t ADD twice bigint GENERATED ALWAYS AS (id / 2 + other) STORED',
    'CREATE POLICY mine ON t USING (id::int = other)',
    'CREATE POLICY mine ON t USING (id > current_setting(''shop.least'')::int)'
]) AS statement;
CREATE TABLE t (id bigserial, name text) PARTITION BY HASH ((id * 1000));
CREATE TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE INDEX ON t (id);
SELECT noted('t');
DROP TABLE t;
CREATE TABLE t (id bigserial PRIMARY KEY);
CREATE TABLE child (t bigint REFERENCES t);
\set VERBOSITY terse
CREATE VIEW of_child AS SELECT t::int FROM child;
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
DROP VIEW of_child;
SELECT mint.convert('t', 'id', 'snowflake_next_id(5)');
DROP TABLE child, t; DROP SEQUENCE t_id_seq;
-- A column that refers to an integer.
CREATE TABLE one (id serial PRIMARY KEY);
CREATE TABLE two (one integer REFERENCES one);
CREATE INDEX thousands ON two ((one * 1000));
SELECT noted('one');

-- Rules of a table that cast the column, defaults of columns that refer to an integer.
SELECT try('bigserial', statement) FROM unnest(ARRAY[
    'CREATE RULE noted AS ON INSERT TO t DO ALSO INSERT INTO nothing_of_it VALUES (int4(new.id)::text)',
    'CREATE RULE noted AS ON INSERT TO t DO ALSO INSERT INTO nothing_of_it VALUES (new.id::text)'
]) AS statement;
DROP TABLE two;
CREATE TABLE two (one integer DEFAULT current_setting('shop.one')::integer REFERENCES one);
SELECT noted('one');
ALTER TABLE two ALTER one SET DEFAULT 7;
SELECT noted('one');

-- What no plan can parse with a bigint is converted where it is the same for certain, and refused before the first step elsewhere.
-- A column of a view that becomes of another type is said.
CREATE FUNCTION mine(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1';
SELECT try('serial', statement) FROM unnest(ARRAY[
    'CREATE VIEW grouped AS SELECT id, name, count(*), max(id), abs(other) FROM t GROUP BY id; CREATE VIEW above AS SELECT id + 1 AS next FROM grouped WHERE id = 1',
    'CREATE VIEW grouped AS SELECT id, name, sum(id) FROM t GROUP BY id',
    'CREATE VIEW grouped AS SELECT id, name, chr(id) FROM t GROUP BY id',
    'CREATE VIEW grouped AS SELECT id, name, mine(other) FROM t GROUP BY id',
    'CREATE VIEW grouped AS SELECT id, name, mine(other) FROM t GROUP BY id, name, other',
    'CREATE VIEW grouped AS SELECT id, name FROM t GROUP BY id; CREATE VIEW above AS SELECT chr(id) FROM grouped',
    'CREATE VIEW ruled AS SELECT id, name FROM t; CREATE RULE no AS ON DELETE TO ruled DO INSTEAD NOTHING',
    'CREATE VIEW ruled AS SELECT id, name FROM t; CREATE RULE soft AS ON DELETE TO ruled DO INSTEAD UPDATE t SET name = lower(name) WHERE id = old.id AND now() > ''2000-01-01''',
    'CREATE VIEW ruled AS SELECT id, name FROM t; CREATE RULE add AS ON INSERT TO ruled DO INSTEAD INSERT INTO t (name) VALUES (chr(new.id))',
    'CREATE INDEX cast_away ON t (name, (id::bigint))',
    'CREATE VIEW shifted AS SELECT id << 20 AS shifted FROM t',
    'CREATE VIEW tabled AS SELECT tableoid, mine(id) FROM t',
    'CREATE VIEW tabled AS SELECT tableoid, id FROM t',
    'CREATE VIEW nothing AS SELECT id, name FROM t GROUP BY id; CREATE VIEW above AS SELECT id, mine(length(note)) FROM nothing_of_it JOIN t ON name = note',
    'CREATE VIEW total AS SELECT sum(id) AS total, array_agg(id) AS list, avg(id), name FROM t GROUP BY name; CREATE VIEW above AS SELECT total AS most FROM total'
]) AS statement;

-- The way back leaves casts, and says where.
CREATE TABLE seven (id serial PRIMARY KEY, name text, CHECK (id > 0), CHECK (id % 9 < 9));
CREATE INDEX by_seven ON seven ((id % 7));
CREATE INDEX plainly ON seven (name) WHERE id IS NOT NULL;
CREATE VIEW of_seven AS SELECT id % 7 AS rest FROM seven;
INSERT INTO seven (name) VALUES ('a');
\set ECHO none
SELECT command FROM mint.convert_plan('seven', 'id', 'snowflake_next_id(5)') WHERE command IS NOT NULL AND phase NOT IN ('cleanup', 'default') ORDER BY step \gexec
\set ECHO all
SELECT note FROM mint.convert_plan('seven', 'id', NULL) WHERE note LIKE '%casts%';
\set ECHO none
SELECT command FROM mint.convert_plan('seven', 'id', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
SELECT command FROM mint.convert_plan('seven', 'id', NULL) WHERE command IS NOT NULL ORDER BY step \gexec
\set ECHO all
SELECT pg_get_expr(indexprs, indrelid) FROM pg_index WHERE indexrelid = 'by_seven'::regclass;
SELECT pg_typeof(rest), rest FROM of_seven;

-- The message of a row has an end.
SELECT format('CREATE TYPE %I AS ENUM ()', repeat('T', 60)) \gexec
\set ECHO none
SELECT format('CREATE FUNCTION long(integer%1$s) RETURNS integer LANGUAGE sql AS ''SELECT 1''; CREATE TABLE long (id serial PRIMARY KEY); CREATE VIEW of_long AS SELECT long(id%2$s) FROM long',
    repeat(format(', %I', repeat('T', 60)), 50), repeat(format(', NULL::%I', repeat('T', 60)), 50)) \gexec
\set ECHO all
SELECT length(note) < 800, left(note, 80), right(note, 60) FROM noted('long') AS note;

-- What another role has written is neither run with the rights of the owner nor keeps the plan from looking at the rest.
CREATE ROLE expressions_owner; CREATE ROLE expressions_other;
GRANT USAGE, CREATE ON SCHEMA shop TO expressions_owner, expressions_other;
SET ROLE expressions_owner;
CREATE TABLE owned (id bigserial PRIMARY KEY);
GRANT SELECT, REFERENCES, TRIGGER ON owned TO expressions_other;
SET ROLE expressions_other;
CREATE FUNCTION spy(bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS
    'BEGIN IF $1 > 1 THEN RAISE ''run as %'', current_user; END IF; RETURN true; END';
CREATE VIEW theirs AS SELECT id FROM owned WHERE spy(id);
CREATE TABLE referring (id bigint PRIMARY KEY REFERENCES owned);
CREATE VIEW of_referring AS SELECT id FROM referring WHERE spy(id);
CREATE TRIGGER theirs BEFORE INSERT ON owned FOR EACH ROW WHEN (spy(new.id)) EXECUTE FUNCTION nothing();
RESET ROLE;
SELECT noted('owned');
SET ROLE expressions_owner;
CREATE VIEW ours AS SELECT id::int FROM owned;
RESET ROLE;
SELECT noted('owned');
-- A domain of a role that has the owner's privileges is looked at, as of a superuser; one of another role is not run.
CREATE DOMAIN above AS bigint CHECK (VALUE < 1000);
SET ROLE expressions_other;
CREATE DOMAIN spied AS bigint CHECK (spy(VALUE));
RESET ROLE;
GRANT USAGE ON TYPE spied, above TO expressions_owner;
SET ROLE expressions_owner;
CREATE TABLE of_above (id above PRIMARY KEY);
CREATE TABLE of_spied (id spied PRIMARY KEY);
RESET ROLE;
SELECT noted('of_above');
SELECT noted('of_spied');
DROP DOMAIN above, spied CASCADE;
-- A name that could mean another function is not parsed again, and spares nothing else.
SELECT try('bigserial', 'CREATE FUNCTION two_of(bigint) RETURNS text LANGUAGE sql AS ''SELECT ''''b'''''';
    CREATE FUNCTION two_of(text) RETURNS text LANGUAGE sql AS ''SELECT ''''t'''''';
    CREATE INDEX narrow ON t ((id::integer)); CREATE VIEW unsure AS SELECT two_of(id) FROM t');
SET ROLE expressions_owner;
CREATE FUNCTION pass(bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE TABLE by_key (id bigserial) PARTITION BY RANGE ((pass(id) * 1000));
CREATE INDEX ON by_key (id);
RESET ROLE;
SELECT noted('by_key');
REVOKE CREATE ON SCHEMA shop FROM expressions_other;
SET ROLE expressions_owner; ALTER TABLE by_key RENAME TO by_keys; RESET ROLE;
ALTER SCHEMA shop OWNER TO expressions_owner;
SELECT noted('by_keys');
REASSIGN OWNED BY expressions_owner, expressions_other TO CURRENT_USER;
DROP OWNED BY expressions_owner, expressions_other;
DROP ROLE expressions_owner, expressions_other;

DROP SCHEMA shop CASCADE;
DROP EXTENSION pg_mint;
