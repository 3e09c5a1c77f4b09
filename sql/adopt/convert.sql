-- Everybody may call these: they demand to own the table, and do all with the rights of its owner.
COMMENT ON FUNCTION mint.convert_plan(regclass, text, text) IS 'Shows every statement that makes a generator the default of a column';
ALTER FUNCTION mint.convert_plan(regclass, text, text) ROWS 20;
COMMENT ON FUNCTION mint.convert(regclass, text, text, interval, integer) IS 'Makes a generator the default of a column and returns the statement that reverts it';
COMMENT ON FUNCTION mint.convert_revert(regclass, text, interval, integer) IS 'Restores the sequence or identity of a converted column and returns whether there was one';
COMMENT ON FUNCTION mint.conversions() IS 'Returns the conversions that can be reverted';
ALTER FUNCTION mint.conversions() ROWS 10;
CREATE VIEW mint.conversions AS SELECT * FROM mint.conversions();
COMMENT ON VIEW mint.conversions IS 'Shows the conversions that can be reverted';
GRANT SELECT ON mint.conversions TO PUBLIC;
