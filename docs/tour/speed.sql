-- Nanoseconds per call, of a query that calls it 300000 times, less what the same
-- query takes with an empty call in it. Seven rounds, each of all candidates in turn, so
-- that a busy time of the machine hits all of them; the fastest counts, being the
-- one that was disturbed least.
SET jit = off;
SET max_parallel_workers_per_gather = 0;

CREATE SCHEMA insta5;
\ir article.sql

CREATE TEMP TABLE candidate (place int, call text, note text);
INSERT INTO candidate VALUES
    (0, 'pg_backend_pid()', 'an empty call: subtracted from the others'),
    (1, 'snowflake_next_id(5)', 'pg_mint: the default of the table above'),
    (2, 'uuid_v7()', 'pg_mint: ascending over all sessions'),
    (3, 'nextval(''insta5.table_id_seq'')', 'PostgreSQL''s sequence: no time, no shard'),
    (4, 'gen_random_uuid()', 'PostgreSQL''s version 4'),
    (5, 'insta5.next_id()', 'the function of Instagram''s article, PL/pgSQL');

CREATE TEMP TABLE measured (place int, ns float8);
DO $$
DECLARE
    c record;
    began timestamptz;
BEGIN
    FOR round IN 0..7 LOOP
        FOR c IN SELECT * FROM candidate ORDER BY place LOOP
            began := clock_timestamp();
            EXECUTE format('SELECT count(%s) FROM generate_series(1, 300000) g', c.call);
            CONTINUE WHEN round = 0;    -- to warm up
            INSERT INTO measured
            VALUES (c.place, extract(epoch FROM clock_timestamp() - began) * 1e9 / 300000);
        END LOOP;
    END LOOP;
END
$$;

WITH fastest AS (
    SELECT place, min(ns) AS ns FROM measured GROUP BY place
), net AS (
    SELECT m.place, m.ns - empty.ns AS ns
    FROM fastest m, fastest empty WHERE empty.place = 0 AND m.place > 0
)
SELECT c.call, round((n.ns / (SELECT ns FROM net WHERE place = 3))::numeric, 2) AS "of nextval",
       round(n.ns) AS ns, c.note
FROM net n JOIN candidate c USING (place) ORDER BY place;
