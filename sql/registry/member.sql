COMMENT ON FUNCTION mint.leases() IS 'node leases held by this server';
REVOKE ALL ON FUNCTION mint.leases() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.leases() TO pg_monitor;
CREATE VIEW mint.leases AS SELECT * FROM mint.leases();
COMMENT ON VIEW mint.leases IS 'node leases held by this server';
GRANT SELECT ON mint.leases TO pg_monitor;
COMMENT ON FUNCTION mint.release_leases() IS 'release the leases of this server';
REVOKE ALL ON FUNCTION mint.release_leases() FROM PUBLIC;
