COMMENT ON FUNCTION typeid(text, uuid) IS 'Returns the TypeID of a prefix and a UUID';
COMMENT ON FUNCTION typeid_uuid(text) IS 'Returns the UUID of a TypeID';
COMMENT ON FUNCTION typeid_prefix(text) IS 'Returns the prefix of a TypeID';
COMMENT ON FUNCTION typeid_check(text, text) IS 'Returns whether a text is a TypeID with a prefix';
