-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION objectid_between(
    id objectid, since pg_catalog.timestamptz, until pg_catalog.timestamptz
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(@extschema@.>=) objectid_min(since)
        AND id OPERATOR(@extschema@.<=) objectid_max_before(until);

COMMENT ON FUNCTION objectid_min(timestamptz) IS 'Returns the smallest ObjectID at or after a timestamp';
COMMENT ON FUNCTION objectid_max(timestamptz) IS 'Returns the largest ObjectID at or before a timestamp';
COMMENT ON FUNCTION objectid_min_after(timestamptz) IS 'Returns the smallest ObjectID after a timestamp';
COMMENT ON FUNCTION objectid_max_before(timestamptz) IS 'Returns the largest ObjectID before a timestamp';
COMMENT ON FUNCTION objectid_between(objectid, timestamptz, timestamptz) IS 'Returns whether an ObjectID has a time in a range whose end is excluded';
