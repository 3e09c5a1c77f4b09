COMMENT ON FUNCTION uuid_version(uuid) IS 'Returns the version of a UUID';
COMMENT ON FUNCTION uuid_variant(uuid) IS 'Returns the variant of a UUID';
COMMENT ON FUNCTION uuid_time(uuid) IS 'Returns when a UUID was generated; NULL for versions without a time';
COMMENT ON FUNCTION uuid_node(uuid) IS 'Returns the node of a UUID; NULL for versions without one';
COMMENT ON FUNCTION uuid_clock_sequence(uuid) IS 'Returns the clock sequence of a UUID; NULL for versions without one';
COMMENT ON FUNCTION uuid_domain(uuid) IS 'Returns the domain of a UUID of version 2; NULL for other versions';
COMMENT ON FUNCTION uuid_local_id(uuid) IS 'Returns the local id of a UUID of version 2; NULL for other versions';
COMMENT ON FUNCTION uuid_v1_to_v6(uuid) IS 'Converts a UUID of version 1 to version 6';
COMMENT ON FUNCTION uuid_v6_to_v1(uuid) IS 'Converts a UUID of version 6 to version 1';
