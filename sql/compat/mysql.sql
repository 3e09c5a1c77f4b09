-- MySQL's UUID(), by that of pg_mint. Creates it in the first schema of the search path, on which the schema of pg_mint must
-- be too:
--
--     CREATE SCHEMA mysql; SET search_path = mysql, public;
--     \i mysql.sql
--
-- uuid_to_bin, bin_to_uuid and is_uuid are pg_mint's own. The type BINARY(16) is bytea.

CREATE FUNCTION uuid() RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v1();
COMMENT ON FUNCTION uuid() IS 'As MySQL: generates a UUID of version 1';
