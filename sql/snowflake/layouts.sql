COMMENT ON FUNCTION snowflake_layouts() IS 'the built-in layouts';
ALTER FUNCTION snowflake_layouts() ROWS 15;
