COMMENT ON FUNCTION id_to_text(bigint, text) IS 'Returns an id as short text';
COMMENT ON FUNCTION id_from_text(text, text) IS 'Returns the id that a short text stands for';
COMMENT ON FUNCTION uuid_to_text(uuid, text) IS 'Returns a UUID as short text';
COMMENT ON FUNCTION uuid_from_text(text, text) IS 'Returns the UUID that a short text stands for';
COMMENT ON FUNCTION nano_id(integer, text) IS 'Generates a random id of characters of an alphabet';
