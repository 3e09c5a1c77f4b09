-- mint.id_columns: every kind, what of a sequence is used, references, what is not shown, and rights.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE SCHEMA home;
CREATE EXTENSION pg_mint SCHEMA home;
CREATE SCHEMA "Shop";
SET search_path = "Shop", home;
CREATE FUNCTION nextval(name text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';

-- Kinds, layouts and shards.
SELECT segment_create('seg'), ticket_create('tick', bits => 32), user_sequence_create('users', sections => 2);
CREATE SEQUENCE "a 'b'";
CREATE TABLE kinds (
    identity int GENERATED ALWAYS AS IDENTITY, serial serial, other bigint DEFAULT nextval('"a ''b''"'::regclass),
    node bigint DEFAULT snowflake_next_id(), shard bigint DEFAULT snowflake_next_id(5),
    twitter int DEFAULT snowflake_next_id('6', 'twitter'), named bigint DEFAULT snowflake_next_id(layout => 'leaf', shard => 7),
    hash text DEFAULT (snowflake_next_in(8, 4, 1))::text,
    own bigint DEFAULT snowflake_next('time:41 shard:10 seq:12 epoch:2026-01-01T00:00:00Z'),
    computed bigint DEFAULT snowflake_next_id(length(current_user::text), 'discord'),
    lowered bigint DEFAULT snowflake_next_id(5, lower('LEAF')),
    scattered bigint DEFAULT snowflake_scatter(snowflake_next_id(5, 'twitter')),
    auto_random bigint DEFAULT auto_random(nextval('seg'::regclass)),
    concealed bigint DEFAULT id_conceal(snowflake_next_id(5), '\x00112233445566778899aabbccddeeff'),
    segment bigint DEFAULT segment_next('seg'), ticket bigint DEFAULT ticket_next('tick'),
    numbers bigint DEFAULT user_sequence_next('users', 1), v1 uuid DEFAULT uuid_v1(), v2 uuid DEFAULT uuid_v2('person', 7),
    v4 uuid DEFAULT uuid_v4(), v6 uuid DEFAULT uuid_v6(), v7 uuid DEFAULT uuid_v7(), random uuid DEFAULT gen_random_uuid(),
    ulid text DEFAULT ulid(), typeid text DEFAULT typeid('user', uuid_v7()), nanoid text DEFAULT nano_id(),
    objectid objectid DEFAULT objectid(), legacy objectid DEFAULT objectid_legacy(),
    no_id_1 text DEFAULT 'call gen_random_uuid() or '' nextval(1)', no_id_2 bigint DEFAULT nextval('a'),
    no_id_3 timestamptz DEFAULT now(), no_id_4 bigint GENERATED ALWAYS AS (snowflake_encode('2026-01-01Z', 5, 0)) STORED);
SELECT column_name, type_name, kind, layout, shard, sequence FROM mint.id_columns WHERE relation = 'kinds'::regclass;
SELECT default_value FROM mint.id_columns WHERE column_name IN ('other', 'twitter', 'random');

-- Keys of every type, with a length that is cut; an index that is not a key, a column that is only included.
CREATE DOMAIN inner_key AS int; CREATE DOMAIN key AS inner_key;
CREATE TABLE "Keys" (a bytea, "B c" numeric(20), at timestamptz, d key, included int, part int UNIQUE, email text,
    PRIMARY KEY (a, "B c") INCLUDE (included), UNIQUE (at, d));
CREATE UNIQUE INDEX ON "Keys" (lower(email)); CREATE UNIQUE INDEX ON "Keys" (email) WHERE part > 0;
DO $$ BEGIN
    EXECUTE format('CREATE TABLE long (id text PRIMARY KEY DEFAULT %L || nano_id())', repeat('p', 250));
    EXECUTE format('CREATE TABLE longest (id text PRIMARY KEY DEFAULT %L || nano_id())', repeat('p', 40000));
END $$;
SELECT relation, column_name, type_name, kind, length(default_value) FROM mint.id_columns WHERE relation <> 'kinds'::regclass;

-- The percentage is of the range that the sequence can issue within the column, in its direction.
CREATE SEQUENCE upper_half MINVALUE 101 MAXVALUE 201; CREATE SEQUENCE odd INCREMENT 2 MAXVALUE 1001;
CREATE SEQUENCE down INCREMENT -1 MINVALUE -101; CREATE SEQUENCE round MAXVALUE 5 CYCLE; CREATE SEQUENCE wide;
CREATE SEQUENCE beyond MINVALUE 3000000000; CREATE SEQUENCE later START 51 MAXVALUE 101; CREATE UNLOGGED TABLE used (
    range bigint DEFAULT nextval('upper_half'::regclass), odd bigint DEFAULT nextval('odd'::regclass),
    down smallint DEFAULT nextval('down'::regclass), round bigint DEFAULT nextval('round'::regclass),
    small smallint DEFAULT nextval('wide'::regclass), int key DEFAULT nextval('wide'::regclass),
    big bigint DEFAULT nextval('wide'::regclass), beyond int DEFAULT nextval('beyond'::regclass),
    later bigint DEFAULT nextval('later'::regclass), ticket bigint DEFAULT ticket_next('tick'));
SELECT setval('upper_half', 150), setval('odd', 501), setval('down', -50), setval('round', 2), setval('wide', 16383);
SELECT column_name, kind, percent_used FROM mint.id_columns WHERE relation = 'used'::regclass;
SELECT setval('round', 5), setval('wide', 40000);
SELECT column_name, percent_used FROM mint.id_columns WHERE column_name IN ('round', 'small');

-- References, those of partitions once; partitions are part of their table.
CREATE TABLE parts (id bigint, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (at);
CREATE TABLE parts_1_a PARTITION OF parts_1 FOR VALUES FROM (0) TO (50);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
CREATE TABLE "the item" (id uuid UNIQUE, "order" int, at int, wide bigint, a smallint, FOREIGN KEY ("order", at) REFERENCES parts,
    FOREIGN KEY (wide, a) REFERENCES parts, FOREIGN KEY ("order", a) REFERENCES parts);
INSERT INTO parts SELECT g, g FROM generate_series(0, 49) g; INSERT INTO parts SELECT g, g FROM generate_series(100, 149) g;
ANALYZE parts_1_a, parts_2;
SELECT column_name, rows, bytes / 8192 AS pages, array_to_string(referenced_by, ' ') AS referenced_by, narrower::text
FROM mint.id_columns WHERE relation::text ~ 'part|item';

-- The view leaves out temporary tables, views, sections of user sequences, relations of extensions and of the server.
CREATE TEMP TABLE fleeting (id serial PRIMARY KEY); CREATE VIEW seen AS SELECT identity FROM kinds;
SELECT relation, count(*) FROM mint.id_columns GROUP BY relation ORDER BY relation;

-- A role sees what it has a privilege on, and nothing of other sequences. Nothing is an error.
CREATE ROLE mint_reader; CREATE ROLE mint_owner;
SET ROLE mint_reader;
SELECT count(*) FROM mint.id_columns;
RESET ROLE;
GRANT USAGE ON SCHEMA "Shop" TO mint_reader;
GRANT DELETE ON used TO mint_reader; GRANT SELECT (at) ON parts TO mint_reader;
GRANT USAGE ON SEQUENCE odd TO mint_reader; GRANT SELECT ON SEQUENCE later TO mint_reader;
ALTER TABLE "Keys" OWNER TO mint_owner; REVOKE ALL ON "Keys" FROM mint_owner; GRANT mint_owner TO mint_reader;
SET ROLE mint_reader;
SELECT relation, count(*), array_agg(sequence) FILTER (WHERE percent_used > 0) AS read
FROM mint.id_columns GROUP BY relation ORDER BY relation;
RESET ROLE;

-- Nothing stays locked, and names are found by no search path of the caller.
BEGIN;
SELECT count(*) FROM mint.id_columns;
SELECT count(*) FROM pg_locks WHERE relation IN ('used'::regclass, 'odd'::regclass) AND pid = pg_backend_pid();
COMMIT;
CREATE FUNCTION format(text, name, name, name) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
SET search_path = "Shop", pg_catalog;
SELECT default_value, kind, cardinality(referenced_by) FROM mint.id_columns WHERE column_name IN ('at', 'other', 'twitter');
RESET search_path;
DROP OWNED BY mint_reader, mint_owner; DROP ROLE mint_reader, mint_owner;
SET client_min_messages = warning;
DROP SCHEMA "Shop" CASCADE;
DROP EXTENSION pg_mint;
DROP SCHEMA home;
