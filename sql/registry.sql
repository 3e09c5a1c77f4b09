CREATE TABLE pg_mint_registry (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    slice interval NOT NULL,
    longest_slice interval NOT NULL,
    max_skew interval NOT NULL,
    horizon timestamptz NOT NULL DEFAULT '-infinity',
    quarantine timestamptz NOT NULL DEFAULT '-infinity',
    system_identifier bigint NOT NULL,
    timeline bigint NOT NULL,
    started bigint NOT NULL,
    incarnation bigint NOT NULL DEFAULT 0,
    -- Another one in a table that was filled from a dump.
    relation oid NOT NULL,
    -- Another one in a copy of the database.
    database oid NOT NULL
);
COMMENT ON TABLE pg_mint_registry IS 'rules and memory of the registry of nodes, if this database is one';

CREATE TABLE pg_mint_grants (
    claim bigint PRIMARY KEY,
    node_bits integer NOT NULL,
    first_node bigint NOT NULL,
    last_node bigint NOT NULL,
    holder text NOT NULL,
    system_identifier bigint,
    address inet,
    since timestamptz NOT NULL,
    slice_from timestamptz NOT NULL,
    slice_until timestamptz NOT NULL,
    renewals bigint NOT NULL DEFAULT 0,
    -- Whatever happens, no node is in two claims.
    EXCLUDE USING gist (pg_catalog.numrange(
        node_bits * 18446744073709551616 + first_node, node_bits * 18446744073709551616 + last_node, '[]'
    ) WITH OPERATOR(pg_catalog.&&))
) WITH (fillfactor = 50);
COMMENT ON TABLE pg_mint_grants IS 'who holds which nodes, and which slice of id time';

-- Who owns the database dumps and restores it.
GRANT SELECT, INSERT ON pg_mint_registry, pg_mint_grants TO pg_database_owner;
SELECT pg_catalog.pg_extension_config_dump('pg_mint_registry', '');
SELECT pg_catalog.pg_extension_config_dump('pg_mint_grants', '');

CREATE VIEW pg_mint_nodes AS
SELECT node_bits, first_node, last_node, holder, slice_until > pg_catalog.clock_timestamp() AS held, address,
    system_identifier, slice_from, slice_until, since, renewals
FROM pg_mint_grants
ORDER BY node_bits, first_node;
COMMENT ON VIEW pg_mint_nodes IS 'nodes that this registry has lent, or keeps for servers that do not ask';
GRANT SELECT ON pg_mint_nodes TO pg_monitor;

CREATE VIEW pg_mint_claims AS SELECT * FROM pg_mint_claims();
COMMENT ON VIEW pg_mint_claims IS 'nodes that this server holds of its registry';
