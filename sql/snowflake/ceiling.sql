-- The durable ceiling: microseconds since 1970. Begins above all that was issued in this database, so
-- that dropping the extension and creating it again forgets nothing.
CREATE SEQUENCE pg_mint_time_ceiling;
COMMENT ON SEQUENCE pg_mint_time_ceiling IS 'no id of this database is of this moment or later, in microseconds since 1970';
SELECT pg_catalog.setval('pg_mint_time_ceiling'::pg_catalog.regclass, pg_mint_highest_ceiling());

-- A dump carries it, and the owner of the database can take and restore dumps.
SELECT pg_catalog.pg_extension_config_dump('pg_mint_time_ceiling'::pg_catalog.regclass, ''::pg_catalog.text);
GRANT SELECT, UPDATE ON SEQUENCE pg_mint_time_ceiling TO pg_database_owner;
