CREATE VIEW mint.segments AS SELECT * FROM mint.segments();
COMMENT ON VIEW mint.segments IS 'sequences of this database that were drawn from in segments since the server started';
GRANT SELECT ON mint.segments TO PUBLIC;

COMMENT ON FUNCTION segment_next(regclass) IS 'the next value of a sequence, from a segment that all sessions share';
COMMENT ON FUNCTION segment_next_range(regclass, bigint) IS 'the next values of a sequence in a row: call it in FROM';
ALTER FUNCTION segment_next_range(regclass, bigint) ROWS 1;
COMMENT ON FUNCTION segment_last(regclass) IS 'the value of a sequence that this session drew last';
COMMENT ON FUNCTION segment_set(regclass, bigint) IS 'set a sequence to a value, as setval, and drop the segments taken from it';
COMMENT ON FUNCTION segment_create(text, bigint, bigint, text, text) IS 'make a sequence that is drawn from in steps';
COMMENT ON FUNCTION mint.segments() IS 'sequences of this database that were drawn from in segments since the server started';
ALTER FUNCTION mint.segments() ROWS 100;
