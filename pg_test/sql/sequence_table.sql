-- MariaDB's sequence tables.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;

SELECT name, (SELECT array_agg(seq) FROM sequence_table(name)) AS values
FROM unnest(ARRAY['seq_1_to_5', 'seq_1_to_15_step_3', 'seq_5_to_1_step_2', 'seq_15_to_1_step_12345', 'seq_1_to_1',
                  'seq_15_to_2_step_3', 'seq_0_to_0', 'seq_15_to_1_step_14', 'seq_1_to_15_step_14', 'seq_007_to_009']) name;
SELECT array_agg(seq) FROM sequence_table(15, 2, 3);
SELECT array_agg(seq) FROM sequence_table(1, 5);
SELECT array_agg(seq) FROM sequence_table(stop => 10, start => 1, step => 4);
SELECT array_agg(n) FROM generate_series(15, 2, -3) n;
SELECT mint.sequence_table_bounds(15, 2, 3), mint.sequence_table_bounds('seq_15_to_2_step_3');
SELECT s.seq, t.seq FROM sequence_table(1, 2) s, sequence_table('seq_3_to_4') t;

-- The unsigned range: a name can be of 64 bits where the values are bigints.
SELECT seq FROM sequence_table('seq_9223372036854775806_to_9223372036854775807');
SELECT seq FROM sequence_table('seq_5_to_18446744073709551615_step_18446744073709551615');
SELECT seq FROM sequence_table('seq_1_to_18446744073709551615_step_9223372036854775806') LIMIT 1;
SELECT seq FROM sequence_table('seq_18446744073709551614_to_18446744073709551615');
SELECT seq FROM sequence_table('seq_1_to_18446744073709551616');
SELECT seq FROM sequence_table(9223372036854775807, 0, 9223372036854775807);

-- Names that are no table.
SELECT * FROM sequence_table('seq_1_to_');
SELECT * FROM sequence_table('seq_-5_to_5');
SELECT * FROM sequence_table('seq_+5_to_5');
SELECT * FROM sequence_table('seq_1_to_5_step_');
SELECT * FROM sequence_table('seq_1_to_5_step_2x');
SELECT * FROM sequence_table('seq_1_to_5_step_2_step_2');
SELECT * FROM sequence_table('SEQ_1_to_5');
SELECT * FROM sequence_table('');
SELECT * FROM sequence_table('seq_1_to_5_step_0');
SELECT * FROM sequence_table(1, 5, 0);
SELECT * FROM sequence_table(-1, 5);
SELECT * FROM sequence_table(1, -5);
SELECT * FROM sequence_table(1, 5, -1);
SELECT count(*) FROM sequence_table(NULL);
SELECT count(*) FROM sequence_table(1, NULL);

-- Rows are estimated exactly: in FROM, in the select list, with ordinality, of a parameter.
CREATE FUNCTION estimate(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN format('%s, %s rows', plan->0->'Plan'->>'Node Type', plan->0->'Plan'->>'Plan Rows');
END $$;
PREPARE counted(bigint) AS SELECT * FROM sequence_table(1, $1);
SELECT estimate(query), query FROM unnest(ARRAY[
    $$SELECT * FROM sequence_table('seq_15_to_2_step_3')$$,
    $$SELECT * FROM sequence_table(1, 100000000)$$,
    $$SELECT sequence_table(1, 77)$$,
    $$SELECT sequence_table('seq_1_to_1000_step_10')$$,
    $$SELECT * FROM sequence_table(77, 1, 2) WITH ORDINALITY$$,
    $$SELECT * FROM sequence_table('seq_1_to_77') WITH ORDINALITY$$,
    $$SELECT * FROM sequence_table(1, NULL, 3) WITH ORDINALITY$$,
    $$SELECT * FROM sequence_table('nonsense') WITH ORDINALITY$$,
    $$EXECUTE counted(123)$$]) query;
DROP FUNCTION estimate(text);
DEALLOCATE counted;

-- They stream, in FROM too, and stop when told.
SELECT * FROM sequence_table(1, 9000000000000000000) LIMIT 2;
SELECT sequence_table(9000000000000000000, 1) LIMIT 2;
SELECT n, seq FROM (VALUES (1), (3)) v (n), sequence_table(n, n + 1) ORDER BY seq;
\set VERBOSITY terse
SET statement_timeout = '100ms';
SELECT count(*) FROM sequence_table(1, 9000000000000000000);
SELECT count(*) FROM sequence_table(1, 9000000000000000000) WITH ORDINALITY;
RESET statement_timeout;
\set VERBOSITY default

-- Gaps.
CREATE TABLE ticket (id bigint PRIMARY KEY);
INSERT INTO ticket VALUES (1), (2), (5), (6), (9);
SELECT seq AS missing FROM (SELECT min(id), max(id) FROM ticket) ends, sequence_table(ends.min, ends.max)
WHERE NOT EXISTS (SELECT FROM ticket WHERE id = seq);

-- A view makes it a table of that name.
CREATE VIEW seq_1_to_15_step_3 AS SELECT * FROM sequence_table('seq_1_to_15_step_3');
SELECT count(*), sum(seq) FROM seq_1_to_15_step_3;
DROP VIEW seq_1_to_15_step_3;
DROP TABLE ticket;
DROP EXTENSION pg_mint;
