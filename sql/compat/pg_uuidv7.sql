-- pg_uuidv7's functions, by those of pg_mint. Creates them in the first schema of the search path, on which the schema of
-- pg_mint must be too:
--
--     CREATE SCHEMA uuidv7; SET search_path = uuidv7, public;
--     \i pg_uuidv7.sql
--
-- A UUID of another version has no time here, where pg_uuidv7 returns one that means nothing.

CREATE FUNCTION uuid_generate_v7() RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v7();
COMMENT ON FUNCTION uuid_generate_v7() IS 'As pg_uuidv7: generates a UUID of version 7';

CREATE FUNCTION uuid_v7_to_timestamptz(id pg_catalog.uuid) RETURNS pg_catalog.timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v7_time(id);
COMMENT ON FUNCTION uuid_v7_to_timestamptz(uuid) IS 'As pg_uuidv7: returns when a UUID of version 7 was generated';

-- With `zero`, the first one of the millisecond that the timestamp is in.
CREATE FUNCTION uuid_timestamptz_to_v7(at pg_catalog.timestamptz, zero pg_catalog.bool DEFAULT false) RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN CASE WHEN zero THEN uuid_v7_min(pg_catalog.date_trunc('milliseconds', at)) ELSE uuid_v7(at) END;
COMMENT ON FUNCTION uuid_timestamptz_to_v7(timestamptz, boolean) IS 'As pg_uuidv7: returns a UUID of version 7 for a timestamp';

CREATE FUNCTION uuid_v7_to_timestamp(id pg_catalog.uuid) RETURNS pg_catalog.timestamp
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN pg_catalog.timezone('0'::pg_catalog.interval, uuid_v7_time(id));
COMMENT ON FUNCTION uuid_v7_to_timestamp(uuid) IS 'As pg_uuidv7: returns when a UUID of version 7 was generated, in UTC';

CREATE FUNCTION uuid_timestamp_to_v7(at pg_catalog.timestamp, zero pg_catalog.bool DEFAULT false) RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_timestamptz_to_v7(pg_catalog.timezone('0'::pg_catalog.interval, at), zero);
COMMENT ON FUNCTION uuid_timestamp_to_v7(timestamp, boolean) IS 'As pg_uuidv7: returns a UUID of version 7 for a timestamp in UTC';
