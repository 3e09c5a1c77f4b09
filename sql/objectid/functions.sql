COMMENT ON FUNCTION objectid() IS 'Generates an ObjectID';
COMMENT ON FUNCTION objectid_legacy() IS 'Generates an ObjectID that contains machine and process';
COMMENT ON FUNCTION objectid_time(objectid) IS 'Returns when an ObjectID was generated, in whole seconds';
COMMENT ON FUNCTION objectid_counter(objectid) IS 'Returns the counter of an ObjectID';
COMMENT ON FUNCTION objectid_legacy_machine(objectid) IS 'Returns the machine of a legacy ObjectID';
COMMENT ON FUNCTION objectid_legacy_pid(objectid) IS 'Returns the process of a legacy ObjectID';
COMMENT ON FUNCTION mint.objectid_to_bytea(objectid) IS 'implementation of the cast to bytea';
COMMENT ON FUNCTION mint.objectid_from_bytea(bytea) IS 'implementation of the cast from bytea';
