-- TiDB: scattering by digits, AUTO_RANDOM, and what its sequences do.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;

-- The article's table, and what its sample code could not do.
SELECT id, snowflake_scatter(id) AS scattered, snowflake_unscatter(snowflake_scatter(id)) = id AS back
FROM unnest(ARRAY[561632371724517376, 561632371728711681, 561632371732905984, 561632371732905986, 561632371732905988, 7, 0, 10, -1234]) id;
SELECT snowflake_scatter(561632371724517376, digits => 3), snowflake_unscatter(537656163237172451, 3), snowflake_scatter(12, 18);
SELECT snowflake_scatter(9000000000000000009);
SELECT snowflake_unscatter(9090000000000000000);
SELECT snowflake_scatter(-9000000000000000009);
SELECT snowflake_scatter(-9223372036854775808, 2);
SELECT snowflake_scatter(1, 0);
SELECT snowflake_scatter(1, 19);
SELECT snowflake_scatter(NULL), snowflake_unscatter(1, NULL);

-- A permutation of the ids of each length.
SELECT count(*), count(DISTINCT snowflake_scatter(id, 2)), bool_and(snowflake_unscatter(snowflake_scatter(id, 2), 2) = id) FROM generate_series(1::bigint, 123456) id;

-- Documented ids of TiDB.
SELECT id, auto_random_shard(id) AS shard, auto_random_value(id) AS value
FROM unnest(ARRAY[1152921504606846978, 4899916394579099651]) id;
SELECT auto_random_value(auto_random(288230376151711743));
SELECT auto_random(288230376151711744);
SELECT auto_random(-1);
SELECT auto_random_value(9007199254740991, 5, 54), auto_random_shard(9007199254740991, 5, 54);
SELECT auto_random_value(9007199254740992, 5, 54);
SELECT auto_random_shard(-1);
SELECT auto_random(1, 0);
SELECT auto_random(1, 16);
SELECT auto_random(1, 5, 31);
SELECT auto_random(1, 5, 65);
SELECT auto_random(NULL);

-- One shard in a transaction, and others in others.
CREATE TABLE item (id bigint PRIMARY KEY, row_id bigint GENERATED ALWAYS AS IDENTITY);
CREATE SEQUENCE item_id;
ALTER TABLE item ALTER id SET DEFAULT auto_random(nextval('item_id'));
BEGIN;
INSERT INTO item DEFAULT VALUES;
INSERT INTO item SELECT FROM generate_series(1, 99);
SELECT count(DISTINCT auto_random_shard(id)) AS shards, count(DISTINCT auto_random_value(id)) AS values FROM item;
COMMIT;
CREATE PROCEDURE many() LANGUAGE plpgsql AS $$ BEGIN FOR n IN 1..200 LOOP INSERT INTO item DEFAULT VALUES; COMMIT; END LOOP; END $$;
CALL many();
SELECT count(DISTINCT auto_random_shard(id)) > 20 AS many_shards, count(*), max(auto_random_value(id)) FROM item;
DROP PROCEDURE many();

-- Workers draw the shard of their transaction.
CREATE TABLE big AS SELECT n FROM generate_series(1, 100000) n;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;
BEGIN;
EXPLAIN (COSTS OFF) SELECT count(*) FROM big WHERE auto_random(n) > 0;
SELECT auto_random_shard(id) = auto_random_shard(auto_random(1)) AS the_leaders
FROM (SELECT DISTINCT auto_random(0) AS id FROM big WHERE auto_random(n) > 0) w;
SELECT count(DISTINCT auto_random_shard(auto_random(n))) FROM big;
COMMIT;

-- TiDB's sequences next to PostgreSQL's: after setval ours continue from the value, theirs in their progression.
CREATE SEQUENCE odd START 3 INCREMENT 2 MINVALUE 1 MAXVALUE 10 CACHE 3;
SELECT nextval('odd');
SELECT setval('odd', 6);
SELECT nextval('odd');
SELECT nextval('odd');
SELECT nextval('odd');
SELECT setval('odd', 5);
SELECT nextval('odd'), nextval('odd');
SELECT nextval('odd');
-- AUTO_ID_CACHE 100: what a session had taken is gone with it.
CREATE SEQUENCE cached CACHE 100;
SELECT nextval('cached');
\c
SELECT nextval('cached');
DROP TABLE item, big;
DROP SEQUENCE item_id, odd, cached;
DROP EXTENSION pg_mint;
