-- Implicit, so that parameters, variables and columns of type text are layouts. By a function, as a cast by I/O would be
-- shown in dumps of views.
CREATE CAST (text AS snowflake_layout) WITH FUNCTION mint.snowflake_layout_from_text(text) AS IMPLICIT;
CREATE CAST (varchar AS snowflake_layout) WITH FUNCTION mint.snowflake_layout_from_text(text) AS IMPLICIT;

COMMENT ON FUNCTION mint.snowflake_layout_from_text(text) IS 'implementation of the casts from text and varchar';
COMMENT ON CAST (text AS snowflake_layout) IS 'Reads a layout from its name or its fields';
COMMENT ON CAST (varchar AS snowflake_layout) IS 'Reads a layout from its name or its fields';
