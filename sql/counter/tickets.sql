COMMENT ON FUNCTION ticket_create(text, integer, integer, integer, bigint) IS 'make the tickets of one of several servers';
COMMENT ON FUNCTION ticket_next(regclass) IS 'the next ticket';
COMMENT ON FUNCTION ticket_next_range(regclass, bigint) IS 'the next tickets in a row';
COMMENT ON FUNCTION ticket_last(regclass) IS 'the ticket that this session drew last';
COMMENT ON FUNCTION ticket_change(regclass, integer, integer, bigint) IS 'change the number of ticket servers';
COMMENT ON FUNCTION ticket_drop(regclass) IS 'drop tickets';
