CREATE TABLE mint.pg_mint_sources (
    sequence pg_catalog.regclass PRIMARY KEY,
    server pg_catalog.name NOT NULL,
    source pg_catalog.text NOT NULL,
    step pg_catalog.int8 NOT NULL
);
COMMENT ON TABLE mint.pg_mint_sources IS 'sequences whose segments come from another server';
GRANT SELECT ON mint.pg_mint_sources TO PUBLIC;
-- The owner of the database restores it.
GRANT INSERT ON mint.pg_mint_sources TO pg_database_owner;
SELECT pg_catalog.pg_extension_config_dump('mint.pg_mint_sources'::pg_catalog.regclass, ''::pg_catalog.text);
