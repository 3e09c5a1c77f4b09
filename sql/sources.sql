CREATE TABLE pg_mint_sources (
    sequence regclass PRIMARY KEY,
    server name NOT NULL,
    source text NOT NULL,
    step bigint NOT NULL
);
COMMENT ON TABLE pg_mint_sources IS 'sequences whose segments come from another server';
GRANT SELECT ON pg_mint_sources TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('pg_mint_sources', '');
