-- ULIDs: text of a UUID's 128 bits.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET TimeZone = 'UTC';

-- The specification's examples, pgx_ulid's and oklog's.
SELECT ulid, ulid_to_uuid(ulid) AS id, ulid_time(ulid), uuid_to_ulid(ulid_to_uuid(ulid)) = ulid AS back,
       ulid_to_uuid(lower(ulid)) = ulid_to_uuid(ulid) AS lower_case, ulid_time(ulid_to_uuid(ulid)) = ulid_time(ulid) AS same_time
FROM unnest(ARRAY['01ARZ3NDEKTSV4RRFFQ69G5FAV', '01BX5ZZKBKACTAV9WEVGEMMVRZ', '01GV5PA9EQG7D82Q3Y4PKBZSYV', '0000XSNJG0MQJHBF4QX1EFD6Y3',
                  '00000000000000000000000000', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) ulid;
SELECT uuid_to_ulid(ulid_min('2023-03-10 12:00:49.111+00')), uuid_to_ulid(ulid_max('2023-03-10 12:00:49.111+00'));
-- Any UUID has one.
SELECT uuid_to_ulid('2ed6657d-e927-568b-95e1-2665a8aea6a2'), uuid_to_ulid('2ed6657d-e927-568b-95e1-2665a8aea6a2') = uuid_to_text('2ed6657d-e927-568b-95e1-2665a8aea6a2', 'crockford') AS crockford;

-- Texts that are no ULIDs.
SELECT ulid_to_uuid('80000000000000000000000000');
SELECT ulid_time('ZZZZZZZZZZZZZZZZZZZZZZZZZZ');
SELECT ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FA');
SELECT ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV0');
SELECT ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAU');
SELECT ulid_to_uuid('O1ARZ3NDEKTSV4RRFFQ69G5FAV');
SELECT ulid_to_uuid('01ARZ3NDEK-TSV4RRFFQ69G5FAV');
SELECT ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAé');
SELECT ulid_to_uuid('');
SELECT ulid_to_uuid(NULL), uuid_to_ulid(NULL), ulid_time(NULL::text), ulid_time(NULL::uuid), ulid_min(NULL);

-- New ones ascend, of the lane of version 7, and have its time.
SELECT count(DISTINCT id) = 10000 AS distinct, bool_and(ok) AS ascending, bool_and(uuid_version_of(ulid_to_uuid(id)) = 7) AS of_version_7,
       bool_and(abs(extract(epoch FROM ulid_time(id) - clock_timestamp())) < 60) AS now, bool_and(length(id) = 26) AS length
FROM (SELECT id, id > lag(id, 1, '') OVER (ORDER BY n) AS ok FROM (SELECT n, ulid() COLLATE "C" AS id FROM generate_series(1, 10000) n) ids) ids;
SELECT count(*) AS out_of_order FROM (SELECT uuid_v7() AS a, ulid_to_uuid(ulid()) AS b, uuid_v7() AS c FROM generate_series(1, 10000)) ids WHERE a >= b OR b >= c;

-- The edge of a range: the ULIDs of the very millisecond of a bound, which the bounds of version 7 leave out in part.
CREATE TABLE event (id uuid PRIMARY KEY, at timestamptz);
INSERT INTO event SELECT ('0186cb6525d7' || left(md5(n::text), 20))::uuid, '2023-03-10 12:00:49.111+00' FROM generate_series(1, 10000) n;
INSERT INTO event SELECT ulid_to_uuid('01GV5PA9EQ' || digit || 'ZZZZZZZZZZZZZZZ'), '2023-03-10 12:00:49.111+00'
    FROM regexp_split_to_table('0123456789ABCDEFGHJKMNPQRSTVWXYZ', '') digit ON CONFLICT DO NOTHING;
INSERT INTO event SELECT uuid_v7('2023-03-10 12:00:49.111+00'), '2023-03-10 12:00:49.111+00' FROM generate_series(1, 100);
INSERT INTO event SELECT mint.ulid_min_after('2023-03-10 12:00:49.111+00'), '2023-03-10 12:00:49.112+00';
INSERT INTO event SELECT mint.ulid_max_before('2023-03-10 12:00:49.111+00'), '2023-03-10 12:00:49.110+00';
SELECT bool_and(ulid_time(id) = at) FROM event;
SELECT count(*) AS rows, count(*) FILTER (WHERE id >= ulid_min(at) AND id <= ulid_max(at)) AS within,
       count(*) FILTER (WHERE id < uuid_v7_min(at)) AS below_version_7, count(*) FILTER (WHERE id > uuid_v7_max(at)) AS above_version_7
FROM event WHERE at = '2023-03-10 12:00:49.111+00';
SELECT count(*) FROM event WHERE ulid_between(id, '2023-03-10 12:00:49.111+00', '2023-03-10 12:00:49.112+00');
SELECT count(*) FROM event WHERE ulid_between(id, '-infinity', '2023-03-10 12:00:49.111+00');
SELECT count(*) FROM event WHERE ulid_between(id, '2023-03-10 12:00:49.1111+00', 'infinity');
SELECT count(*) FROM event WHERE ulid_between(id, NULL, 'infinity');
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM event WHERE ulid_between(id, '2023-03-10 12:00:49.111+00', '2023-03-10 12:00:49.112+00');
RESET enable_seqscan;
SELECT ulid_min('-infinity'), ulid_max('-infinity'), ulid_min('infinity'), ulid_max('infinity'), mint.ulid_max_before('1970-01-01');

DROP TABLE event;
DROP EXTENSION pg_mint;
