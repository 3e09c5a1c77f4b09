-- UUIDs of every version. The ids themselves differ from run to run: their parts do not.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';

SELECT v, uuid_version_of(id) AS version, uuid_variant(id) AS variant,
       uuid_time(id) BETWEEN clock_timestamp() - interval '8 minutes' AND clock_timestamp() + interval '1 second' AS now,
       uuid_node(id) = uuid_node(uuid_v1()) AS node, trunc(uuid_node(id)) IS NOT NULL AS has_node,
       v = 2 OR uuid_clock_sequence(id) = uuid_clock_sequence(uuid_v1()) AS clock_sequence, uuid_domain(id) AS domain, uuid_local_id(id) AS local_id
FROM (VALUES (1, uuid_v1()), (2, uuid_v2('group', 501)), (3, uuid_v3('dns', 'a')), (4, uuid_v4()), (5, uuid_v5('dns', 'a')),
             (6, uuid_v6()), (7, uuid_v7()), (8, uuid_v8('\x00112233445566778899aabbccddeeff')), (0, uuid_nil_value()), (15, uuid_max_value())) t (v, id);

-- The versions that sort by time: each above the one before, in a statement and over statements.
SELECT bool_and(id > lag) FROM (SELECT id, lag(id) OVER (ORDER BY n) FROM (SELECT n, uuid_v7() AS id FROM generate_series(1, 20000) n) a) b WHERE lag IS NOT NULL;
SELECT bool_and(id > lag) FROM (SELECT id, lag(id) OVER (ORDER BY n) FROM (SELECT n, uuid_v6() AS id FROM generate_series(1, 20000) n) a) b WHERE lag IS NOT NULL;
SELECT bool_and(id > lag) FROM (SELECT id, lag(id) OVER (ORDER BY n) FROM (SELECT n, uuid_v1_to_v6(uuid_v1()) AS id FROM generate_series(1, 20000) n) a) b WHERE lag IS NOT NULL;
SELECT uuid_v6() < uuid_v6() AS v6, uuid_v7() < uuid_v7() AS v7, uuid_v1() <> uuid_v1() AS v1, uuid_v4() <> uuid_v4() AS v4;
SELECT count(DISTINCT id) FROM (SELECT uuid_v4() AS id FROM generate_series(1, 100000)) t;
-- In a read-only transaction.
BEGIN READ ONLY;
SELECT uuid_v1() IS NOT NULL AND uuid_v6() IS NOT NULL AND uuid_v7() IS NOT NULL AND uuid_v2(0, 1) IS NOT NULL AS minted;
COMMIT;

-- Names, as contrib/uuid-ossp and RFC 9562 have them.
SELECT uuid_v3('dns', 'www.widgets.com'), uuid_v5('dns', 'www.widgets.com');
SELECT uuid_v3('dns', 'www.example.com'), uuid_v5('dns', 'www.example.com');
SELECT uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com') = uuid_v5('DNS', 'www.example.com') AS text,
       uuid_v5(uuid '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com') = uuid_v5('dns', 'www.example.com') AS uuid,
       uuid_v3(uuid '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com') = uuid_v3('dns', 'www.example.com') AS uuid3;
SELECT ns, uuid_v5(ns, '') AS of_nothing, uuid_v3(ns, 'Zürich') AS zurich FROM unnest('{dns,url,oid,x500}'::text[]) ns;
SELECT uuid_v5(NULL::text, 'a') IS NULL AND uuid_v5('dns', NULL) IS NULL AS strict;
SELECT uuid_v5('dnss', 'a');
SELECT uuid_v3('', 'a');

-- Version 8: the RFC's examples, of a time and of SHA-256.
SELECT uuid_v8('\x2489e9ad2ee20e000ec932d5f69181c0'),
       uuid_v8(substring(sha256(uuid_send('6ba7b810-9dad-11d1-80b4-00c04fd430c8') || 'www.example.com') FOR 16));
SELECT uuid_v8('\x00');
SELECT uuid_v8('');
SELECT uuid_v8('\x0000000000000000000000000000000000');

-- Version 2 has 64 ids in 7 minutes for a local id, and 64 of the next window.
SELECT uuid_v2('person', 0) IS NOT NULL AND uuid_v2('org', 4294967295) IS NOT NULL AND uuid_v2(255, 7) IS NOT NULL AND uuid_v2('17', 7) IS NOT NULL AS ok;
SELECT uuid_domain(uuid_v2(2, 9)) AS two, uuid_domain(uuid_v2('3', 9)) AS three, uuid_local_id(uuid_v2(2, 4294967295)) AS local_id;
SELECT count(DISTINCT uuid_v2('person', extract(epoch FROM now())::bigint)) FROM generate_series(1, 128);
SELECT uuid_v2('nobody', 1);
SELECT uuid_v2('256', 1);
SELECT uuid_v2(-1, 1);
SELECT uuid_v2(256, 1);
SELECT uuid_v2('person', -1);
SELECT uuid_v2('person', 4294967296);
DO $$
BEGIN
    -- In two windows, should one end now.
    PERFORM uuid_v2('group', 4711) FROM generate_series(1, 193);
    RAISE 'not refused';
EXCEPTION WHEN sequence_generator_limit_exceeded THEN
    RAISE NOTICE '%', sqlerrm;
END
$$;

-- Inspection of ids that others minted.
SELECT id, uuid_version_of(id) AS version, uuid_time(id) AS time,
    uuid_v7_time(id) IS NOT DISTINCT FROM CASE uuid_version_of(id) WHEN 7 THEN uuid_time(id) END AS v7_time,
    uuid_node(id) AS node, uuid_clock_sequence(id) AS clock_sequence,
       uuid_domain(id) AS domain, uuid_local_id(id) AS local_id
FROM unnest('{c232ab00-9414-11ec-b3c8-9f6bdeced846, 1ec9414c-232a-6b00-b3c8-9f6bdeced846, 017f22e2-79b0-7cc3-98c4-dc0c0c07398f,
    6ccd780c-baba-1026-9564-5b8c656024db, 000001f5-5e9a-21ea-9e00-0242ac130003, 919108f7-52d1-4320-9bac-f847db4148a8,
    00000000-0000-0000-0000-000000000000, ffffffff-ffff-ffff-ffff-ffffffffffff, 00000000-0000-1000-0000-000000000000,
    00000000-0000-7000-c000-000000000000, ffffffff-ffff-1fff-bfff-ffffffffffff, 00000000-0000-1000-8000-000000000000,
    ffffffff-ffff-7fff-bfff-ffffffffffff, 00000000-0000-f000-8000-000000000000}'::uuid[]) id;
SELECT uuid_variant('00000000-0000-7000-c000-000000000000'), uuid_variant('00000000-0000-1000-0000-000000000000');
SELECT uuid_v1_to_v6('c232ab00-9414-11ec-b3c8-9f6bdeced846'), uuid_v6_to_v1('1ec9414c-232a-6b00-b3c8-9f6bdeced846');
SELECT uuid_v1_to_v6('1ec9414c-232a-6b00-b3c8-9f6bdeced846');
SELECT uuid_v6_to_v1('ffffffff-ffff-ffff-ffff-ffffffffffff');

-- Version 7 of other times, and bounds.
SELECT uuid_time(uuid_v7(at)), uuid_version_of(uuid_v7(at)), uuid_v7(at) BETWEEN uuid_v7_min(uuid_time(uuid_v7(at))) AND uuid_v7_max(at) AS within
FROM (VALUES (timestamptz '1970-01-01'), ('2022-02-22 19:22:22.123999'), ('10889-08-02 05:31:50.655999')) t (at);
SELECT bool_and(uuid_v7(at) < uuid_v7(at + interval '1 us')) FROM generate_series(timestamptz '2026-01-01', '2026-01-01 00:00:00.01', '1 us') at;
SELECT uuid_v7('1969-12-31 23:59:59.999999');
SELECT uuid_v7('10889-08-02 05:31:50.656');
SELECT uuid_v7('infinity');
SELECT uuid_v7('-infinity');
SELECT at, uuid_v7_min(at), mint.uuid_v7_min_after(at), mint.uuid_v7_max_before(at), uuid_v7_max(at)
FROM (VALUES (timestamptz '2022-02-22 19:22:22'), ('2022-02-22 19:22:22.000001'), ('1970-01-01'), ('1969-12-31 23:59:59.999999'),
             ('10889-08-02 05:31:50.655'), ('10889-08-02 05:31:50.6551'), ('infinity'), ('-infinity')) t (at);
CREATE TABLE event (id uuid PRIMARY KEY, n int);
INSERT INTO event SELECT uuid_v7(timestamptz '2026-01-01' + n * interval '1 minute'), n FROM generate_series(0, 9999) n;
ANALYZE event;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM event WHERE id >= uuid_v7_min('2026-01-02') AND id < uuid_v7_min('2026-01-03');
SELECT count(*), min(n), max(n) FROM event WHERE id >= uuid_v7_min('2026-01-02') AND id < uuid_v7_min('2026-01-03');
SELECT count(*) FROM event WHERE id <= uuid_v7_max('2026-01-01 00:10:00') AND id >= uuid_v7_min('-infinity');
SELECT count(*) FROM event WHERE id >= uuid_v7_min('infinity');
-- A span of time, inlined to a range of the key; one-sided by an infinity. NULL finds nothing.
EXPLAIN (COSTS OFF) SELECT * FROM event WHERE uuid_v7_between(id, '2026-01-02', '2026-01-03');
SELECT count(*), min(n), max(n) FROM event WHERE uuid_v7_between(id, '2026-01-02', '2026-01-03');
SELECT count(*) FILTER (WHERE uuid_v7_between(id, '2026-01-02', 'infinity')) AS since, count(*) FILTER (WHERE uuid_v7_between(id, '-infinity', '2026-01-02')) AS until,
       count(*) FILTER (WHERE uuid_v7_between(id, '-infinity', 'infinity')) AS all,
       count(*) FILTER (WHERE uuid_v7_between(id, NULL, 'infinity') OR uuid_v7_between(id, '-infinity', NULL)) AS nothing FROM event;
SET plan_cache_mode = force_generic_plan;
PREPARE span(timestamptz, timestamptz) AS SELECT count(*) FROM event WHERE uuid_v7_between(id, $1, $2);
EXPLAIN (COSTS OFF) EXECUTE span('2026-01-02', '2026-01-03');
EXECUTE span('2026-01-02', '2026-01-03');
RESET plan_cache_mode;

-- MySQL's functions: the manual's and mysql-test's examples.
SELECT uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db'), uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 0),
       uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 1), uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', true);
SELECT bin_to_uuid('\x7f9d04ae61b34468ac798ffcc984ab68', 1), bin_to_uuid('\xe60c88ba083f4cebbe59f67636d718a2', true),
       bin_to_uuid('\x6ccd780cbaba102695645b8c656024db'), bin_to_uuid(uuid_to_bin('{C8EB4B15-CB09-48BB-BBB2-E6A0B6B4D5C7}', 7), 2);
SELECT text, is_uuid(text) FROM (VALUES ('{12345678-1234-5678-1234-567812345678}'), ('12345678-1234-5678-1234-567812345678'),
    ('12345678123456781234567812345678'), ('{12345678123456781234567812345678}'), ('{12345678-12345678-1234-567812345678}'),
    ('12345678-123456-78-1234-567812345678'), ('9912345678123456781234567812345678'), ('1234-5678-1234-5678-1234-5678-1234-5678'),
    ('urn:uuid:12345678-1234-5678-1234-567812345678'), ('ABCDEF78-1234-5678-1234-567812345678'), ('g2345678-1234-5678-1234-567812345678'), ('')) t (text);
SELECT is_uuid(NULL) IS NULL AND uuid_to_bin(NULL) IS NULL AND bin_to_uuid(NULL) IS NULL AS nulls;
SELECT uuid_to_bin('c8eb4b15-cb09-48bb-bbb2-e6a0b6b4d5cc7');
SELECT uuid_to_bin('');
SELECT bin_to_uuid('\x00');
SELECT bin_to_uuid('\x', 1);

-- Generated columns and expression indexes accept what only computes.
CREATE TABLE shown (
    id uuid PRIMARY KEY,
    at timestamptz GENERATED ALWAYS AS (uuid_time(id)) STORED,
    stored bytea GENERATED ALWAYS AS (uuid_to_bin(id, true)) STORED,
    named uuid GENERATED ALWAYS AS (uuid_v5(id, 'x')) STORED
);
CREATE INDEX ON shown (uuid_version_of(id), uuid_node(id), uuid_clock_sequence(id));
CREATE INDEX ON shown (bin_to_uuid(stored, true));
INSERT INTO shown VALUES ('c232ab00-9414-11ec-b3c8-9f6bdeced846');
TABLE shown;
INSERT INTO shown VALUES (uuid_v7()), (uuid_v4());

-- The node of versions 1, 2 and 6.
SELECT (get_byte(uuid_send(uuid_v1()), 10) & 1) = 1 AS multicast;
SET pg_mint.uuid_node = '00:50:56:21:93:95';
SELECT uuid_node(uuid_v1()), uuid_node(uuid_v6()), uuid_node(uuid_v2('org', 1));
SET pg_mint.uuid_node = '00-50-56-21-93-96';
SELECT uuid_node(uuid_v1());
SET pg_mint.uuid_node = '00:50:56:21:93';
SET pg_mint.uuid_node = '00:50:56:21:93:95:00';
SET pg_mint.uuid_node = 'host';
SET pg_mint.uuid_node = 'random';
SELECT uuid_node(uuid_v1()) IN ('00:50:56:21:93:95', '00:50:56:21:93:96') AS fixed, (get_byte(uuid_send(uuid_v1()), 10) & 1) = 1 AS multicast;
CREATE ROLE regress_mint_user;
SET ROLE regress_mint_user;
SET pg_mint.uuid_node = 'mac';
SELECT uuid_v1() IS NOT NULL AS minted;
RESET ROLE;
DROP ROLE regress_mint_user;

DROP TABLE event, shown;
DROP EXTENSION pg_mint;
