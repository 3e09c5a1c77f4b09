COMMENT ON FUNCTION mint.leases() IS 'nodes that this server holds of its registry';
REVOKE ALL ON FUNCTION mint.leases() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.leases() TO pg_monitor;
CREATE VIEW mint.leases AS SELECT * FROM mint.leases();
COMMENT ON VIEW mint.leases IS 'nodes that this server holds of its registry';
GRANT SELECT ON mint.leases TO pg_monitor;
COMMENT ON FUNCTION mint.release_leases() IS 'give back the nodes that this server holds';
REVOKE ALL ON FUNCTION mint.release_leases() FROM PUBLIC;
