CREATE VIEW mint.segments AS SELECT * FROM mint.segments();
COMMENT ON VIEW mint.segments IS 'Shows the sequences of this database that were drawn from in segments since the server started, or that have taken values from another server';
GRANT SELECT ON mint.segments TO PUBLIC;

COMMENT ON FUNCTION segment_next(regclass) IS 'Returns the next value of a sequence, from a segment that all sessions share';
COMMENT ON FUNCTION segment_next_range(regclass, bigint) IS 'Returns the next values of a sequence as one range; call it in FROM';
ALTER FUNCTION segment_next_range(regclass, bigint) ROWS 1;
COMMENT ON FUNCTION segment_last(regclass) IS 'Returns the value of a sequence that this session drew last';
COMMENT ON FUNCTION segment_current(regclass) IS 'Returns the value of a sequence that any session drew last';
COMMENT ON FUNCTION segment_set(regclass, bigint) IS 'Sets a sequence to a value, as setval does, and drops the segments taken from it';
COMMENT ON FUNCTION segment_create(text, bigint, bigint, text, text) IS 'Creates a sequence whose values are taken in segments';
COMMENT ON FUNCTION mint.segment_request(regclass, bigint, bigint) IS 'Internal: takes values of a sequence for another server, which has taken values before';
ALTER FUNCTION mint.segment_request(regclass, bigint, bigint) ROWS 1;
COMMENT ON FUNCTION mint.segments() IS 'Returns the sequences of this database that were drawn from in segments since the server started, or that have taken values from another server';
ALTER FUNCTION mint.segments() ROWS 100;
