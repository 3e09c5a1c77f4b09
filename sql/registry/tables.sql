CREATE TABLE mint.pg_mint_registry (
    one pg_catalog.bool PRIMARY KEY DEFAULT true CHECK (one),
    lease pg_catalog.interval NOT NULL,
    longest_lease pg_catalog.interval NOT NULL,
    max_skew pg_catalog.interval NOT NULL,
    horizon pg_catalog.timestamptz NOT NULL DEFAULT '-infinity'::pg_catalog.timestamptz,
    quarantine pg_catalog.timestamptz NOT NULL DEFAULT '-infinity'::pg_catalog.timestamptz,
    system_identifier pg_catalog.int8 NOT NULL,
    timeline pg_catalog.int8 NOT NULL,
    started pg_catalog.int8 NOT NULL,
    incarnation pg_catalog.int8 NOT NULL DEFAULT 0::pg_catalog.int8,
    -- The oid of this table: another one after a restore from a dump.
    relation pg_catalog.oid NOT NULL,
    -- The oid of the database: another one in a copy.
    database pg_catalog.oid NOT NULL
);
COMMENT ON TABLE mint.pg_mint_registry IS 'rules and memory of the registry of nodes, if this database is one';

CREATE TABLE mint.pg_mint_grants (
    claim pg_catalog.int8 PRIMARY KEY,
    node_bits pg_catalog.int4 NOT NULL,
    first_node pg_catalog.int8 NOT NULL,
    last_node pg_catalog.int8 NOT NULL,
    holder pg_catalog.text NOT NULL,
    system_identifier pg_catalog.int8,
    address pg_catalog.inet,
    since pg_catalog.timestamptz NOT NULL,
    lease_from pg_catalog.timestamptz NOT NULL,
    lease_until pg_catalog.timestamptz NOT NULL,
    renewals pg_catalog.int8 NOT NULL DEFAULT 0::pg_catalog.int8,
    -- No node is in two leases.
    EXCLUDE USING gist (pg_catalog.numrange(
        node_bits::pg_catalog.numeric OPERATOR(pg_catalog.*) 18446744073709551616::pg_catalog.numeric
            OPERATOR(pg_catalog.+) first_node::pg_catalog.numeric,
        node_bits::pg_catalog.numeric OPERATOR(pg_catalog.*) 18446744073709551616::pg_catalog.numeric
            OPERATOR(pg_catalog.+) last_node::pg_catalog.numeric,
        '[]'::pg_catalog.text
    ) WITH OPERATOR(pg_catalog.&&))
) WITH (fillfactor = 50);
COMMENT ON TABLE mint.pg_mint_grants IS 'who holds which nodes, and which lease of id time';

-- The owner of the database dumps and restores them.
GRANT SELECT, INSERT ON mint.pg_mint_registry, mint.pg_mint_grants TO pg_database_owner;
SELECT pg_catalog.pg_extension_config_dump('mint.pg_mint_registry'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('mint.pg_mint_grants'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE VIEW mint.pg_mint_nodes AS
SELECT node_bits, first_node, last_node, holder,
    lease_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp() AS held, address, system_identifier, lease_from, lease_until, since, renewals
FROM mint.pg_mint_grants
ORDER BY node_bits, first_node;
COMMENT ON VIEW mint.pg_mint_nodes IS 'nodes that this registry has lent, or keeps for servers that do not ask';
GRANT SELECT ON mint.pg_mint_nodes TO pg_monitor;
