-- uuid-ossp's functions, by those of pg_mint. Creates them in the first schema of the search path, on which the schema of
-- pg_mint must be too:
--
--     CREATE SCHEMA uuid_ossp; SET search_path = uuid_ossp, public;
--     \i uuid_ossp.sql
--
-- uuid_generate_v1() has a node drawn at the start of the server, or that of pg_mint.uuid_node, such as 'mac'.

CREATE FUNCTION uuid_generate_v1() RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v1();
COMMENT ON FUNCTION uuid_generate_v1() IS 'As uuid-ossp: generates a UUID of version 1';

-- A node of its own for each UUID: random, with the bits of a multicast address and of one that no manufacturer gave.
CREATE FUNCTION uuid_generate_v1mc() RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 10
    RETURN pg_catalog.encode(
        pg_catalog.set_bit(
            pg_catalog.set_bit(
                pg_catalog.overlay(
                    pg_catalog.uuid_send(uuid_v1()),
                    pg_catalog.substring(pg_catalog.uuid_send(uuid_v4()), 11, 6),
                    11
                ),
                80, 1
            ),
            81, 1
        ),
        'hex'
    )::pg_catalog.uuid;
COMMENT ON FUNCTION uuid_generate_v1mc() IS 'As uuid-ossp: generates a UUID of version 1 with a random node';

CREATE FUNCTION uuid_generate_v3(namespace pg_catalog.uuid, name pg_catalog.text) RETURNS pg_catalog.uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10
    RETURN uuid_v3(namespace, name);
COMMENT ON FUNCTION uuid_generate_v3(uuid, text) IS 'As uuid-ossp: computes the UUID of a name, version 3';

CREATE FUNCTION uuid_generate_v4() RETURNS pg_catalog.uuid
    LANGUAGE sql VOLATILE STRICT PARALLEL SAFE COST 1
    RETURN uuid_v4();
COMMENT ON FUNCTION uuid_generate_v4() IS 'As uuid-ossp: generates a UUID of version 4';

CREATE FUNCTION uuid_generate_v5(namespace pg_catalog.uuid, name pg_catalog.text) RETURNS pg_catalog.uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10
    RETURN uuid_v5(namespace, name);
COMMENT ON FUNCTION uuid_generate_v5(uuid, text) IS 'As uuid-ossp: computes the UUID of a name, version 5';

CREATE FUNCTION uuid_nil() RETURNS pg_catalog.uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN uuid_nil_value();
COMMENT ON FUNCTION uuid_nil() IS 'As uuid-ossp: returns the UUID whose bits are all zero';

CREATE FUNCTION uuid_ns_dns() RETURNS pg_catalog.uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN '6ba7b810-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid;
COMMENT ON FUNCTION uuid_ns_dns() IS 'As uuid-ossp: returns the namespace of domain names';

CREATE FUNCTION uuid_ns_url() RETURNS pg_catalog.uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN '6ba7b811-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid;
COMMENT ON FUNCTION uuid_ns_url() IS 'As uuid-ossp: returns the namespace of URLs';

CREATE FUNCTION uuid_ns_oid() RETURNS pg_catalog.uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN '6ba7b812-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid;
COMMENT ON FUNCTION uuid_ns_oid() IS 'As uuid-ossp: returns the namespace of ISO object identifiers';

CREATE FUNCTION uuid_ns_x500() RETURNS pg_catalog.uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN '6ba7b814-9dad-11d1-80b4-00c04fd430c8'::pg_catalog.uuid;
COMMENT ON FUNCTION uuid_ns_x500() IS 'As uuid-ossp: returns the namespace of X.500 names';
