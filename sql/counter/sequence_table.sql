-- In SQL and not STRICT, so that the planner inlines the calls.
CREATE FUNCTION sequence_table(start pg_catalog.int8, stop pg_catalog.int8, step pg_catalog.int8 DEFAULT 1)
    RETURNS TABLE (seq pg_catalog.int8)
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1 ROWS 1000 SUPPORT mint.sequence_table_support
BEGIN ATOMIC
    SELECT pg_catalog.generate_series((mint.sequence_table_bounds(start, stop, step))[1],
                                      (mint.sequence_table_bounds(start, stop, step))[2],
                                      (mint.sequence_table_bounds(start, stop, step))[3]);
END;

CREATE FUNCTION sequence_table(name pg_catalog.text) RETURNS TABLE (seq pg_catalog.int8)
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1 ROWS 1000 SUPPORT mint.sequence_table_support
BEGIN ATOMIC
    SELECT pg_catalog.generate_series((mint.sequence_table_bounds(name))[1],
                                      (mint.sequence_table_bounds(name))[2],
                                      (mint.sequence_table_bounds(name))[3]);
END;

COMMENT ON FUNCTION sequence_table(bigint, bigint, bigint) IS 'Returns the numbers from start to stop by step, as a sequence table of MariaDB';
COMMENT ON FUNCTION sequence_table(text) IS 'Returns the numbers of the MariaDB sequence table of that name';

COMMENT ON FUNCTION mint.sequence_table_bounds(bigint, bigint, bigint) IS 'Internal: returns the first value, the last value and the step of a sequence table';
COMMENT ON FUNCTION mint.sequence_table_bounds(text) IS 'Internal: returns the first value, the last value and the step of a sequence table';
COMMENT ON FUNCTION mint.sequence_table_support(internal) IS 'Internal: planner support for sequence_table';
REVOKE ALL ON FUNCTION mint.sequence_table_support(internal) FROM PUBLIC;
