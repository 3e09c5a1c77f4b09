-- Encoders and decoders for the arguments p_time_encoder and p_time_decoder of pg_partman 5, which calls them by name with one
-- argument, and reads bounds and keys as text. Creates them in the first schema of the search path, on which the schema of
-- pg_mint must be too:
--
--     CREATE SCHEMA coders; SET search_path = coders, public;
--     \i pg_partman.sql
--
-- A text that is too long for an id is cut, as the error repeats it.

CREATE FUNCTION snowflake_time_encoder(at pg_catalog.timestamptz, layout snowflake_layout DEFAULT 'instagram')
RETURNS pg_catalog.text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN snowflake_min(at, layout)::pg_catalog.text;
COMMENT ON FUNCTION snowflake_time_encoder(timestamptz, snowflake_layout) IS 'Returns the smallest id at or after a timestamp as text, for pg_partman';

CREATE FUNCTION snowflake_time_decoder(id pg_catalog.text, layout snowflake_layout DEFAULT 'instagram')
RETURNS pg_catalog.timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN snowflake_time(
        (CASE WHEN pg_catalog.octet_length(id) OPERATOR(pg_catalog.<=) 64 THEN id ELSE pg_catalog.left(id, 64) OPERATOR(pg_catalog.||) '...' END)::pg_catalog.int8,
        layout
    );
COMMENT ON FUNCTION snowflake_time_decoder(text, snowflake_layout) IS 'Returns the time of an id that is given as text, for pg_partman';

CREATE FUNCTION uuid_v7_time_encoder(at pg_catalog.timestamptz) RETURNS pg_catalog.text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v7_min(at)::pg_catalog.text;
COMMENT ON FUNCTION uuid_v7_time_encoder(timestamptz) IS 'Returns the smallest UUID of version 7 at or after a timestamp as text, for pg_partman';

CREATE FUNCTION uuid_v7_time_decoder(id pg_catalog.text) RETURNS pg_catalog.timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v7_time(
        (CASE WHEN pg_catalog.octet_length(id) OPERATOR(pg_catalog.<=) 64 THEN id ELSE pg_catalog.left(id, 64) OPERATOR(pg_catalog.||) '...' END)::pg_catalog.uuid
    );
COMMENT ON FUNCTION uuid_v7_time_decoder(text) IS 'Returns the time of a UUID of version 7 that is given as text, for pg_partman';

CREATE FUNCTION ulid_time_encoder(at pg_catalog.timestamptz) RETURNS pg_catalog.text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN uuid_to_ulid(ulid_min(at));
COMMENT ON FUNCTION ulid_time_encoder(timestamptz) IS 'Returns the smallest ULID at or after a timestamp, for pg_partman';

CREATE FUNCTION ulid_time_decoder(id pg_catalog.text) RETURNS pg_catalog.timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN ulid_time(id);
COMMENT ON FUNCTION ulid_time_decoder(text) IS 'Returns the time of a ULID, for pg_partman';
