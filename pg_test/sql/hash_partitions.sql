-- Ids whose rows are of one partition by hash.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
CREATE TABLE event (id bigint PRIMARY KEY, at timestamptz) PARTITION BY HASH (id);
CREATE TABLE event_0 PARTITION OF event FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE event_1 PARTITION OF event FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE event_2 PARTITION OF event FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE event_3 PARTITION OF event FOR VALUES WITH (MODULUS 4, REMAINDER 3);

INSERT INTO event (id) SELECT snowflake_next_in(5, 4, n % 4) FROM generate_series(0, 3999) n;
SELECT tableoid::regclass AS partition, count(*), count(DISTINCT id), bool_and(snowflake_shard(id) = 5) AS of_shard FROM event GROUP BY 1 ORDER BY 1;

-- As the default of a partition, whose rows are inserted into it.
ALTER TABLE event_2 ALTER id SET DEFAULT snowflake_next_in(5, 4, 2);
INSERT INTO event_2 (at) SELECT now() FROM generate_series(1, 1000);
SELECT count(*) FROM event_2;

-- The node of the server, and other layouts.
SELECT snowflake_next_in(snowflake_own_shard(), 4, 1);
SET pg_mint.node = 9;
SELECT snowflake_shard(id) AS node, satisfies_hash_partition('event'::regclass, 256, 255, id) AS fits FROM snowflake_next_in(snowflake_own_shard(), 256, 255) id;
SELECT snowflake_shard(id, 'twitter') AS node, satisfies_hash_partition('event'::regclass, 1024, 7, id) AS fits
FROM snowflake_next_in(snowflake_own_shard('twitter'), remainder => 7, modulus => 1024, layout => 'twitter') id;
SELECT snowflake_sequence(id, 'mastodon') >= 0 AS has_no_node FROM snowflake_next_in(snowflake_own_shard('mastodon'), 3, 0, 'mastodon') id;
RESET pg_mint.node;

-- Unique, and in one order with all other ids of the shard.
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id <= before) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
      FROM (SELECT n, CASE n % 3 WHEN 0 THEN snowflake_next_id(6) ELSE snowflake_next_in(6, 16, n % 16) END AS id
            FROM generate_series(1, 5000) n) a) b;
SELECT snowflake_next_in(6, 16, 3) = snowflake_last_id() AS last;
-- A modulus of 1 skips nothing.
SELECT max(id) - min(id) < 4000000000 AS near FROM (SELECT snowflake_next_in(0, 1, 0, 'tso') AS id FROM generate_series(1, 1000)) a;

-- UUIDs.
CREATE TABLE doc (id uuid PRIMARY KEY) PARTITION BY HASH (id);
CREATE TABLE doc_0 PARTITION OF doc FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE doc_1 PARTITION OF doc FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE doc_2 PARTITION OF doc FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO doc SELECT uuid_v7_in(3, n % 3) FROM generate_series(0, 2999) n;
SELECT tableoid::regclass AS partition, count(*), count(DISTINCT id), bool_and(uuid_version_of(id) = 7) AS of_version_7 FROM doc GROUP BY 1 ORDER BY 1;
SELECT count(*) FILTER (WHERE id <= before) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
      FROM (SELECT n, CASE n % 3 WHEN 0 THEN uuid_v7() ELSE uuid_v7_in(16, n % 16) END AS id FROM generate_series(1, 5000) n) a) b;
SELECT satisfies_hash_partition('doc'::regclass, 100000, 99999, uuid_v7_in(100000, 99999)) AS fits;

-- Refused.
SELECT snowflake_next_in(5, 0, 0);
SELECT snowflake_next_in(5, -4, 0);
SELECT snowflake_next_in(5, 4, 4);
SELECT snowflake_next_in(5, 4, -1);
SELECT snowflake_next_in(5, 257, 0);
SELECT snowflake_next_in(5, 65, 0, 'sonyflake');
SELECT snowflake_next_in(5, 2147483647, 0);
SELECT snowflake_next_in(5, 2, 0, 'time:40 shard:20 seq:2 epoch:2020-01-01T00:00:00Z');
SELECT snowflake_next_in(8192, 4, 0);
SELECT snowflake_next_in(NULL, 4, 0);
SELECT snowflake_next_in(5, NULL, 0);
SELECT snowflake_next_in(5, 4, NULL);
SELECT snowflake_next_in(5, 4, 0, NULL);
SELECT snowflake_next_in(5, 4, 4);
SELECT uuid_v7_in(0, 0);
SELECT uuid_v7_in(2, 2);
SELECT uuid_v7_in(NULL, 0);
SELECT uuid_v7_in(2, NULL);

-- A default with them is one of a generator.
CREATE TABLE note (id bigserial PRIMARY KEY);
INSERT INTO note DEFAULT VALUES;
ALTER TABLE note ALTER id SET DEFAULT snowflake_next_in(5, 16, 3, 'twitter');
INSERT INTO note DEFAULT VALUES RETURNING satisfies_hash_partition('event'::regclass, 16, 3, id) AS fits;
CREATE TABLE letter (id bigint PRIMARY KEY DEFAULT snowflake_next_in(snowflake_own_shard('discord'), 16, 3, 'discord'), doc uuid UNIQUE DEFAULT uuid_v7_in(3, 0));
SELECT relation, column_name, kind, layout FROM mint.id_columns WHERE relation IN ('note'::regclass, 'letter'::regclass) ORDER BY 1, 2;
DROP TABLE event, doc, note, letter;
DROP EXTENSION pg_mint;
