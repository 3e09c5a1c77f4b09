-- A tour of pg_mint, run by `make run` in a database of its own: the table of README.md, from several sessions at once,
-- and through a crash.
\set QUIET on
\pset footer off
SET client_min_messages = warning;

\echo
\echo '== The table, with ids that carry their shard, 5, and their time'
\set ECHO queries
CREATE EXTENSION pg_mint;
CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text);
INSERT INTO message (body) VALUES ('hello'), ('world');
SELECT message.*, at, shard, sequence FROM message, snowflake_decode(id);
\set ECHO none
\echo '== Four sessions at once, 2500 transactions of ten rows each: no id twice'
\! pgbench -n -c 4 -j 2 -t 2500 -f insert.sql 2>&1 | grep -E 'tps|rror'
\set ECHO queries
SELECT count(*), count(DISTINCT id) AS distinct_ids FROM message;
\set ECHO none
\echo '== The newest rows: a condition on the time is a range of the key'
VACUUM ANALYZE message;
\set ECHO queries
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE snowflake_time(id) > now() - interval '100 milliseconds';
\set ECHO none
\echo '== kill -9 of a session, after which the server recovers: the next id is above all others'
SELECT pg_backend_pid() AS pid \gset
\setenv PID :pid
\! kill -9 $PID; until pg_isready -q; do sleep 0.1; done
\connect
\set ECHO queries
SELECT max(id) AS before, snowflake_next_id(5) AS next, snowflake_next_id(5) > max(id) AS is_above FROM message;
\set ECHO none
\echo '== What is this id? A tweet, one of MongoDB, a TypeID, a photo of Instagram'
\set ECHO queries
SELECT id, it.format, it.time
FROM unnest('{850007368138018817,507f1f77bcf86cd799439011,user_01h455vb4pex5vsknk084sn02q,BsOGulcndj-}'::text[]) id,
     LATERAL (SELECT * FROM id_inspect(id) LIMIT 1) it;
\set ECHO none
\echo '== What an id costs: fastest of 7 rounds of 300000 calls each, one session'
\ir speed.sql
