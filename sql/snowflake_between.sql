-- In SQL and not STRICT, so that the planner inlines it and sees a plain range of the key.
CREATE FUNCTION snowflake_between(
    id bigint, since timestamptz, until timestamptz, layout snowflake_layout DEFAULT 'instagram'
) RETURNS boolean
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id >= snowflake_min(since, layout) AND id <= snowflake_max_before(until, layout);
