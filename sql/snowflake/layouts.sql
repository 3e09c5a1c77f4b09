COMMENT ON FUNCTION snowflake_layouts() IS 'Returns the built-in layouts';
ALTER FUNCTION snowflake_layouts() ROWS 15;
COMMENT ON FUNCTION snowflake_layouts(snowflake_layout) IS 'Returns how long a layout lasts, how many nodes it has, and how many ids a second';
ALTER FUNCTION snowflake_layouts(snowflake_layout) ROWS 1;
