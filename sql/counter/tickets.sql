COMMENT ON FUNCTION ticket_create(text, integer, integer, integer, bigint) IS 'make the tickets of one of several servers';
COMMENT ON FUNCTION ticket_next(regclass) IS 'the next ticket';
COMMENT ON FUNCTION ticket_next_range(regclass, bigint) IS 'the next tickets in a row: call it in FROM';
ALTER FUNCTION ticket_next_range(regclass, bigint) ROWS 1;
COMMENT ON FUNCTION ticket_last(regclass) IS 'the ticket that this session drew last';
COMMENT ON FUNCTION ticket_alter(regclass, integer, integer, bigint) IS 'change the number of ticket servers';
