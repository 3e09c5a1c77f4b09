COMMENT ON FUNCTION pg_mint_claims() IS 'nodes that this server holds of its registry';
REVOKE ALL ON FUNCTION pg_mint_claims() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_mint_claims() TO pg_monitor;
CREATE VIEW pg_mint_claims AS SELECT * FROM pg_mint_claims();
COMMENT ON VIEW pg_mint_claims IS 'nodes that this server holds of its registry';
GRANT SELECT ON pg_mint_claims TO pg_monitor;
COMMENT ON FUNCTION snowflake_release_node() IS 'give back the nodes that this server holds';
REVOKE ALL ON FUNCTION snowflake_release_node() FROM PUBLIC;
