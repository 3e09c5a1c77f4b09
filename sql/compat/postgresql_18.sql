-- PostgreSQL 18's functions for UUIDs, for 15 to 17, by those of pg_mint. Creates them in the first schema of the search
-- path, on which the schema of pg_mint must be too:
--
--     CREATE SCHEMA uuid_18; SET search_path = uuid_18, public;
--     \i postgresql_18.sql
--
-- On a server that has them itself, its own are found first, unless pg_catalog is named behind that schema. So a dump of a
-- database with these functions can be restored on 18.

CREATE FUNCTION uuidv4() RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v4();

CREATE FUNCTION uuidv7() RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v7();

CREATE FUNCTION uuidv7(shift pg_catalog.interval) RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v7(pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) shift);

-- Of versions 1 and 7, as PostgreSQL 18 has it.
CREATE FUNCTION uuid_extract_timestamp(id pg_catalog.uuid) RETURNS pg_catalog.timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN CASE WHEN uuid_version_of(id) OPERATOR(pg_catalog.=) 1 OR uuid_version_of(id) OPERATOR(pg_catalog.=) 7 THEN uuid_time(id) END;

CREATE FUNCTION uuid_extract_version(id pg_catalog.uuid) RETURNS pg_catalog.int2
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN pg_catalog.int2(uuid_version_of(id));

-- With the schema, as pg_catalog has functions of the same names.
DO $$
DECLARE
    schema text := pg_catalog.current_schema();
    function text;
    comment text;
BEGIN
    FOR function, comment IN
        VALUES
            ('uuidv4()', 'As PostgreSQL 18: generates a UUID of version 4'),
            ('uuidv7()', 'As PostgreSQL 18: generates a UUID of version 7'),
            ('uuidv7(interval)', 'As PostgreSQL 18: generates a UUID of version 7 for the time now plus an interval'),
            ('uuid_extract_timestamp(uuid)', 'As PostgreSQL 18: returns when a UUID of version 1 or 7 was generated'),
            ('uuid_extract_version(uuid)', 'As PostgreSQL 18: returns the version of a UUID')
    LOOP
        EXECUTE pg_catalog.format('COMMENT ON FUNCTION %I.%s IS %L', schema, function, comment);
    END LOOP;
END
$$;
