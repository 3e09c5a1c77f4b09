COMMENT ON FUNCTION uuid_to_bin(text, boolean) IS 'the bytes of a uuid, as in MySQL';
COMMENT ON FUNCTION uuid_to_bin(text, integer) IS 'the bytes of a uuid, as in MySQL';
COMMENT ON FUNCTION uuid_to_bin(uuid, boolean) IS 'the bytes of a uuid, as in MySQL';
COMMENT ON FUNCTION uuid_to_bin(uuid, integer) IS 'the bytes of a uuid, as in MySQL';
COMMENT ON FUNCTION bin_to_uuid(bytea, boolean) IS 'the uuid of its bytes, as in MySQL';
COMMENT ON FUNCTION bin_to_uuid(bytea, integer) IS 'the uuid of its bytes, as in MySQL';
COMMENT ON FUNCTION is_uuid(text) IS 'whether a text is a uuid, as in MySQL';
