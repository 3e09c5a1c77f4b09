COMMENT ON FUNCTION mint.audit(regclass, text, snowflake_layout) IS 'Returns what is wrong with the ids of a column, and the statements that correct it';
ALTER FUNCTION mint.audit(regclass, text, snowflake_layout) ROWS 10;
