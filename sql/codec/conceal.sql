COMMENT ON FUNCTION id_conceal(bigint, bytea, integer) IS 'the public id of an id: a keyed permutation';
COMMENT ON FUNCTION id_reveal(bigint, bytea, integer) IS 'the id of a public id';
