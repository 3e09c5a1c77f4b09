-- The names of other extensions, by the queries of their own tests.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET TimeZone = 'UTC';
SELECT setting || '/extension/pg_mint/' AS compat FROM pg_config WHERE name = 'SHAREDIR' \gset

-- pg_uuidv7: its tests 002 to 006.
CREATE SCHEMA uuidv7;
SET search_path = uuidv7, public;
\set ECHO none
\set file :compat pg_uuidv7.sql
\i :file
\set ECHO all
\set uuidv7 '018570bb-4a7d-7000-8000-000000000000'
\set uuidtz '2023-01-02 04:26:40.637+00'
\set uuidts '2023-01-02 04:26:40.637'
SELECT uuid_generate_v7() > :'uuidv7';
SELECT uuid_v7_to_timestamptz(:'uuidv7') = :'uuidtz';
SELECT uuid_timestamptz_to_v7(:'uuidtz') > :'uuidv7';
SELECT uuid_timestamptz_to_v7(:'uuidtz', true) = :'uuidv7';
SELECT uuid_v7_to_timestamp(:'uuidv7') = :'uuidts';
SELECT uuid_timestamp_to_v7(:'uuidts') > :'uuidv7';
SELECT uuid_timestamp_to_v7(:'uuidts', true) = :'uuidv7';
-- With microseconds, and in any time zone.
SELECT uuid_timestamptz_to_v7('2023-01-02 04:26:40.637999+00', true) = :'uuidv7', uuid_timestamptz_to_v7(:'uuidtz', zero => true) = :'uuidv7';
SET TimeZone = 'UTC+3';
SELECT uuid_v7_to_timestamp(:'uuidv7') = :'uuidts', uuid_timestamp_to_v7(:'uuidts', true) = :'uuidv7';
SET TimeZone = 'UTC';
-- The default of a table calls uuid_v7() itself.
CREATE TABLE event (id uuid PRIMARY KEY DEFAULT uuid_generate_v7());
INSERT INTO event SELECT FROM generate_series(1, 1000);
SELECT count(*), bool_and(uuid_version_of(id) = 7) FROM event;
EXPLAIN (VERBOSE, COSTS OFF) SELECT uuid_generate_v7() FROM event;
DROP TABLE event;

-- uuid-ossp: its own test.
CREATE SCHEMA uuid_ossp;
SET search_path = uuid_ossp, public;
\set ECHO none
\set file :compat uuid_ossp.sql
\i :file
\set ECHO all
SELECT uuid_nil();
SELECT uuid_ns_dns();
SELECT uuid_ns_url();
SELECT uuid_ns_oid();
SELECT uuid_ns_x500();
-- this is actually timestamp concatenated with clock sequence, per RFC 4122
CREATE FUNCTION uuid_timestamp_bits(uuid) RETURNS varbit AS
$$ SELECT ('x' || substr($1::text, 15, 4) || substr($1::text, 10, 4) ||
           substr($1::text, 1, 8) || substr($1::text, 20, 4))::bit(80)
          & x'0FFFFFFFFFFFFFFF3FFF' $$
LANGUAGE SQL STRICT IMMUTABLE;
CREATE FUNCTION uuid_version_bits(uuid) RETURNS varbit AS
$$ SELECT ('x' || substr($1::text, 15, 2))::bit(8) & '11110000' $$
LANGUAGE SQL STRICT IMMUTABLE;
CREATE FUNCTION uuid_reserved_bits(uuid) RETURNS varbit AS
$$ SELECT ('x' || substr($1::text, 20, 2))::bit(8) & '11000000' $$
LANGUAGE SQL STRICT IMMUTABLE;
CREATE FUNCTION uuid_multicast_bit(uuid) RETURNS bool AS
$$ SELECT (('x' || substr($1::text, 25, 2))::bit(8) & '00000001') != '00000000' $$
LANGUAGE SQL STRICT IMMUTABLE;
CREATE FUNCTION uuid_local_admin_bit(uuid) RETURNS bool AS
$$ SELECT (('x' || substr($1::text, 25, 2))::bit(8) & '00000010') != '00000000' $$
LANGUAGE SQL STRICT IMMUTABLE;
CREATE FUNCTION uuid_node(uuid) RETURNS text AS
$$ SELECT substr($1::text, 25) $$
LANGUAGE SQL STRICT IMMUTABLE;
SELECT uuid_version_bits(uuid_generate_v1()),
       uuid_reserved_bits(uuid_generate_v1());
SELECT uuid_version_bits(uuid_generate_v1mc()),
       uuid_reserved_bits(uuid_generate_v1mc()),
       uuid_multicast_bit(uuid_generate_v1mc()),
       uuid_local_admin_bit(uuid_generate_v1mc());
-- timestamp+clock sequence should be monotonic increasing in v1
SELECT uuid_timestamp_bits(uuid_generate_v1()) < uuid_timestamp_bits(uuid_generate_v1());
SELECT uuid_timestamp_bits(uuid_generate_v1mc()) < uuid_timestamp_bits(uuid_generate_v1mc());
SELECT CASE WHEN uuid_multicast_bit(uuid_generate_v1()) AND
                 uuid_local_admin_bit(uuid_generate_v1()) THEN
         true -- punt, no test
       ELSE
         uuid_node(uuid_generate_v1()) = uuid_node(uuid_generate_v1())
       END;
SELECT uuid_node(uuid_generate_v1()) <> uuid_node(uuid_generate_v1mc());
SELECT uuid_node(uuid_generate_v1mc()) <> uuid_node(uuid_generate_v1mc());
SELECT uuid_generate_v3(uuid_ns_dns(), 'www.widgets.com');
SELECT uuid_generate_v5(uuid_ns_dns(), 'www.widgets.com');
SELECT uuid_version_bits(uuid_generate_v4()),
       uuid_reserved_bits(uuid_generate_v4());
SELECT uuid_generate_v4() <> uuid_generate_v4();
-- Random nodes are random in all of their other bits.
SELECT count(DISTINCT uuid_node(id)) = 1000, bool_and(uuid_multicast_bit(id) AND uuid_local_admin_bit(id)) FROM (SELECT uuid_generate_v1mc() AS id FROM generate_series(1, 1000)) ids;
SELECT bit_or(('x' || uuid_node(id))::bit(48)) = ~0::bit(48), bit_and(('x' || uuid_node(id))::bit(48)) FROM (SELECT uuid_generate_v1mc() AS id FROM generate_series(1, 1000)) ids;

-- PostgreSQL 18: the queries on generators and on parts of its uuid test. Its own are behind these here.
CREATE SCHEMA "uuid 'of' ""18"" %I $$";
SET search_path = "uuid 'of' ""18"" %I $$", pg_catalog, public;
\set ECHO none
\set file :compat postgresql_18.sql
\i :file
\set ECHO all
CREATE TABLE guid1 (guid_field UUID, text_field TEXT DEFAULT(now()));
CREATE TABLE guid3 (id SERIAL, guid_field UUID);
-- test of uuidv4() alias
INSERT INTO guid1 (guid_field) VALUES (uuidv4());
INSERT INTO guid1 (guid_field) VALUES (uuidv4());
SELECT count(DISTINCT guid_field) FROM guid1;
-- generation test for v7
TRUNCATE guid1;
INSERT INTO guid1 (guid_field) VALUES (uuidv7());
INSERT INTO guid1 (guid_field) VALUES (uuidv7());
INSERT INTO guid1 (guid_field) VALUES (uuidv7(INTERVAL '1 day'));
SELECT count(DISTINCT guid_field) FROM guid1;
-- test sortability of v7
INSERT INTO guid3 (guid_field) SELECT uuidv7() FROM generate_series(1, 10);
SELECT array_agg(id ORDER BY guid_field) FROM guid3;
-- Check the timestamp offsets for v7.
WITH uuidts AS (
     SELECT y, ts as ts, lag(ts) OVER (ORDER BY y) AS prev_ts
     FROM (SELECT y, uuid_extract_timestamp(uuidv7((y || ' years')::interval)) AS ts
           FROM generate_series(1970 - extract(year from now())::int, 10888 - extract(year from now())::int) y) AS ids
)
SELECT y, ts, prev_ts FROM uuidts WHERE ts < prev_ts;
-- version
SELECT uuid_extract_version('11111111-1111-5111-8111-111111111111');  -- 5
SELECT uuid_extract_version(gen_random_uuid());  -- 4
SELECT uuid_extract_version('11111111-1111-1111-1111-111111111111');  -- null
SELECT uuid_extract_version(uuidv4());  -- 4
SELECT uuid_extract_version(uuidv7());  -- 7
-- timestamp
SELECT uuid_extract_timestamp('C232AB00-9414-11EC-B3C8-9F6BDECED846') = 'Tuesday, February 22, 2022 2:22:22.00 PM GMT+05:00';  -- RFC 9562 test vector for v1
SELECT uuid_extract_timestamp('017F22E2-79B0-7CC3-98C4-DC0C0C07398F') = 'Tuesday, February 22, 2022 2:22:22.00 PM GMT+05:00';  -- RFC 9562 test vector for v7
SELECT uuid_extract_timestamp(gen_random_uuid());  -- null
SELECT uuid_extract_timestamp('11111111-1111-1111-1111-111111111111');  -- null
SELECT uuid_extract_timestamp(uuid_v6()), pg_typeof(uuid_extract_version(uuidv4()));
DROP TABLE guid1, guid3;

-- pgEdge: what its documents and its test conversion.sql call.
CREATE SCHEMA snowflake;
SET search_path = snowflake, public;
-- Functions of others in those schemas, whose arguments a text fits better, are not called.
CREATE FUNCTION public.snowflake_next(text) RETURNS bigint LANGUAGE sql RETURN 1 / 0;
CREATE FUNCTION public.snowflake_time(bigint, text) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN now() + interval '1 s' / 0;
CREATE FUNCTION public.snowflake_sequence(bigint, text) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN 1 / 0;
CREATE FUNCTION public.snowflake_shard(bigint, text) RETURNS integer LANGUAGE sql IMMUTABLE RETURN 1 / 0;
\set ECHO none
\set file :compat pgedge.sql
\i :file
\set ECHO all
RESET search_path;
LOAD 'pg_mint';
SET pg_mint.node = 1;
CREATE SEQUENCE orders_id_seq;
CREATE TABLE t4 (x bigint DEFAULT snowflake.nextval('orders_id_seq'::regclass));
CREATE TABLE t5 (x bigint DEFAULT snowflake.nextval());
INSERT INTO t4 VALUES (DEFAULT);
INSERT INTO t5 VALUES (DEFAULT);
SELECT x > 42 AS is_snowflake_value, snowflake.get_node(x) FROM t4;
SELECT t4.x < t5.x AS is_growing FROM t4, t5;
SELECT snowflake.get_epoch(136169504773242881), snowflake.get_count(136169504773242881), snowflake.get_node(136169504773242881), snowflake.format(136169504773242881);
SELECT to_timestamp(snowflake.get_epoch(136169504773242881));
SELECT abs(extract(epoch FROM now()) - snowflake.get_epoch(snowflake.nextval('orders_id_seq'))) < 60;
SELECT pg_sleep(0.5);
-- A count begins at 0 in each millisecond, and the ids of one query can be of several.
SELECT max(snowflake.get_count(id)) > 0 AS counts, bool_and(snowflake.get_count(id) = n - 1) AS from_zero
FROM (SELECT id, row_number() OVER (PARTITION BY snowflake.get_epoch(id) ORDER BY id) AS n
    FROM (SELECT snowflake.nextval('orders_id_seq') AS id FROM generate_series(1, 1000) OFFSET 0) AS i) AS i;
SELECT snowflake.currval('orders_id_seq');
SELECT snowflake.currval();
SELECT snowflake.setval('orders_id_seq', 1);
SELECT snowflake.convert_sequence_to_snowflake('orders_id_seq');
SELECT snowflake.convert_column_to_int8('t4', 1::smallint);
SELECT snowflake.nextval('no_such_seq');
DROP FUNCTION public.snowflake_next(text), public.snowflake_time(bigint, text), public.snowflake_sequence(bigint, text), public.snowflake_shard(bigint, text);
DROP TABLE t4, t5;
DROP SEQUENCE orders_id_seq;

-- pgx_ulid: its tests, with functions in place of casts.
CREATE SCHEMA pgx_ulid;
SET search_path = pgx_ulid, public;
\set ECHO none
\set file :compat pgx_ulid.sql
\i :file
\set ECHO all
SELECT NULL::ulid;
SELECT '01GV5PA9EQG7D82Q3Y4PKBZSYV'::ulid::text;
SELECT '01GV5PA9EQG7D82Q3Y4PKBZSY'::ulid;
SELECT '01GV5PA9EQG7D82Q3Y4PKBZSYU'::ulid;
SELECT ulid_to_timestamp('01GV5PA9EQG7D82Q3Y4PKBZSYV'::ulid) = '2023-03-10 12:00:49.111';
SELECT timestamp_to_ulid('2023-03-10 12:00:49.111')::text;
SELECT ulid_to_timestamptz('01GV5PA9EQG7D82Q3Y4PKBZSYV'::ulid) = '2023-03-10 12:00:49.111+00';
SELECT timestamptz_to_ulid('2023-03-10 12:00:49.111+00')::text, timestamptz_to_ulid('2023-03-10 12:00:49.111999+00') = '01GV5PA9EQ0000000000000000' AS cut;
SELECT ulid_to_uuid('01GV5PA9EQG7D82Q3Y4PKBZSYV'::ulid)::text;
SELECT ulid_to_bytea('01GV5PA9EQG7D82Q3Y4PKBZSYV'::ulid);
SELECT ulid_from_uuid('0186cb65-25d7-81da-815c-7e25a6bfe7db'::uuid);
SELECT gen_ulid() IS NOT NULL, gen_monotonic_ulid() < gen_monotonic_ulid(), generate_ulid() ~ '^[0-7][0-9A-HJKMNP-TV-Z]{25}$';
CREATE TABLE foo (id ulid DEFAULT gen_monotonic_ulid(), data TEXT);
CREATE TABLE bar (id ulid, foo_id ulid);
INSERT INTO foo DEFAULT VALUES;
INSERT INTO bar SELECT id FROM foo;
SELECT count(*) FROM bar JOIN foo ON bar.id = foo.id;
-- In lower case it is another text, and refused, as it would sort elsewhere.
SELECT lower('01GV5PA9EQG7D82Q3Y4PKBZSYV')::ulid;
SELECT uuid_to_ulid(ulid_to_uuid(lower('01GV5PA9EQG7D82Q3Y4PKBZSYV')))::ulid;
SET TimeZone = 'Asia/Seoul';
SELECT ulid_to_timestamp(timestamp_to_ulid('2023-03-10 12:00:49.111')) = '2023-03-10 12:00:49.111';
RESET TimeZone;

-- MySQL: the statements of an article on UUIDs, with bytea in place of BINARY(16).
CREATE SCHEMA mysql;
SET search_path = mysql, public;
\set ECHO none
\set file :compat mysql.sql
\i :file
\set ECHO all
create table t (id int, uuid bytea default (UUID_TO_BIN(UUID())), swapped bytea default (UUID_TO_BIN(UUID(), 1)));
insert into t (id) values (1), (2);
select count(distinct BIN_TO_UUID(uuid)), min(length(uuid)), bool_and(IS_UUID(BIN_TO_UUID(swapped, 1)::text)),
       min(uuid_version_of(BIN_TO_UUID(uuid))), min(uuid_version_of(BIN_TO_UUID(swapped, 1))) from t;
SELECT UUID() <> UUID() AS volatile, uuid '6ccd780c-baba-1026-9564-5b8c656024db' AS a_literal_of_the_type, (uuid_nil_value()::text)::uuid AS a_cast;

-- pg_partman 5: its encoders and decoders.
CREATE SCHEMA coders;
SET search_path = coders, public;
\set ECHO none
\set file :compat pg_partman.sql
\i :file
\set ECHO all
SELECT snowflake_time_encoder(at), snowflake_time_decoder(snowflake_time_encoder(at)) = at AS same,
       uuid_v7_time_encoder(at), uuid_v7_time_decoder(uuid_v7_time_encoder(at)) = at AS same,
       ulid_time_encoder(at), ulid_time_decoder(ulid_time_encoder(at)) = at AS same
FROM (VALUES (timestamptz '2026-01-01Z'), (NULL)) t (at);
SELECT snowflake_time_decoder(snowflake_time_encoder('2026-01-01Z', 'twitter'), 'twitter');
SELECT uuid_v7_time_decoder('not a uuid');

-- Each has a comment, and what it promises. Functions of pg_catalog keep theirs.
RESET search_path;
SELECT p.oid::regprocedure AS function, provolatile, proisstrict, proparallel, procost
FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
WHERE nspname IN ('uuidv7', 'uuid_ossp', 'uuid ''of'' "18" %I $$', 'snowflake', 'pgx_ulid', 'mysql', 'coders') AND obj_description(p.oid) ~ '^(As|Refused|Returns)' ORDER BY nspname, proname, p.oid::regprocedure::text;
SELECT oid::regprocedure, obj_description(oid) FROM pg_proc WHERE oid IN ('pg_catalog.nextval(regclass)'::regprocedure, 'pg_catalog.currval(regclass)'::regprocedure);
SET client_min_messages = warning;
DROP SCHEMA uuidv7, uuid_ossp, "uuid 'of' ""18"" %I $$", snowflake, pgx_ulid, mysql, coders CASCADE;
DROP EXTENSION pg_mint;
