COMMENT ON FUNCTION id_conceal(bigint, bytea, integer, bytea) IS 'Returns the public id of an id, encrypted by FF1 with a key';
COMMENT ON FUNCTION id_reveal(bigint, bytea, integer, bytea) IS 'Returns the id of a public id, decrypted by FF1 with a key';
