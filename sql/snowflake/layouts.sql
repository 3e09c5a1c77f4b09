COMMENT ON FUNCTION snowflake_layouts() IS 'Returns the built-in layouts';
ALTER FUNCTION snowflake_layouts() ROWS 15;
