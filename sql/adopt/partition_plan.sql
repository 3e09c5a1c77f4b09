COMMENT ON FUNCTION mint.partition_plan(regclass, interval, integer, snowflake_layout, text, timestamptz) IS 'Returns the statements that create the missing partitions of a table by time';
ALTER FUNCTION mint.partition_plan(regclass, interval, integer, snowflake_layout, text, timestamptz) ROWS 10;
COMMENT ON FUNCTION mint.partition_drop_plan(regclass, interval, snowflake_layout, text, boolean) IS 'Returns the statements that drop the old partitions of a table by time';
ALTER FUNCTION mint.partition_drop_plan(regclass, interval, snowflake_layout, text, boolean) ROWS 10;
