-- The type objectid and its functions.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET timezone = 'UTC';

SELECT typlen, typbyval, typalign, typstorage FROM pg_type WHERE oid = 'objectid'::regtype;
SELECT id, objectid_time(id) AS time, objectid_counter(id) AS counter FROM unnest('{507c7f79bcf86cd7994f6c0e, 507F1F77BCF86CD799439011,
    000000000000000000000000, 7fffffff0000000000000000, 800000000000000000000000, ffffffffffffffffffffffff}'::objectid[]) id;

-- Texts that are no ObjectIDs.
SELECT objectid '56E1FC72E0C917E9C471';
SELECT objectid '507f1f77bcf86cd79943901g';
SELECT objectid ' 507f1f77bcf86cd799439011';
SELECT objectid '507f1f77bcf86cd7994390110';
SELECT objectid '';
SELECT objectid 'twelve bytes';
SELECT '\x507f1f77bcf86cd7994390'::bytea::objectid;
SELECT '\x507f1f77bcf86cd79943901100'::bytea::objectid;
SELECT ''::bytea::objectid;

-- Casts: none is implicit, all work where asked for.
SELECT castsource::regtype, casttarget::regtype, castcontext FROM pg_cast
WHERE 'objectid'::regtype IN (castsource, casttarget) ORDER BY 1, 2;
SELECT objectid '507f1f77bcf86cd799439011'::text, objectid '507f1f77bcf86cd799439011'::bytea,
       text '507F1F77bcf86cd799439011'::objectid, varchar '507f1f77bcf86cd799439011'::objectid, bytea '\x507f1f77bcf86cd799439011'::objectid;
\set VERBOSITY terse
SELECT objectid '507f1f77bcf86cd799439011' = text '507f1f77bcf86cd799439011';
SELECT length(objectid '507f1f77bcf86cd799439011');
\set VERBOSITY default
-- A BSON document, {a: ObjectId(...)}: there and back.
SELECT substring(doc FROM 8 FOR 12)::objectid, '\x14000000076100'::bytea || substring(doc FROM 8 FOR 12)::objectid::bytea || '\x00' = doc AS same
FROM (SELECT '\x1400000007610056E1FC72E0C917E9C471416100'::bytea AS doc) t;

-- ObjectIDs of other times.
SELECT count(DISTINCT id), min(objectid_time(id)), max(objectid_time(id)) FROM (SELECT objectid(timestamptz '2026-01-01 00:00:00.999Z') AS id FROM generate_series(1, 10000)) t;
SELECT objectid_time(objectid(at)) FROM unnest('{1970-01-01Z, 2106-02-07 06:28:15.9Z}'::timestamptz[]) AS at;
SELECT objectid(timestamptz '1969-12-31 23:59:59.9Z');
SELECT objectid(timestamptz '2106-02-07 06:28:16Z');
SELECT objectid(timestamptz 'infinity');
SELECT ulid_time(ulid('2026-01-01 00:00:00.001Z')), ulid(timestamptz '1969-12-31Z');

-- Minting.
SELECT bool_and(id > lag), count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) FROM (SELECT n, objectid() AS id FROM generate_series(1, 100000) n) a) b WHERE lag IS NOT NULL;
SELECT objectid_time(objectid()) BETWEEN date_trunc('second', clock_timestamp()) AND clock_timestamp() + interval '1 second' AS now;
SELECT substring(a::bytea FROM 5 FOR 5) = substring(b::bytea FROM 5 FOR 5) AS process, (objectid_counter(b) - objectid_counter(a)) & 16777215 AS counted
FROM (SELECT objectid() AS a, objectid() AS b) t;
SELECT objectid_legacy_pid(id) = pg_backend_pid() & 65535 AS pid, objectid_legacy_machine(id) = objectid_legacy_machine(objectid_legacy()) AS machine,
       objectid_legacy_machine(id) BETWEEN 0 AND 16777215 AS in_range FROM (SELECT objectid_legacy() AS id) t;
SELECT count(DISTINCT id) FROM (SELECT CASE n % 2 WHEN 0 THEN objectid() ELSE objectid_legacy() END AS id FROM generate_series(1, 20000) n) t;
SELECT objectid_legacy_machine('507f1f77bcf86cd799439011') = x'bcf86c'::int AS machine, objectid_legacy_pid('507f1f77bcf86cd799439011') = x'd799'::int AS pid;
BEGIN READ ONLY;
SELECT objectid() IS NOT NULL AND objectid_legacy() IS NOT NULL AS minted;
COMMIT;

-- Bounds.
SELECT at, objectid_min(at), mint.objectid_min_after(at), mint.objectid_max_before(at), objectid_max(at)
FROM (VALUES (timestamptz '2012-10-17 21:13:27'), ('2012-10-17 21:13:27.000001'), ('1970-01-01'), ('1969-12-31 23:59:59.999999'),
             ('2106-02-07 06:28:15'), ('2106-02-07 06:28:15.5'), ('infinity'), ('-infinity')) t (at);

-- A key can be an ObjectID: of every kind of index, of partitions, in joins and aggregates.
CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), n int, tags objectid[]);
INSERT INTO item (n) SELECT generate_series(1, 5000);
INSERT INTO item (id, n) SELECT substring(decode(md5(n::text), 'hex') FOR 12)::objectid, n FROM generate_series(5001, 10000) n;
SELECT count(*), count(DISTINCT id) FROM item;
INSERT INTO item (id) SELECT id FROM item LIMIT 1 ON CONFLICT DO NOTHING;
ANALYZE item;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM item WHERE id = '507f1f77bcf86cd799439011';
EXPLAIN (COSTS OFF) SELECT * FROM item WHERE id >= objectid_min('2026-01-01') AND id <= objectid_max('2026-01-02');
-- A span of time, inlined to a range of the key; one-sided by an infinity. NULL finds nothing.
EXPLAIN (COSTS OFF) SELECT * FROM item WHERE objectid_between(id, '2026-01-01', '2026-01-02');
SELECT count(*) FILTER (WHERE objectid_between(id, '2000-01-01', '2001-01-01'))
         = count(*) FILTER (WHERE objectid_time(id) >= '2000-01-01' AND objectid_time(id) < '2001-01-01') AS exact,
       count(*) FILTER (WHERE objectid_between(id, '2000-01-01', 'infinity')) = count(*) FILTER (WHERE objectid_time(id) >= '2000-01-01') AS since,
       count(*) FILTER (WHERE objectid_between(id, '-infinity', '2000-01-01')) = count(*) FILTER (WHERE objectid_time(id) < '2000-01-01') AS until,
       count(*) FILTER (WHERE objectid_between(id, '-infinity', 'infinity')) AS all,
       count(*) FILTER (WHERE objectid_between(id, NULL, 'infinity') OR objectid_between(id, '-infinity', NULL)) AS nothing FROM item;
SELECT objectid_between('507f1f77ffffffffffffffff', at, 'infinity') AS since, objectid_between('507f1f770000000000000000', '-infinity', at) AS until
FROM (VALUES (timestamptz '2012-10-17 21:13:27'), ('2012-10-17 21:13:27.000001')) t (at);
-- Sorting by bytes, as the text sorts, whichever way it is sorted.
SELECT (SELECT array_agg(id ORDER BY id) FROM item) = (SELECT array_agg(id ORDER BY id::text COLLATE "C") FROM item) AS sorted,
       (SELECT min(id) FROM item) = (SELECT min(id::text COLLATE "C") FROM item)::objectid AS least,
       (SELECT max(id) FROM item) = (SELECT max(id::text COLLATE "C") FROM item)::objectid AS greatest;
SELECT bool_and((a.id < b.id) = (a.id::text COLLATE "C" < b.id::text) AND (a.id <= b.id) = (a.id::text COLLATE "C" <= b.id::text)
    AND (a.id > b.id) = (a.id::text COLLATE "C" > b.id::text) AND (a.id >= b.id) = (a.id::text COLLATE "C" >= b.id::text)
    AND (a.id = b.id) = (a.id::text = b.id::text) AND (a.id <> b.id) = (a.id::text <> b.id::text)
    AND sign(mint.objectid_cmp(a.id, b.id)) = sign(bttextcmp(a.id::text COLLATE "C", b.id::text))) AS agree
FROM (SELECT id FROM item ORDER BY n % 97 LIMIT 60) a, (SELECT id FROM item ORDER BY n % 97, id LIMIT 60) b;
-- The same 8 first bytes, where the sort's abbreviations do not tell ids apart.
SELECT bool_and(id > lag) FROM (SELECT id, lag(id) OVER (ORDER BY id) FROM
    (SELECT ('\x507f1f77bcf86cd7'::bytea || decode(lpad(to_hex(n * 7919 % 65536), 8, '0'), 'hex'))::objectid AS id FROM generate_series(1, 9999) n) a) b WHERE lag IS NOT NULL;

CREATE TABLE other AS SELECT id, n FROM item;
ANALYZE other;
RESET enable_seqscan; RESET enable_bitmapscan;
SET enable_hashjoin = off; SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM item JOIN other USING (id);
SELECT count(*) FROM item JOIN other USING (id);
RESET enable_hashjoin; SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM item JOIN other USING (id);
SELECT count(*) FROM item JOIN other USING (id);
RESET ALL;
SET timezone = 'UTC';

SET enable_seqscan = off;
CREATE INDEX by_hash ON other USING hash (id);
EXPLAIN (COSTS OFF) SELECT n FROM other WHERE id = '507f1f77bcf86cd799439011';
SELECT count(*) FROM other WHERE id = (SELECT id FROM item WHERE n = 42);
DROP INDEX by_hash;
CREATE INDEX by_range ON other USING brin (id) WITH (pages_per_range = 1);
EXPLAIN (COSTS OFF) SELECT count(*) FROM other WHERE id >= objectid_min('1970-01-01') AND id <= objectid_max('1980-01-01');
SELECT count(*) FROM other WHERE id >= objectid_min('1970-01-01') AND id <= objectid_max('infinity');
SELECT count(*) = 5000 AS minted FROM other WHERE id >= objectid_min(now() - interval '1 hour') AND id <= objectid_max(now() + interval '1 hour') AND n <= 5000;
RESET enable_seqscan;

CREATE TABLE part (id objectid PRIMARY KEY, n int) PARTITION BY HASH (id);
CREATE TABLE part0 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part1 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO part SELECT id, n FROM item;
SELECT count(*), (SELECT count(*) FROM part0) BETWEEN 4500 AND 5500 AS even FROM part;
-- Frozen: a stored hash index and a hash partition depend on it.
SELECT mint.objectid_hash('507f1f77bcf86cd799439011'), mint.objectid_hash_extended('507f1f77bcf86cd799439011', 0), mint.objectid_hash_extended('507f1f77bcf86cd799439011', 1);
CREATE TABLE months (id objectid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE january PARTITION OF months FOR VALUES FROM (objectid_min('2026-01-01')) TO (objectid_min('2026-02-01'));
CREATE TABLE february PARTITION OF months FOR VALUES FROM (objectid_min('2026-02-01')) TO (objectid_min('2026-03-01'));
EXPLAIN (COSTS OFF) SELECT * FROM months WHERE id >= objectid_min('2026-02-01');

-- Parallel aggregates.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT max(id) FROM other;
SELECT max(id) = (SELECT id FROM item ORDER BY id DESC LIMIT 1) AS greatest FROM other;
RESET ALL;
SET timezone = 'UTC';

-- Arrays, and what ORMs send: text of type text, varchar and unknown.
UPDATE item SET tags = (SELECT array_agg(id) FROM (SELECT id FROM other LIMIT 3) t) WHERE n = 1;
SELECT cardinality(tags), tags[1] = ANY (tags) AS member FROM item WHERE n = 1;
SELECT '{507f1f77bcf86cd799439011,NULL}'::objectid[];
PREPARE by_text(text) AS INSERT INTO item (id, n) VALUES ($1, -1);
EXECUTE by_text('507f1f77bcf86cd799439011');
PREPARE by_varchar(varchar) AS UPDATE item SET id = $1 WHERE n = -1;
EXECUTE by_varchar('507F1F77BCF86CD799439012');
SELECT id FROM item WHERE id = '507f1f77bcf86cd799439012';
CREATE TABLE shown (id objectid, at timestamptz GENERATED ALWAYS AS (objectid_time(id)) STORED);
CREATE INDEX ON shown (objectid_counter(id));
INSERT INTO shown VALUES ('507f1f77bcf86cd799439011'), (NULL);
TABLE shown;
COPY shown (id) TO STDOUT;
COPY shown (id) FROM STDIN;
507c7f79bcf86cd7994f6c0e
\.
COPY shown (id) FROM STDIN;
507c7f79bcf86cd7994f6c0
\.
SELECT count(*) FROM shown;
SELECT mint.objectid_send('507f1f77bcf86cd799439011'), pg_column_size(objectid '507f1f77bcf86cd799439011');

DROP TABLE item, other, part, months, shown;
DROP EXTENSION pg_mint;
