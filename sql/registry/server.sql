-- Everybody may call these: they demand privileges on the schema mint_registry and its tables.
COMMENT ON FUNCTION mint.registry_create(interval, interval) IS 'make this database a registry of nodes, or change its rules';
COMMENT ON FUNCTION mint.registry_drop() IS 'drop the registry of nodes of this database';
COMMENT ON FUNCTION mint.registry_reserve(integer, bigint, bigint, text) IS 'keep nodes for a server that does not ask the registry';
COMMENT ON FUNCTION mint.registry_unreserve(integer, bigint, bigint) IS 'end a reservation of nodes';
COMMENT ON FUNCTION mint.registry_begin_quarantine() IS 'grant nothing until all that the registry may have forgotten is past';
COMMENT ON FUNCTION mint.registry_end_quarantine() IS 'end the quarantine of the registry early';
COMMENT ON FUNCTION mint.registry_request(jsonb) IS 'what a member asks and tells the registry';
