-- Everybody may call these: they demand privileges on the schema mint_registry and its tables.
COMMENT ON FUNCTION mint.registry_create(interval, interval, bigint, bigint) IS 'Makes this database a registry of nodes, or changes the rules of its registry';
COMMENT ON FUNCTION mint.registry_drop() IS 'Drops the registry of nodes of this database';
COMMENT ON FUNCTION mint.registry_reserve(integer, bigint, bigint, text) IS 'Reserves nodes for a server that does not use the registry';
COMMENT ON FUNCTION mint.registry_unreserve(integer, bigint, bigint) IS 'Ends a reservation of nodes';
COMMENT ON FUNCTION mint.registry_assign(integer, text, bigint, boolean) IS 'Assigns a free node to a server for good, or gives it to the server that replaces it, and returns it';
COMMENT ON FUNCTION mint.registry_unassign(integer, text) IS 'Takes an assigned node away from a server and returns when others can get it';
COMMENT ON FUNCTION mint.registry_evict(text) IS 'Prevents the leases of a holder from being renewed and returns their number';
COMMENT ON FUNCTION mint.registry_evict(integer, bigint, bigint) IS 'Prevents the leases of nodes from being renewed and returns their number';
COMMENT ON FUNCTION mint.registry_begin_quarantine() IS 'Starts the quarantine of the registry, in which it grants no new leases';
COMMENT ON FUNCTION mint.registry_end_quarantine() IS 'Ends the quarantine of the registry early';
COMMENT ON FUNCTION mint.registry_prepare_restart(interval) IS 'Lets the registry continue without a quarantine after the next start of its server and returns until when';
COMMENT ON FUNCTION mint.registry_request(jsonb) IS 'Internal: answers a request of a member for leases';
