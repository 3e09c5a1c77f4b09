-- mint.registry_create() runs this with the rights of its caller. So the tables belong to that role, which can dump and restore them.
CREATE SCHEMA mint_registry;
COMMENT ON SCHEMA mint_registry IS 'Registry of nodes of pg_mint';

CREATE TABLE mint_registry.registry (
    one pg_catalog.bool PRIMARY KEY DEFAULT true CHECK (one),
    lease pg_catalog.interval NOT NULL,
    max_skew pg_catalog.interval NOT NULL,
    leases_per_login pg_catalog.int8 NOT NULL,
    nodes_per_login pg_catalog.int8 NOT NULL,
    horizon pg_catalog.timestamptz NOT NULL DEFAULT '-infinity'::pg_catalog.timestamptz,
    quarantine pg_catalog.timestamptz NOT NULL DEFAULT '-infinity'::pg_catalog.timestamptz,
    system_identifier pg_catalog.int8 NOT NULL,
    timeline pg_catalog.int8 NOT NULL,
    started pg_catalog.int8 NOT NULL,
    incarnation pg_catalog.int8 NOT NULL DEFAULT 0::pg_catalog.int8,
    -- Until then, the next start of the server is one that was planned.
    restart_until pg_catalog.timestamptz NOT NULL DEFAULT '-infinity'::pg_catalog.timestamptz,
    -- The oid of the database: another one in a copy.
    database pg_catalog.oid NOT NULL,
    -- The numbers of all leases, XORed: others after rows were deleted or inserted by hand.
    digest pg_catalog.int8 NOT NULL DEFAULT 0::pg_catalog.int8,
    -- The transaction that wrote the row, as in xmin: another one after a restore from a dump, or an UPDATE by hand.
    written pg_catalog.xid NOT NULL
);
COMMENT ON TABLE mint_registry.registry IS 'Rules and state of the registry';

CREATE TABLE mint_registry.leases (
    id pg_catalog.int8 PRIMARY KEY,
    node_bits pg_catalog.int4 NOT NULL,
    first_node pg_catalog.int8 NOT NULL,
    last_node pg_catalog.int8 NOT NULL,
    holder pg_catalog.text NOT NULL,
    login pg_catalog.text,
    system_identifier pg_catalog.int8,
    address pg_catalog.inet,
    since pg_catalog.timestamptz NOT NULL,
    lease_from pg_catalog.timestamptz NOT NULL,
    lease_until pg_catalog.timestamptz NOT NULL,
    -- When others can be granted the nodes.
    free_from pg_catalog.timestamptz NOT NULL,
    renewals pg_catalog.int8 NOT NULL DEFAULT 0::pg_catalog.int8,
    -- The nodes that the holder's settings list, of any width.
    listed pg_catalog.int8multirange NOT NULL DEFAULT '{}'::pg_catalog.int8multirange,
    -- As in the table of the registry.
    written pg_catalog.xid NOT NULL,
    -- Whether the node is the holder's for good: then it is never free.
    assigned pg_catalog.bool NOT NULL DEFAULT false,
    -- The machine and the directory of the server that uses an assigned node, from its first lease on: for people.
    place pg_catalog.text,
    -- What that server has chosen at its first request, and what it has in memory only.
    origin pg_catalog.int8,
    instance pg_catalog.int8,
    -- The key that was agreed on last: its counter and a random number.
    key_counter pg_catalog.int8,
    key_number pg_catalog.int8,
    -- Where a copy of that server has asked for the node, and when it did so last.
    copy_place pg_catalog.text,
    copy_seen pg_catalog.timestamptz,
    -- For how long at most that server has ever said that it uses the node without the registry; null is without a limit.
    max_outage pg_catalog.interval,
    CHECK (node_bits OPERATOR(pg_catalog.>=) 0 AND node_bits OPERATOR(pg_catalog.<=) 31),
    CHECK (first_node OPERATOR(pg_catalog.>=) 0::pg_catalog.int8 AND first_node OPERATOR(pg_catalog.<=) last_node
        AND last_node OPERATOR(pg_catalog.>>) node_bits OPERATOR(pg_catalog.=) 0::pg_catalog.int8),
    CHECK (pg_catalog.isfinite(lease_from) AND lease_until OPERATOR(pg_catalog.>=) lease_from
        AND free_from OPERATOR(pg_catalog.>=) lease_until),
    CHECK (NOT assigned OR first_node OPERATOR(pg_catalog.=) last_node AND NOT pg_catalog.isfinite(free_from)),
    -- No node is in two leases.
    EXCLUDE USING gist (pg_catalog.numrange(
        node_bits::pg_catalog.numeric OPERATOR(pg_catalog.*) 18446744073709551616::pg_catalog.numeric
            OPERATOR(pg_catalog.+) first_node::pg_catalog.numeric,
        node_bits::pg_catalog.numeric OPERATOR(pg_catalog.*) 18446744073709551616::pg_catalog.numeric
            OPERATOR(pg_catalog.+) last_node::pg_catalog.numeric,
        '[]'::pg_catalog.text
    ) WITH OPERATOR(pg_catalog.&&))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX ON mint_registry.leases (holder pg_catalog.text_ops, node_bits pg_catalog.int4_ops) WHERE assigned;
COMMENT ON TABLE mint_registry.leases IS 'Leases and reservations of nodes';

-- INSERT on this view is the privilege to request leases. With OFFSET it is not updatable, so this inserts nothing.
CREATE VIEW mint_registry.nodes AS
SELECT node_bits, first_node, last_node, holder,
    lease_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp() AS held, address, system_identifier, lease_from, lease_until, since, renewals, login, assigned, place,
    max_outage, copy_place, copy_seen
FROM mint_registry.leases
ORDER BY node_bits, first_node OFFSET 0::pg_catalog.int8;
COMMENT ON VIEW mint_registry.nodes IS 'Shows the nodes that this registry has leased, reserved or assigned; INSERT is the privilege to request leases';
GRANT USAGE ON SCHEMA mint_registry TO pg_monitor;
GRANT SELECT ON mint_registry.nodes TO pg_monitor;
