CREATE VIEW mint.user_sequences AS SELECT * FROM mint.user_sequences();
COMMENT ON VIEW mint.user_sequences IS 'Shows the sections of the user sequences of this database that are in shared memory';
GRANT SELECT ON mint.user_sequences TO PUBLIC;
COMMENT ON FUNCTION mint.user_sequences() IS 'Returns the sections of the user sequences of this database that are in shared memory';
ALTER FUNCTION mint.user_sequences() ROWS 64;

COMMENT ON FUNCTION user_sequence_create(text, integer, bigint, bigint) IS 'Creates a family of user sequences';
COMMENT ON FUNCTION user_sequence_drop(regclass) IS 'Drops a family of user sequences';
COMMENT ON FUNCTION user_sequence_next(regclass, bigint) IS 'Returns the next number of a user';
COMMENT ON FUNCTION user_sequence_next_range(regclass, bigint, bigint) IS 'Returns the next numbers of a user as one range; call it in FROM';
ALTER FUNCTION user_sequence_next_range(regclass, bigint, bigint) ROWS 1;
COMMENT ON FUNCTION user_sequence_current(regclass, bigint) IS 'Returns an upper bound of the numbers of a user; the last number while the user is in memory';
COMMENT ON FUNCTION user_sequence_next_for_commit(regclass, bigint) IS 'Returns the next number of a user, so that numbers become visible in ascending order';
COMMENT ON FUNCTION user_sequence_next_for_commit(regclass, bigint[]) IS 'Returns the next numbers of many users, so that numbers become visible in ascending order';
