-- The planner makes bounds of the id of conditions on these functions: see src/time_predicates.
ALTER FUNCTION snowflake_time(bigint, snowflake_layout) SUPPORT mint.snowflake_time_support;
ALTER FUNCTION uuid_time(uuid) SUPPORT mint.uuid_time_support;
ALTER FUNCTION uuid_v7_time(uuid) SUPPORT mint.uuid_v7_time_support;
ALTER FUNCTION objectid_time(objectid) SUPPORT mint.objectid_time_support;

COMMENT ON FUNCTION mint.snowflake_time_support(internal) IS 'Internal: planner support for snowflake_time';
COMMENT ON FUNCTION mint.uuid_time_support(internal) IS 'Internal: planner support for uuid_time';
COMMENT ON FUNCTION mint.uuid_v7_time_support(internal) IS 'Internal: planner support for uuid_v7_time';
COMMENT ON FUNCTION mint.objectid_time_support(internal) IS 'Internal: planner support for objectid_time';
REVOKE ALL ON FUNCTION mint.snowflake_time_support(internal) FROM PUBLIC;
REVOKE ALL ON FUNCTION mint.uuid_time_support(internal) FROM PUBLIC;
REVOKE ALL ON FUNCTION mint.uuid_v7_time_support(internal) FROM PUBLIC;
REVOKE ALL ON FUNCTION mint.objectid_time_support(internal) FROM PUBLIC;

COMMENT ON FUNCTION mint.timestamptz_of(date) IS 'Internal: returns the start of a day as comparisons of timestamptz and date take it';
COMMENT ON FUNCTION mint.timestamptz_of(timestamp) IS 'Internal: returns a timestamp as comparisons of timestamptz and timestamp take it';
