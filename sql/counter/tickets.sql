COMMENT ON FUNCTION ticket_create(text, integer, integer, integer, numeric, bigint) IS 'Creates a ticket sequence of one of several servers';
COMMENT ON FUNCTION ticket_next(regclass) IS 'Returns the next ticket';
COMMENT ON FUNCTION ticket_next_range(regclass, bigint) IS 'Returns the next tickets as one range; call it in FROM';
ALTER FUNCTION ticket_next_range(regclass, bigint) ROWS 1;
COMMENT ON FUNCTION ticket_last(regclass) IS 'Returns the ticket that this session drew last';
COMMENT ON FUNCTION ticket_current(regclass) IS 'Returns the ticket that any session drew last';
COMMENT ON FUNCTION ticket_alter(regclass, integer, integer, bigint) IS 'Changes the number of ticket servers and returns the next ticket';
