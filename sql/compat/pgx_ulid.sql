-- The functions of pgx_ulid and pgulid, by those of pg_mint. Creates them in the first schema of the search path, on which
-- the schema of pg_mint must be too:
--
--     CREATE SCHEMA ulids; SET search_path = ulids, public;
--     \i pgx_ulid.sql
--
-- pgx_ulid's type is a domain here: text in upper case, in the order of the collation "C". A domain has no casts of its own,
-- so id::uuid becomes ulid_to_uuid(id), and id::timestamptz becomes ulid_to_timestamptz(id). A column of type uuid takes 16
-- bytes in place of 27. ulid_to_uuid is pg_mint's own.

CREATE DOMAIN ulid AS pg_catalog.text COLLATE pg_catalog."C"
    CONSTRAINT upper_case CHECK (VALUE OPERATOR(pg_catalog.=) uuid_to_ulid(ulid_to_uuid(VALUE)));
COMMENT ON DOMAIN ulid IS 'As pgx_ulid: a ULID';

CREATE FUNCTION gen_ulid() RETURNS ulid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN ulid();
COMMENT ON FUNCTION gen_ulid() IS 'As pgx_ulid: generates a ULID above those of all sessions before';

CREATE FUNCTION gen_monotonic_ulid() RETURNS ulid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN ulid();
COMMENT ON FUNCTION gen_monotonic_ulid() IS 'As pgx_ulid: generates a ULID above those of all sessions before';

-- pgulid's, which returns text.
CREATE FUNCTION generate_ulid() RETURNS pg_catalog.text
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN ulid();
COMMENT ON FUNCTION generate_ulid() IS 'As pgulid: generates a ULID';

CREATE FUNCTION ulid_from_uuid(input pg_catalog.uuid) RETURNS ulid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN uuid_to_ulid(input);
COMMENT ON FUNCTION ulid_from_uuid(uuid) IS 'As pgx_ulid: returns the ULID of a UUID';

CREATE FUNCTION ulid_to_bytea(input pg_catalog.text) RETURNS pg_catalog.bytea
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN pg_catalog.uuid_send(ulid_to_uuid(input));
COMMENT ON FUNCTION ulid_to_bytea(text) IS 'As pgx_ulid: returns the 16 bytes of a ULID';

CREATE FUNCTION ulid_to_timestamptz(input pg_catalog.text) RETURNS pg_catalog.timestamptz
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN ulid_time(input);
COMMENT ON FUNCTION ulid_to_timestamptz(text) IS 'As pgx_ulid: returns when a ULID was generated';

-- In UTC, whatever the session's time zone, so that it is the inverse of timestamp_to_ulid. From PostgreSQL 18 on, the name UTC can
-- be another zone in a session.
CREATE FUNCTION ulid_to_timestamp(input pg_catalog.text) RETURNS pg_catalog.timestamp
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN pg_catalog.timezone('0'::pg_catalog.interval, ulid_time(input));
COMMENT ON FUNCTION ulid_to_timestamp(text) IS 'As pgx_ulid: returns when a ULID was generated, in UTC';

-- The first ULID of the millisecond that the timestamp is in.
CREATE FUNCTION timestamp_to_ulid(input pg_catalog.timestamp) RETURNS ulid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN uuid_to_ulid(ulid_min(pg_catalog.timezone('0'::pg_catalog.interval, pg_catalog.date_trunc('milliseconds', input))));
COMMENT ON FUNCTION timestamp_to_ulid(timestamp) IS 'As pgx_ulid: returns the first ULID of a timestamp in UTC';

CREATE FUNCTION timestamptz_to_ulid(input pg_catalog.timestamptz) RETURNS ulid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN timestamp_to_ulid(pg_catalog.timezone('0'::pg_catalog.interval, input));
COMMENT ON FUNCTION timestamptz_to_ulid(timestamptz) IS 'As pgx_ulid: returns the first ULID of a timestamp';
