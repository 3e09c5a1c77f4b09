COMMENT ON FUNCTION mint.lanes() IS 'Returns the lanes that this server has used since it started';
ALTER FUNCTION mint.lanes() ROWS 100;
REVOKE ALL ON FUNCTION mint.lanes() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.lanes() TO pg_monitor;
CREATE VIEW mint.lanes AS SELECT * FROM mint.lanes();
COMMENT ON VIEW mint.lanes IS 'Shows the lanes that this server has used since it started';
GRANT SELECT ON mint.lanes TO pg_monitor;
