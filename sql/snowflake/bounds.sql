-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION snowflake_between(
    id pg_catalog.int8, since pg_catalog.timestamptz, until pg_catalog.timestamptz,
    layout snowflake_layout DEFAULT 'instagram'
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(pg_catalog.>=) snowflake_min(since, layout)
        AND id OPERATOR(pg_catalog.<=) snowflake_max_before(until, layout);

COMMENT ON FUNCTION snowflake_min(timestamptz, snowflake_layout) IS 'Returns the smallest id at or after a timestamp';
COMMENT ON FUNCTION snowflake_max(timestamptz, snowflake_layout) IS 'Returns the largest id at or before a timestamp';
COMMENT ON FUNCTION snowflake_min_after(timestamptz, snowflake_layout) IS 'Returns the smallest id after a timestamp';
COMMENT ON FUNCTION snowflake_max_before(timestamptz, snowflake_layout) IS 'Returns the largest id before a timestamp';

COMMENT ON FUNCTION snowflake_between(bigint, timestamptz, timestamptz, snowflake_layout) IS 'Returns whether an id has a time in a range whose end is excluded';
