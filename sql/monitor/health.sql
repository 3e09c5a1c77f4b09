COMMENT ON FUNCTION mint.health() IS 'Returns the checks of this server, and what to do where one fails';
ALTER FUNCTION mint.health() ROWS 20;
REVOKE ALL ON FUNCTION mint.health() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.health() TO pg_monitor;
