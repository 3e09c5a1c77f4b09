-- Everybody may call these: they demand privileges on the schema mint_registry and its tables.
COMMENT ON FUNCTION mint.registry_create(interval, interval) IS 'make this database a registry of nodes, or change its rules';
COMMENT ON FUNCTION mint.registry_drop() IS 'drop the registry of nodes of this database';
COMMENT ON FUNCTION mint.registry_reserve(integer, bigint, bigint, text) IS 'keep nodes for a server that makes no requests';
COMMENT ON FUNCTION mint.registry_unreserve(integer, bigint, bigint) IS 'end a reservation of nodes';
COMMENT ON FUNCTION mint.registry_begin_quarantine() IS 'grant no new leases until all forgotten leases have ended';
COMMENT ON FUNCTION mint.registry_end_quarantine() IS 'end the quarantine of the registry early';
COMMENT ON FUNCTION mint.registry_request(jsonb) IS 'internal: request, renew or release a lease';
