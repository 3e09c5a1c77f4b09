-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION uuid_v7_between(
    id pg_catalog.uuid, since pg_catalog.timestamptz, until pg_catalog.timestamptz
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(pg_catalog.>=) uuid_v7_min(since) AND id OPERATOR(pg_catalog.<=) uuid_v7_max_before(until);

COMMENT ON FUNCTION uuid_v7_min(timestamptz) IS 'Returns the smallest UUID of version 7 at or after a timestamp';
COMMENT ON FUNCTION uuid_v7_max(timestamptz) IS 'Returns the largest UUID of version 7 at or before a timestamp';
COMMENT ON FUNCTION uuid_v7_min_after(timestamptz) IS 'Returns the smallest UUID of version 7 after a timestamp';
COMMENT ON FUNCTION uuid_v7_max_before(timestamptz) IS 'Returns the largest UUID of version 7 before a timestamp';
COMMENT ON FUNCTION uuid_v7_between(uuid, timestamptz, timestamptz) IS 'Returns whether a UUID of version 7 has a time in a range whose end is excluded';
