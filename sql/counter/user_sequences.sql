CREATE VIEW mint.user_sequences AS SELECT * FROM mint.user_sequences();
COMMENT ON VIEW mint.user_sequences IS 'sections of this database''s user sequences that are in shared memory';
GRANT SELECT ON mint.user_sequences TO PUBLIC;
COMMENT ON FUNCTION mint.user_sequences() IS 'sections of this database''s user sequences that are in shared memory';
ALTER FUNCTION mint.user_sequences() ROWS 64;

COMMENT ON FUNCTION user_sequence_create(text, integer, bigint) IS 'make a family of user sequences';
COMMENT ON FUNCTION user_sequence_drop(regclass) IS 'drop a family of user sequences';
COMMENT ON FUNCTION user_sequence_next(regclass, bigint) IS 'the next number of a user';
COMMENT ON FUNCTION user_sequence_next_range(regclass, bigint, bigint) IS 'the next numbers of a user in a row: call it in FROM';
ALTER FUNCTION user_sequence_next_range(regclass, bigint, bigint) ROWS 1;
COMMENT ON FUNCTION user_sequence_current(regclass, bigint) IS 'an upper bound of the numbers that a user got; the last of them while the user is in memory';
COMMENT ON FUNCTION user_sequence_next_for_commit(regclass, bigint) IS 'the next number of a user, visible in the order of numbers';
COMMENT ON FUNCTION user_sequence_next_for_commit(regclass, bigint[]) IS 'the next numbers of many users, visible in the order of numbers';
