COMMENT ON FUNCTION id_to_text(bigint, text) IS 'an id as short text';
COMMENT ON FUNCTION id_from_text(text, text) IS 'the id of a short text';
