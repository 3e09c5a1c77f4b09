COMMENT ON FUNCTION mint.leases() IS 'Returns the leases that this server holds';
REVOKE ALL ON FUNCTION mint.leases() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.leases() TO pg_monitor;
CREATE VIEW mint.leases AS SELECT * FROM mint.leases();
COMMENT ON VIEW mint.leases IS 'Shows the leases that this server holds or has requested';
GRANT SELECT ON mint.leases TO pg_monitor;
COMMENT ON FUNCTION mint.release_leases() IS 'Releases all leases of this server and returns their number';
REVOKE ALL ON FUNCTION mint.release_leases() FROM PUBLIC;
