-- The schema mint: every relation of the extension, and what its operators, types and views use. It is made here, and so
-- nobody has left an owner, a privilege or an object in it. Some programs create all schemas before the extensions: one
-- that is empty, and of the role that installs or of the database's owner, is replaced.
DO LANGUAGE plpgsql $mint$
DECLARE
    target pg_catalog.oid;
    installer pg_catalog.oid;
    present pg_catalog.oid;
    keeper pg_catalog.oid;
    dependents pg_catalog.text;
BEGIN
    SELECT e.extnamespace, e.extowner INTO STRICT target, installer
    FROM pg_catalog.pg_extension AS e WHERE e.extname OPERATOR(pg_catalog.=) 'pg_mint'::pg_catalog.name;
    SELECT n.oid, n.nspowner INTO present, keeper
    FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) 'mint'::pg_catalog.name;
    IF target OPERATOR(pg_catalog.=) present THEN
        RAISE EXCEPTION 'extension "pg_mint" cannot be installed in schema "mint"'
            USING ERRCODE = 'feature_not_supported',
            DETAIL = 'The extension creates a schema of this name itself.',
            HINT = 'Use another schema for its functions and types, as in CREATE EXTENSION pg_mint SCHEMA public.';
    END IF;
    IF target OPERATOR(pg_catalog.=) ANY (
        SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) 'mint_registry'::pg_catalog.name
    ) THEN
        RAISE EXCEPTION 'extension "pg_mint" cannot be installed in schema "mint_registry"'
            USING ERRCODE = 'feature_not_supported',
            DETAIL = 'The schema is for the tables of a registry.',
            HINT = 'Use another schema for its functions and types, as in CREATE EXTENSION pg_mint SCHEMA public.';
    END IF;
    IF present IS NOT NULL THEN
        IF keeper OPERATOR(pg_catalog.<>) installer AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_database AS d
            WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
                AND d.datdba OPERATOR(pg_catalog.=) keeper
        ) THEN
            RAISE EXCEPTION 'schema "mint" already exists'
                USING ERRCODE = 'duplicate_schema',
                DETAIL = pg_catalog.format('The owner of the schema is role "%s". The extension creates a schema of this name itself.'::pg_catalog.text, pg_catalog.pg_get_userbyid(keeper)),
                HINT = 'Drop or rename the schema.';
        END IF;
        BEGIN
            DROP SCHEMA mint RESTRICT;
        EXCEPTION WHEN dependent_objects_still_exist THEN
            GET STACKED DIAGNOSTICS dependents = PG_EXCEPTION_DETAIL;
            RAISE EXCEPTION 'schema "mint" already exists and is not empty'
                USING ERRCODE = 'duplicate_schema', DETAIL = dependents,
                HINT = 'Drop or rename the schema.';
        END;
    END IF;
    CREATE SCHEMA mint;
END
$mint$;
COMMENT ON SCHEMA mint IS 'Views, administration and internals of pg_mint';
GRANT USAGE ON SCHEMA mint TO PUBLIC;

CREATE TYPE snowflake_layout;
CREATE TYPE objectid;
