COMMENT ON FUNCTION id_conceal(bigint, bytea, integer, bytea) IS 'the public id of an id: FF1, a keyed permutation';
COMMENT ON FUNCTION id_reveal(bigint, bytea, integer, bytea) IS 'recover an id from its public id';
