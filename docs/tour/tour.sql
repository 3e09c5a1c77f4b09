-- A tour of pg_mint, run by `make run` in a database of its own: the sharded ids
-- of Instagram's article (2012), from several sessions at once.
\set QUIET on
\pset footer off
SET client_min_messages = warning;

\echo
\echo '== A logical shard, as in the article: its ids carry its number, 5'
\set ECHO queries
CREATE EXTENSION pg_mint;
CREATE SCHEMA insta5;
CREATE TABLE insta5.our_table (
    id      bigint PRIMARY KEY DEFAULT snowflake_next_id(5),
    payload text
);
\set ECHO none

\echo
\echo '== Four sessions at once, 2500 transactions of ten rows each'
\! pgbench -n -c 4 -j 2 -t 2500 -f insert.sql 2>&1 | grep -E 'actually processed|tps|rror'

\echo
\echo '== Some of the ids, and what they are made of'
\set ECHO queries
SELECT id, at, shard, sequence FROM insta5.our_table, snowflake_decode(id) ORDER BY id LIMIT 5;
\set ECHO none
\echo
\set ECHO queries
SELECT count(*), count(DISTINCT id) AS distinct_ids, max(part.at) - min(part.at) AS took
FROM insta5.our_table, snowflake_decode(id) part;
\set ECHO none

\echo
\echo '== The rows of the last minute, by the index of the primary key'
ANALYZE insta5.our_table;
\set ECHO queries
SELECT count(*) FROM insta5.our_table WHERE snowflake_time(id) > now() - interval '1 minute';
\set ECHO none
\pset tuples_only on
\set ECHO queries
EXPLAIN (COSTS OFF) SELECT * FROM insta5.our_table
WHERE snowflake_time(id) > now() - interval '1 minute' ORDER BY id DESC LIMIT 10;
\set ECHO none
\pset tuples_only off

\echo
\echo '== What is this id? A tweet, one of MongoDB, a TypeID, a photo of Instagram'
\set ECHO queries
SELECT id, it.format, it.version, it.time, it.node
FROM unnest(ARRAY['850007368138018817', '507f1f77bcf86cd799439011', 'user_01h455vb4pex5vsknk084sn02q', 'BsOGulcndj-']) id,
     LATERAL (SELECT * FROM id_inspect(id) LIMIT 1) it;
\set ECHO none

\echo
\echo '== What an id costs: fastest of 7 rounds of 300000 calls each, one session'
\ir speed.sql
