COMMENT ON FUNCTION objectid() IS 'mint an ObjectID';
COMMENT ON FUNCTION objectid_legacy() IS 'mint an ObjectID of machine and process';
COMMENT ON FUNCTION objectid_time(objectid) IS 'when an ObjectID was minted';
COMMENT ON FUNCTION objectid_counter(objectid) IS 'the counter of an ObjectID';
COMMENT ON FUNCTION objectid_legacy_machine(objectid) IS 'the machine of a legacy ObjectID';
COMMENT ON FUNCTION objectid_legacy_pid(objectid) IS 'the process of a legacy ObjectID';
COMMENT ON FUNCTION mint.objectid_to_bytea(objectid) IS 'implementation of the cast to bytea';
COMMENT ON FUNCTION mint.objectid_from_bytea(bytea) IS 'implementation of the cast from bytea';
