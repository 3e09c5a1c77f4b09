-- A tour of pg_mint in a Citus cluster, run by `make citus`: a coordinator and three workers,
-- and ids that no two of them generate. `first` and `second` are hosts of two of the workers.
\set QUIET on
\pset footer off
SET client_min_messages = warning;

\echo
\echo '== The cluster: the number of a node is its group'
\set ECHO queries
CREATE EXTENSION pg_mint;
SELECT groupid, noderole, shouldhaveshards FROM pg_dist_node ORDER BY groupid;

CREATE TABLE source (author bigint PRIMARY KEY);
SELECT create_distributed_table('source', 'author');
INSERT INTO source SELECT n FROM generate_series(1, 1000) AS n;

CREATE TABLE event (
    id     bigint NOT NULL DEFAULT snowflake_next('twitter'),
    tenant bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
SELECT create_distributed_table('event', 'tenant');
\set ECHO none

\echo
\echo '== Rows from the coordinator: one, many, and a SELECT that the workers carry out'
\set ECHO queries
INSERT INTO event (tenant) VALUES (1);
INSERT INTO event (tenant) VALUES (1), (2), (3), (4), (5);
INSERT INTO event (tenant) SELECT author FROM source;
\set ECHO none

\echo
\echo '== The same from two workers'
\connect - - :first
SET client_min_messages = warning;
\set ECHO queries
INSERT INTO event (tenant) SELECT n FROM generate_series(1, 500) AS n;
INSERT INTO event (tenant) SELECT author FROM source;
\set ECHO none
\connect - - :second
\set ECHO queries
INSERT INTO event (tenant) SELECT n FROM generate_series(1, 500) AS n;
\set ECHO none

\echo
\echo '== Ids per node, and none twice'
\set ECHO queries
SELECT snowflake_shard(id, 'twitter') AS node, count(*) FROM event GROUP BY 1 ORDER BY 1;
SELECT count(*), count(DISTINCT id) AS different FROM event;
\set ECHO none

\echo
\echo '== A period of time: each shard uses its index'
\set ECHO queries
SELECT count(*) FROM event WHERE snowflake_time(id, 'twitter') > now() - interval '1 minute';
\set ECHO none
