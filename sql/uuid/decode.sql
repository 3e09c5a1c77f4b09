COMMENT ON FUNCTION uuid_version(uuid) IS 'the version of a uuid';
COMMENT ON FUNCTION uuid_variant(uuid) IS 'the variant of a uuid';
COMMENT ON FUNCTION uuid_time(uuid) IS 'when a uuid was minted';
COMMENT ON FUNCTION uuid_node(uuid) IS 'the node of a uuid';
COMMENT ON FUNCTION uuid_clock_sequence(uuid) IS 'the clock sequence of a uuid';
COMMENT ON FUNCTION uuid_domain(uuid) IS 'the domain of a uuid of version 2';
COMMENT ON FUNCTION uuid_local_id(uuid) IS 'the local id of a uuid of version 2';
COMMENT ON FUNCTION uuid_v1_to_v6(uuid) IS 'version 1 as version 6';
COMMENT ON FUNCTION uuid_v6_to_v1(uuid) IS 'version 6 as version 1';
