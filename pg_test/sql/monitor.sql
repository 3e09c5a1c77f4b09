-- Monitoring: what views and checks look like, and which roles may use them. The stories test their values.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;

SELECT check_name FROM mint.health() ORDER BY check_name COLLATE "C";
SELECT count(*), bool_and(status IN ('ok', 'warning', 'critical')) AS known, bool_and((hint IS NULL) = (status = 'ok')) AS hints FROM mint.health();

-- One row, and nothing that decreases.
SELECT count(*) FROM mint.stats;
SELECT snowflakes AS before FROM mint.stats \gset
SELECT count(snowflake_next_id(4711)) FROM generate_series(1, 3);
SELECT snowflakes >= :before + 3 AS counted, lanes > 0 AS has_lanes, max_lanes, max_ceilings, stats_reset <= now() AS since FROM mint.stats;
SELECT family, ids, waits, waited FROM mint.lanes WHERE shard = 4711;
SELECT name, value > now() AS value, ahead > '0' AS ahead, floor < now() AS floor, writes > 0 AS writes, last_write <= clock_timestamp() AS last_write FROM mint.ceilings WHERE database = current_database();
SELECT pg_typeof(mint.reset_stats());

-- For members of pg_monitor, in a read-only transaction too; a reset is for those who are granted it.
CREATE ROLE monitor_watcher;
GRANT pg_monitor TO monitor_watcher;
CREATE ROLE monitor_nobody;
SET ROLE monitor_watcher;
BEGIN READ ONLY;
SELECT count(*) FROM mint.stats;
SELECT count(*) > 0 AS checks FROM mint.health();
COMMIT;
SELECT mint.reset_stats();
SET ROLE monitor_nobody;
SELECT count(*) FROM mint.stats;
SELECT count(*) FROM mint.health();
RESET ROLE;
DROP ROLE monitor_watcher, monitor_nobody;
DROP EXTENSION pg_mint;
