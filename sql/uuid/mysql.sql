COMMENT ON FUNCTION uuid_to_bin(text, boolean) IS 'Returns the bytes of a UUID, as in MySQL';
COMMENT ON FUNCTION uuid_to_bin(text, integer) IS 'Returns the bytes of a UUID, as in MySQL';
COMMENT ON FUNCTION uuid_to_bin(uuid, boolean) IS 'Returns the bytes of a UUID, as in MySQL';
COMMENT ON FUNCTION uuid_to_bin(uuid, integer) IS 'Returns the bytes of a UUID, as in MySQL';
COMMENT ON FUNCTION bin_to_uuid(bytea, boolean) IS 'Returns the UUID of its bytes, as in MySQL';
COMMENT ON FUNCTION bin_to_uuid(bytea, integer) IS 'Returns the UUID of its bytes, as in MySQL';
COMMENT ON FUNCTION is_uuid(text) IS 'Returns whether a text is a UUID, as in MySQL';
