-- Every utility statement of a session passes through the library once it is loaded. It must come out as it went in.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
LOAD 'pg_mint';
CREATE TABLE thing (n int CONSTRAINT positive CHECK (n > 0));

CREATE FUNCTION what_it_raises(statement text) RETURNS TABLE (part text, said text) LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text; context text;
    schema_name text; table_name text; column_name text; constraint_name text; datatype_name text;
BEGIN
    EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT, schema_name = SCHEMA_NAME, table_name = TABLE_NAME,
        column_name = COLUMN_NAME, constraint_name = CONSTRAINT_NAME, datatype_name = PG_DATATYPE_NAME;
    RETURN QUERY VALUES ('state', state), ('message', message), ('detail', detail), ('hint', hint),
        ('context', split_part(context, E'\n', 1)), ('schema', schema_name), ('table', table_name),
        ('column', column_name), ('constraint', constraint_name), ('datatype', datatype_name);
END
$$;

SELECT * FROM what_it_raises($$
    DO 'BEGIN RAISE ''no'' USING ERRCODE = ''ZZ001'', DETAIL = ''d'', HINT = ''h'', SCHEMA = ''s'', TABLE = ''t'',
        COLUMN = ''c'', CONSTRAINT = ''k'', DATATYPE = ''y''; END'
$$);
INSERT INTO thing VALUES (20);
SELECT * FROM what_it_raises('ALTER TABLE thing ADD CONSTRAINT small CHECK (n < 10)') WHERE said <> '';
-- Where in the statement, and where in the data.
CREATE VIEW thing_view AS SELECT nothing FROM thing;
COPY thing FROM STDIN;
1
-1
\.
DROP TABLE thing;
DROP FUNCTION what_it_raises;

-- A size of shared memory can be changed while it is in use.
SELECT snowflake_shard(snowflake_next_id(5));
ALTER SYSTEM SET pg_mint.max_lanes = 100;
ALTER SYSTEM SET pg_mint.max_lanes = 8192;
ALTER SYSTEM SET pg_mint.max_lanes = 1;
ALTER SYSTEM RESET pg_mint.max_lanes;
ALTER SYSTEM SET pg_mint.max_jump = '2h';
ALTER SYSTEM RESET pg_mint.max_jump;
CREATE SEQUENCE used;
SELECT segment_next('used'), user_sequence_create('users');
SELECT user_sequence_next('users', 1);
ALTER SYSTEM SET pg_mint.max_segments = 100;
ALTER SYSTEM SET pg_mint.max_sections = 100;
ALTER SYSTEM SET pg_mint.user_memory = '1MB';
ALTER SYSTEM RESET ALL;
SELECT user_sequence_drop('users');
DROP SEQUENCE used;
DROP EXTENSION pg_mint;
