-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION ulid_between(
    id pg_catalog.uuid, since pg_catalog.timestamptz, until pg_catalog.timestamptz
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(pg_catalog.>=) ulid_min(since) AND id OPERATOR(pg_catalog.<=) ulid_max_before(until);

COMMENT ON FUNCTION ulid_to_uuid(text) IS 'Returns the UUID with the same bits as a ULID';
COMMENT ON FUNCTION uuid_to_ulid(uuid) IS 'Returns the ULID with the same bits as a UUID';
COMMENT ON FUNCTION ulid_time(text) IS 'Returns when a ULID was generated';
COMMENT ON FUNCTION ulid_time(uuid) IS 'Returns when a ULID that is stored as a UUID was generated';
COMMENT ON FUNCTION ulid_min(timestamptz) IS 'Returns the smallest ULID at or after a timestamp, as a UUID';
COMMENT ON FUNCTION ulid_max(timestamptz) IS 'Returns the largest ULID at or before a timestamp, as a UUID';
COMMENT ON FUNCTION ulid_min_after(timestamptz) IS 'Returns the smallest ULID after a timestamp, as a UUID';
COMMENT ON FUNCTION ulid_max_before(timestamptz) IS 'Returns the largest ULID before a timestamp, as a UUID';
COMMENT ON FUNCTION ulid_between(uuid, timestamptz, timestamptz) IS 'Returns whether a ULID that is stored as a UUID has a time in a range whose end is excluded';
