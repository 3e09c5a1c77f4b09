-- In SQL and not STRICT, so that the planner inlines them.
CREATE FUNCTION sequence_table(start bigint, stop bigint, step bigint DEFAULT 1) RETURNS TABLE (seq bigint)
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1 ROWS 1000 SUPPORT sequence_table_support
BEGIN ATOMIC
    SELECT generate_series((sequence_table_bounds(start, stop, step))[1],
                           (sequence_table_bounds(start, stop, step))[2],
                           (sequence_table_bounds(start, stop, step))[3]);
END;

CREATE FUNCTION sequence_table(name text) RETURNS TABLE (seq bigint)
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1 ROWS 1000 SUPPORT sequence_table_support
BEGIN ATOMIC
    SELECT generate_series((sequence_table_bounds(name))[1],
                           (sequence_table_bounds(name))[2],
                           (sequence_table_bounds(name))[3]);
END;
