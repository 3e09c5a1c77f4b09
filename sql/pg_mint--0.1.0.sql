-- The install script of pg_mint, idea by idea, in the order of docs/reference. Functions in C have the arguments, the
-- result and the strictness of the Rust functions behind them: pg_test/cluster/tests/stories/company/catalog.rs.
\echo Use "CREATE EXTENSION pg_mint" to load this file. \quit

-- The schema

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
    -- A trusted extension is installed without the privilege to create in the schema.
    IF target OPERATOR(pg_catalog.=) ANY (
        SELECT n.oid FROM pg_catalog.pg_namespace AS n
        WHERE n.nspname OPERATOR(pg_catalog.=) 'information_schema'::pg_catalog.name
            OR pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_'::pg_catalog.text)
    ) THEN
        RAISE EXCEPTION 'extension "pg_mint" cannot be installed in a schema of the server'
            USING ERRCODE = 'feature_not_supported',
            DETAIL = 'Its functions would be found before those of every search path.',
            HINT = 'Use another schema for its functions and types, as in CREATE EXTENSION pg_mint SCHEMA public.';
    END IF;
    IF target OPERATOR(pg_catalog.=) present THEN
        RAISE EXCEPTION 'extension "pg_mint" cannot be installed in schema "mint"'
            USING ERRCODE = 'feature_not_supported',
            DETAIL = 'The extension creates a schema of this name itself.',
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

-- Layouts: the type, which the snowflake functions take

CREATE TYPE snowflake_layout;

CREATE FUNCTION mint.snowflake_layout_in(text cstring) RETURNS snowflake_layout
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_in_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_in(cstring) IS 'I/O';

CREATE FUNCTION mint.snowflake_layout_out(layout snowflake_layout) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_out_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_out(snowflake_layout) IS 'I/O';

CREATE FUNCTION mint.snowflake_layout_recv(message internal) RETURNS snowflake_layout
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_recv_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_recv(internal) IS 'I/O';

CREATE FUNCTION mint.snowflake_layout_send(layout snowflake_layout) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_send_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_send(snowflake_layout) IS 'I/O';

CREATE TYPE snowflake_layout (
    INPUT = mint.snowflake_layout_in,
    OUTPUT = mint.snowflake_layout_out,
    RECEIVE = mint.snowflake_layout_recv,
    SEND = mint.snowflake_layout_send,
    INTERNALLENGTH = 20,
    ALIGNMENT = char,
    STORAGE = plain
);
COMMENT ON TYPE snowflake_layout IS 'Layout of a 64-bit id: the bits of its time, shard and sequence';

CREATE FUNCTION mint.snowflake_layout_from_text(text text) RETURNS snowflake_layout
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_from_text_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_from_text(text) IS 'implementation of the casts from text and varchar';

-- Implicit, so that parameters, variables and columns of type text are layouts. By a function, as a cast by I/O would be
-- shown in dumps of views.
CREATE CAST (text AS snowflake_layout) WITH FUNCTION mint.snowflake_layout_from_text(text) AS IMPLICIT;
COMMENT ON CAST (text AS snowflake_layout) IS 'Reads a layout from its name or its fields';
CREATE CAST (varchar AS snowflake_layout) WITH FUNCTION mint.snowflake_layout_from_text(text) AS IMPLICIT;
COMMENT ON CAST (varchar AS snowflake_layout) IS 'Reads a layout from its name or its fields';

CREATE FUNCTION mint.snowflake_layout_eq(a snowflake_layout, b snowflake_layout) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_eq_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_eq(snowflake_layout, snowflake_layout) IS 'implementation of = operator';

CREATE FUNCTION mint.snowflake_layout_ne(a snowflake_layout, b snowflake_layout) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_ne_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_ne(snowflake_layout, snowflake_layout) IS 'implementation of <> operator';

CREATE FUNCTION mint.snowflake_layout_lt(a snowflake_layout, b snowflake_layout) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_lt_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_lt(snowflake_layout, snowflake_layout) IS 'implementation of < operator';

CREATE FUNCTION mint.snowflake_layout_le(a snowflake_layout, b snowflake_layout) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_le_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_le(snowflake_layout, snowflake_layout) IS 'implementation of <= operator';

CREATE FUNCTION mint.snowflake_layout_gt(a snowflake_layout, b snowflake_layout) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_gt_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_gt(snowflake_layout, snowflake_layout) IS 'implementation of > operator';

CREATE FUNCTION mint.snowflake_layout_ge(a snowflake_layout, b snowflake_layout) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_ge_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_ge(snowflake_layout, snowflake_layout) IS 'implementation of >= operator';

CREATE FUNCTION mint.snowflake_layout_cmp(a snowflake_layout, b snowflake_layout) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_cmp_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_cmp(snowflake_layout, snowflake_layout) IS 'less-equal-greater';

CREATE FUNCTION mint.snowflake_layout_hash(layout snowflake_layout) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_hash_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_hash(snowflake_layout) IS 'hash';

CREATE FUNCTION mint.snowflake_layout_hash_extended(layout snowflake_layout, seed bigint) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_hash_extended_wrapper';
COMMENT ON FUNCTION mint.snowflake_layout_hash_extended(snowflake_layout, bigint) IS 'hash';

CREATE OPERATOR = (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel
);

CREATE OPERATOR CLASS snowflake_layout_ops DEFAULT FOR TYPE snowflake_layout USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 mint.snowflake_layout_cmp(snowflake_layout, snowflake_layout);

CREATE OPERATOR CLASS snowflake_layout_ops DEFAULT FOR TYPE snowflake_layout USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 mint.snowflake_layout_hash(snowflake_layout),
    FUNCTION 2 mint.snowflake_layout_hash_extended(snowflake_layout, bigint);

-- Conditions on the time of an id, of which the planner makes bounds of the id: see src/time_predicates

CREATE FUNCTION mint.snowflake_time_support(request internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_time_support_wrapper';
COMMENT ON FUNCTION mint.snowflake_time_support(internal) IS 'Internal: planner support for snowflake_time';
REVOKE ALL ON FUNCTION mint.snowflake_time_support(internal) FROM PUBLIC;

CREATE FUNCTION mint.snowflake_decode_support(request internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_decode_support_wrapper';
COMMENT ON FUNCTION mint.snowflake_decode_support(internal) IS 'Internal: planner support for snowflake_decode';
REVOKE ALL ON FUNCTION mint.snowflake_decode_support(internal) FROM PUBLIC;

CREATE FUNCTION mint.uuid_time_support(request internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_time_support_wrapper';
COMMENT ON FUNCTION mint.uuid_time_support(internal) IS 'Internal: planner support for uuid_time';
REVOKE ALL ON FUNCTION mint.uuid_time_support(internal) FROM PUBLIC;

CREATE FUNCTION mint.uuid_v7_time_support(request internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_time_support_wrapper';
COMMENT ON FUNCTION mint.uuid_v7_time_support(internal) IS 'Internal: planner support for uuid_v7_time';
REVOKE ALL ON FUNCTION mint.uuid_v7_time_support(internal) FROM PUBLIC;

CREATE FUNCTION mint.objectid_time_support(request internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_time_support_wrapper';
COMMENT ON FUNCTION mint.objectid_time_support(internal) IS 'Internal: planner support for objectid_time';
REVOKE ALL ON FUNCTION mint.objectid_time_support(internal) FROM PUBLIC;

CREATE FUNCTION mint.timestamptz_of(at timestamp) RETURNS timestamptz
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'timestamptz_of_timestamp_wrapper';
COMMENT ON FUNCTION mint.timestamptz_of(timestamp) IS 'Internal: returns a timestamp as comparisons of timestamptz and timestamp take it';

CREATE FUNCTION mint.timestamptz_of(day date) RETURNS timestamptz
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'timestamptz_of_wrapper';
COMMENT ON FUNCTION mint.timestamptz_of(date) IS 'Internal: returns the start of a day as comparisons of timestamptz and date take it';

-- Snowflake: generating

CREATE FUNCTION snowflake_next_id() RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_next_id_of_node_wrapper';
COMMENT ON FUNCTION snowflake_next_id() IS 'Generates an id of the layout instagram for pg_mint.node';

CREATE FUNCTION snowflake_next_id(shard integer) RETURNS bigint
    VOLATILE PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_next_id_of_shard_wrapper';
COMMENT ON FUNCTION snowflake_next_id(integer) IS 'Generates an id of the layout instagram for a shard';

CREATE FUNCTION snowflake_next_id(shard integer, layout snowflake_layout) RETURNS bigint
    VOLATILE PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_next_id_wrapper';
COMMENT ON FUNCTION snowflake_next_id(integer, snowflake_layout) IS 'Generates an id for a shard';

CREATE FUNCTION snowflake_next(layout snowflake_layout) RETURNS bigint
    VOLATILE PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_next_wrapper';
COMMENT ON FUNCTION snowflake_next(snowflake_layout) IS 'Generates an id for the node of this server, pg_mint.node';

CREATE FUNCTION snowflake_own_shard(layout snowflake_layout DEFAULT 'instagram') RETURNS integer
    STABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_own_shard_wrapper';
COMMENT ON FUNCTION snowflake_own_shard(snowflake_layout) IS 'Returns the shard that snowflake_next() generates ids of, which is the node of this server';

CREATE FUNCTION snowflake_next_ids(
    shard integer, count bigint, layout snowflake_layout DEFAULT 'instagram'
) RETURNS SETOF bigint
    VOLATILE PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_next_ids_wrapper';
COMMENT ON FUNCTION snowflake_next_ids(integer, bigint, snowflake_layout) IS 'Generates many ids for a shard, in ascending order';

CREATE FUNCTION snowflake_next_in(
    shard integer, modulus integer, remainder integer, layout snowflake_layout DEFAULT 'instagram'
) RETURNS bigint
    VOLATILE PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_next_in_wrapper';
COMMENT ON FUNCTION snowflake_next_in(integer, integer, integer, snowflake_layout) IS 'Generates an id for a shard, of a partition by hash';

CREATE FUNCTION snowflake_last_id() RETURNS bigint
    VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_last_id_wrapper';
COMMENT ON FUNCTION snowflake_last_id() IS 'Returns the id that this session generated last';

CREATE FUNCTION snowflake_start_above(id bigint, layout snowflake_layout DEFAULT 'instagram') RETURNS timestamptz
    VOLATILE STRICT PARALLEL RESTRICTED COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_start_above_wrapper';
COMMENT ON FUNCTION snowflake_start_above(bigint, snowflake_layout) IS 'Lets the shard of an id generate nothing at or below the id, and returns the time from which its ids continue';

-- Snowflake: reading

CREATE FUNCTION snowflake_decode(id bigint, layout snowflake_layout DEFAULT 'instagram') RETURNS TABLE (
    at timestamptz, shard integer, sequence bigint, parts integer[]
)
    IMMUTABLE STRICT PARALLEL SAFE ROWS 1 SUPPORT mint.snowflake_decode_support
    LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_decode_wrapper';
COMMENT ON FUNCTION snowflake_decode(bigint, snowflake_layout) IS 'Returns the timestamp, the shard and the sequence of an id';

CREATE FUNCTION snowflake_time(id bigint, layout snowflake_layout DEFAULT 'instagram') RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT mint.snowflake_time_support
    LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_time_wrapper';
COMMENT ON FUNCTION snowflake_time(bigint, snowflake_layout) IS 'Returns the start of an id''s tick: when it was generated, or up to pg_mint.max_ahead later';

CREATE FUNCTION snowflake_shard(id bigint, layout snowflake_layout DEFAULT 'instagram') RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_shard_wrapper';
COMMENT ON FUNCTION snowflake_shard(bigint, snowflake_layout) IS 'Returns the shard of an id';

CREATE FUNCTION snowflake_sequence(id bigint, layout snowflake_layout DEFAULT 'instagram') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_sequence_wrapper';
COMMENT ON FUNCTION snowflake_sequence(bigint, snowflake_layout) IS 'Returns the sequence of an id within its tick';

CREATE FUNCTION mint.snowflake_shard_parts(id bigint, layout snowflake_layout) RETURNS integer[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_shard_parts_wrapper';
COMMENT ON FUNCTION mint.snowflake_shard_parts(bigint, snowflake_layout) IS 'Internal: returns the two parts of the shard of an id, if it is split';

-- What the planner inlines for snowflake_decode in FROM: in SQL and not STRICT. For IS NOT NULL on a key of partitions,
-- releases of PostgreSQL 15 and 16 would forget the default partition beside an OR or IN.
CREATE FUNCTION mint.snowflake_decode_inlined(id bigint, layout snowflake_layout) RETURNS TABLE (
    at timestamptz, shard integer, sequence bigint, parts integer[]
)
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT snowflake_time(id, layout), snowflake_shard(id, layout), snowflake_sequence(id, layout),
           mint.snowflake_shard_parts(id, layout)
    WHERE (id IS NULL) IS NOT TRUE AND layout IS NOT NULL;
END;
COMMENT ON FUNCTION mint.snowflake_decode_inlined(bigint, snowflake_layout) IS 'Internal: returns the same as snowflake_decode';

CREATE FUNCTION snowflake_is_valid(id bigint, layout snowflake_layout DEFAULT 'instagram') RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_is_valid_wrapper';
COMMENT ON FUNCTION snowflake_is_valid(bigint, snowflake_layout) IS 'Returns whether an id can have a layout';

-- Snowflake: time ranges

CREATE FUNCTION snowflake_min(at timestamptz, layout snowflake_layout DEFAULT 'instagram') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_min_wrapper';
COMMENT ON FUNCTION snowflake_min(timestamptz, snowflake_layout) IS 'Returns the smallest id at or after a timestamp';

CREATE FUNCTION snowflake_max(at timestamptz, layout snowflake_layout DEFAULT 'instagram') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_max_wrapper';
COMMENT ON FUNCTION snowflake_max(timestamptz, snowflake_layout) IS 'Returns the largest id at or before a timestamp';

CREATE FUNCTION mint.snowflake_min_after(at timestamptz, layout snowflake_layout DEFAULT 'instagram') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_min_after_wrapper';
COMMENT ON FUNCTION mint.snowflake_min_after(timestamptz, snowflake_layout) IS 'Returns the smallest id after a timestamp';

CREATE FUNCTION mint.snowflake_max_before(at timestamptz, layout snowflake_layout DEFAULT 'instagram') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_max_before_wrapper';
COMMENT ON FUNCTION mint.snowflake_max_before(timestamptz, snowflake_layout) IS 'Returns the largest id before a timestamp';

-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION snowflake_between(
    id pg_catalog.int8, since pg_catalog.timestamptz, until pg_catalog.timestamptz,
    layout snowflake_layout DEFAULT 'instagram'
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(pg_catalog.>=) snowflake_min(since, layout)
        AND id OPERATOR(pg_catalog.<=) mint.snowflake_max_before(until, layout);
COMMENT ON FUNCTION snowflake_between(bigint, timestamptz, timestamptz, snowflake_layout) IS 'Returns whether an id has a time in a range whose end is excluded';

CREATE FUNCTION snowflake_span(length interval, layout snowflake_layout DEFAULT 'instagram') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_span_wrapper';
COMMENT ON FUNCTION snowflake_span(interval, snowflake_layout) IS 'Returns the distance of two ids whose times are an interval apart';

-- Snowflake: making ids from parts

CREATE FUNCTION snowflake_encode(
    at timestamptz, shard integer, sequence bigint, layout snowflake_layout DEFAULT 'instagram'
) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_encode_wrapper';
COMMENT ON FUNCTION snowflake_encode(timestamptz, integer, bigint, snowflake_layout) IS 'Returns the id of a timestamp, a shard and a sequence';

CREATE FUNCTION snowflake_shard_from_parts(parts integer[], layout snowflake_layout) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_shard_from_parts_wrapper';
COMMENT ON FUNCTION snowflake_shard_from_parts(integer[], snowflake_layout) IS 'Returns the shard that has these parts, each checked against its width';

CREATE FUNCTION snowflake_node_from_mac(addresses text) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_node_from_mac_wrapper';
COMMENT ON FUNCTION snowflake_node_from_mac(text) IS 'Returns the node that Java''s SequenceGenerator computes from MAC addresses';

-- Snowflake: the built-in layouts

CREATE FUNCTION snowflake_layouts() RETURNS TABLE (
    name text, layout snowflake_layout, bits text, unit interval, epoch timestamptz, shards bigint,
    ids_per_second double precision, first_invalid timestamptz, expired boolean, definition text
)
    STABLE STRICT PARALLEL SAFE COST 10 ROWS 15 LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layouts_wrapper';
COMMENT ON FUNCTION snowflake_layouts() IS 'Returns the built-in layouts';

CREATE FUNCTION snowflake_layouts(layout snowflake_layout) RETURNS TABLE (
    name text, layout snowflake_layout, bits text, unit interval, epoch timestamptz, shards bigint,
    ids_per_second double precision, first_invalid timestamptz, expired boolean, definition text
)
    STABLE STRICT PARALLEL SAFE ROWS 1 LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_layout_row_wrapper';
COMMENT ON FUNCTION snowflake_layouts(snowflake_layout) IS 'Returns how long a layout lasts, how many shards it has, and how many ids a second';

-- Snowflake: ids that do not sort by time

CREATE FUNCTION snowflake_scatter(id bigint, digits integer DEFAULT 1) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_scatter_wrapper';
COMMENT ON FUNCTION snowflake_scatter(bigint, integer) IS 'Moves the last decimal digits of an id behind its first digit';

CREATE FUNCTION snowflake_unscatter(id bigint, digits integer DEFAULT 1) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'snowflake_unscatter_wrapper';
COMMENT ON FUNCTION snowflake_unscatter(bigint, integer) IS 'Returns the id that snowflake_scatter was given';

CREATE FUNCTION auto_random(value bigint, shard_bits integer DEFAULT 5, range_bits integer DEFAULT 64) RETURNS bigint
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'auto_random_wrapper';
COMMENT ON FUNCTION auto_random(bigint, integer, integer) IS 'Returns a value with a shard of this transaction in front, as TiDB''s AUTO_RANDOM does';

CREATE FUNCTION auto_random_value(
    id bigint, shard_bits integer DEFAULT 5, range_bits integer DEFAULT 64
) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'auto_random_value_wrapper';
COMMENT ON FUNCTION auto_random_value(bigint, integer, integer) IS 'Returns the value that auto_random was given';

CREATE FUNCTION auto_random_shard(
    id bigint, shard_bits integer DEFAULT 5, range_bits integer DEFAULT 64
) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'auto_random_shard_wrapper';
COMMENT ON FUNCTION auto_random_shard(bigint, integer, integer) IS 'Returns the shard that auto_random drew for an id';

-- UUID: generating

CREATE FUNCTION uuid_v7() RETURNS uuid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_wrapper';
COMMENT ON FUNCTION uuid_v7() IS 'Generates a UUID of version 7, which sorts by time';

CREATE FUNCTION uuid_v7(at timestamptz) RETURNS uuid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_at_wrapper';
COMMENT ON FUNCTION uuid_v7(timestamptz) IS 'Generates a UUID of version 7 for a given timestamp';

CREATE FUNCTION uuid_v7_in(modulus integer, remainder integer) RETURNS uuid
    VOLATILE PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_in_wrapper';
COMMENT ON FUNCTION uuid_v7_in(integer, integer) IS 'Generates a UUID of version 7 of a partition by hash';

CREATE FUNCTION uuid_v4() RETURNS uuid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v4_wrapper';
COMMENT ON FUNCTION uuid_v4() IS 'Generates a UUID of version 4, random';

CREATE FUNCTION uuid_v6() RETURNS uuid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v6_wrapper';
COMMENT ON FUNCTION uuid_v6() IS 'Generates a UUID of version 6, of time and node, which sorts by time';

CREATE FUNCTION uuid_v1() RETURNS uuid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v1_wrapper';
COMMENT ON FUNCTION uuid_v1() IS 'Generates a UUID of version 1, of time and node';

CREATE FUNCTION uuid_v2(domain integer, local_id bigint) RETURNS uuid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v2_of_number_wrapper';
COMMENT ON FUNCTION uuid_v2(integer, bigint) IS 'Generates a UUID of version 2, for a domain by number and a local id';

CREATE FUNCTION uuid_v2(domain text, local_id bigint) RETURNS uuid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v2_wrapper';
COMMENT ON FUNCTION uuid_v2(text, bigint) IS 'Generates a UUID of version 2, for a domain by name and a local id';

CREATE FUNCTION uuid_v3(namespace text, name text) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v3_wrapper';
COMMENT ON FUNCTION uuid_v3(text, text) IS 'Computes the UUID of a name, version 3, by MD5';

CREATE FUNCTION uuid_v3(namespace uuid, name text) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v3_of_uuid_wrapper';
COMMENT ON FUNCTION uuid_v3(uuid, text) IS 'Computes the UUID of a name, version 3, by MD5';

CREATE FUNCTION uuid_v5(namespace text, name text) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v5_wrapper';
COMMENT ON FUNCTION uuid_v5(text, text) IS 'Computes the UUID of a name, version 5, by SHA-1';

CREATE FUNCTION uuid_v5(namespace uuid, name text) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v5_of_uuid_wrapper';
COMMENT ON FUNCTION uuid_v5(uuid, text) IS 'Computes the UUID of a name, version 5, by SHA-1';

CREATE FUNCTION uuid_v8(bytes bytea) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v8_wrapper';
COMMENT ON FUNCTION uuid_v8(bytea) IS 'Returns a UUID of version 8 made of 16 bytes, of which 6 bits are overwritten';

CREATE FUNCTION uuid_nil_value() RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_nil_value_wrapper';
COMMENT ON FUNCTION uuid_nil_value() IS 'Returns the UUID whose bits are all zero';

CREATE FUNCTION uuid_max_value() RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_max_value_wrapper';
COMMENT ON FUNCTION uuid_max_value() IS 'Returns the UUID whose bits are all one';

-- UUID: reading

CREATE FUNCTION uuid_version_of(id uuid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_version_of_wrapper';
COMMENT ON FUNCTION uuid_version_of(uuid) IS 'Returns the version of a UUID';

CREATE FUNCTION uuid_variant(id uuid) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_variant_wrapper';
COMMENT ON FUNCTION uuid_variant(uuid) IS 'Returns the variant of a UUID';

CREATE FUNCTION uuid_time(id uuid) RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT mint.uuid_time_support
    LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_time_wrapper';
COMMENT ON FUNCTION uuid_time(uuid) IS 'Returns when a UUID was generated; NULL for versions without a time';

CREATE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT mint.uuid_v7_time_support
    LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_time_wrapper';
COMMENT ON FUNCTION uuid_v7_time(uuid) IS 'Returns when a UUID of version 7 was generated; NULL for other versions';

CREATE FUNCTION uuid_node(id uuid) RETURNS macaddr
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_node_wrapper';
COMMENT ON FUNCTION uuid_node(uuid) IS 'Returns the node of a UUID; NULL for versions without one';

CREATE FUNCTION uuid_clock_sequence(id uuid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_clock_sequence_wrapper';
COMMENT ON FUNCTION uuid_clock_sequence(uuid) IS 'Returns the clock sequence of a UUID; NULL for versions without one';

CREATE FUNCTION uuid_domain(id uuid) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_domain_wrapper';
COMMENT ON FUNCTION uuid_domain(uuid) IS 'Returns the domain of a UUID of version 2; NULL for other versions';

CREATE FUNCTION uuid_local_id(id uuid) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_local_id_wrapper';
COMMENT ON FUNCTION uuid_local_id(uuid) IS 'Returns the local id of a UUID of version 2; NULL for other versions';

CREATE FUNCTION uuid_v1_to_v6(id uuid) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v1_to_v6_wrapper';
COMMENT ON FUNCTION uuid_v1_to_v6(uuid) IS 'Converts a UUID of version 1 to version 6';

CREATE FUNCTION uuid_v6_to_v1(id uuid) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v6_to_v1_wrapper';
COMMENT ON FUNCTION uuid_v6_to_v1(uuid) IS 'Converts a UUID of version 6 to version 1';

-- UUID: time ranges

CREATE FUNCTION uuid_v7_min(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_min_wrapper';
COMMENT ON FUNCTION uuid_v7_min(timestamptz) IS 'Returns the smallest UUID of version 7 at or after a timestamp';

CREATE FUNCTION uuid_v7_max(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_max_wrapper';
COMMENT ON FUNCTION uuid_v7_max(timestamptz) IS 'Returns the largest UUID of version 7 at or before a timestamp';

CREATE FUNCTION mint.uuid_v7_min_after(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_min_after_wrapper';
COMMENT ON FUNCTION mint.uuid_v7_min_after(timestamptz) IS 'Returns the smallest UUID of version 7 after a timestamp';

CREATE FUNCTION mint.uuid_v7_max_before(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_v7_max_before_wrapper';
COMMENT ON FUNCTION mint.uuid_v7_max_before(timestamptz) IS 'Returns the largest UUID of version 7 before a timestamp';

-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION uuid_v7_between(
    id pg_catalog.uuid, since pg_catalog.timestamptz, until pg_catalog.timestamptz
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(pg_catalog.>=) uuid_v7_min(since) AND id OPERATOR(pg_catalog.<=) mint.uuid_v7_max_before(until);
COMMENT ON FUNCTION uuid_v7_between(uuid, timestamptz, timestamptz) IS 'Returns whether a UUID of version 7 has a time in a range whose end is excluded';

-- ULID

CREATE FUNCTION ulid() RETURNS text
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_wrapper';
COMMENT ON FUNCTION ulid() IS 'Generates a ULID, a UUID of version 7 as 26 characters';

CREATE FUNCTION ulid(at timestamptz) RETURNS text
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_at_wrapper';
COMMENT ON FUNCTION ulid(timestamptz) IS 'Generates a ULID for a given timestamp';

CREATE FUNCTION ulid_to_uuid(id text) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_to_uuid_wrapper';
COMMENT ON FUNCTION ulid_to_uuid(text) IS 'Returns the UUID with the same bits as a ULID';

CREATE FUNCTION uuid_to_ulid(id uuid) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_to_ulid_wrapper';
COMMENT ON FUNCTION uuid_to_ulid(uuid) IS 'Returns the ULID with the same bits as a UUID';

CREATE FUNCTION ulid_time(id text) RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_time_wrapper';
COMMENT ON FUNCTION ulid_time(text) IS 'Returns when a ULID was generated';

CREATE FUNCTION ulid_time(id uuid) RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_time_of_uuid_wrapper';
COMMENT ON FUNCTION ulid_time(uuid) IS 'Returns when a ULID that is stored as a UUID was generated';

CREATE FUNCTION ulid_min(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_min_wrapper';
COMMENT ON FUNCTION ulid_min(timestamptz) IS 'Returns the smallest ULID at or after a timestamp, as a UUID';

CREATE FUNCTION ulid_max(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_max_wrapper';
COMMENT ON FUNCTION ulid_max(timestamptz) IS 'Returns the largest ULID at or before a timestamp, as a UUID';

CREATE FUNCTION mint.ulid_min_after(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_min_after_wrapper';
COMMENT ON FUNCTION mint.ulid_min_after(timestamptz) IS 'Returns the smallest ULID after a timestamp, as a UUID';

CREATE FUNCTION mint.ulid_max_before(at timestamptz) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ulid_max_before_wrapper';
COMMENT ON FUNCTION mint.ulid_max_before(timestamptz) IS 'Returns the largest ULID before a timestamp, as a UUID';

-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION ulid_between(
    id pg_catalog.uuid, since pg_catalog.timestamptz, until pg_catalog.timestamptz
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(pg_catalog.>=) ulid_min(since) AND id OPERATOR(pg_catalog.<=) mint.ulid_max_before(until);
COMMENT ON FUNCTION ulid_between(uuid, timestamptz, timestamptz) IS 'Returns whether a ULID that is stored as a UUID has a time in a range whose end is excluded';

-- TypeID

CREATE FUNCTION typeid(prefix text, id uuid) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'typeid_of_wrapper';
COMMENT ON FUNCTION typeid(text, uuid) IS 'Returns the TypeID of a prefix and a UUID';

CREATE FUNCTION typeid_uuid(id text) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'typeid_uuid_wrapper';
COMMENT ON FUNCTION typeid_uuid(text) IS 'Returns the UUID of a TypeID';

CREATE FUNCTION typeid_prefix(id text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'typeid_prefix_wrapper';
COMMENT ON FUNCTION typeid_prefix(text) IS 'Returns the prefix of a TypeID';

CREATE FUNCTION typeid_check(id text, prefix text) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'typeid_check_wrapper';
COMMENT ON FUNCTION typeid_check(text, text) IS 'Returns whether a text is a TypeID with a prefix';

-- MySQL's functions of UUIDs

CREATE FUNCTION uuid_to_bin(id uuid, swap integer) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_to_bin_by_number_wrapper';
COMMENT ON FUNCTION uuid_to_bin(uuid, integer) IS 'Returns the bytes of a UUID, as in MySQL';

CREATE FUNCTION uuid_to_bin(id uuid, swap boolean DEFAULT false) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_to_bin_wrapper';
COMMENT ON FUNCTION uuid_to_bin(uuid, boolean) IS 'Returns the bytes of a UUID, as in MySQL';

CREATE FUNCTION bin_to_uuid(bytes bytea, swap integer) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bin_to_uuid_by_number_wrapper';
COMMENT ON FUNCTION bin_to_uuid(bytea, integer) IS 'Returns the UUID of its bytes, as in MySQL';

CREATE FUNCTION bin_to_uuid(bytes bytea, swap boolean DEFAULT false) RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bin_to_uuid_wrapper';
COMMENT ON FUNCTION bin_to_uuid(bytea, boolean) IS 'Returns the UUID of its bytes, as in MySQL';

CREATE FUNCTION is_uuid(id text) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'is_uuid_wrapper';
COMMENT ON FUNCTION is_uuid(text) IS 'Returns whether a text is a UUID, as in MySQL';

-- ObjectID: the type

CREATE TYPE objectid;

CREATE FUNCTION mint.objectid_in(text cstring) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_in_wrapper';
COMMENT ON FUNCTION mint.objectid_in(cstring) IS 'I/O';

CREATE FUNCTION mint.objectid_out(id objectid) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_out_wrapper';
COMMENT ON FUNCTION mint.objectid_out(objectid) IS 'I/O';

CREATE FUNCTION mint.objectid_recv(message internal) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_recv_wrapper';
COMMENT ON FUNCTION mint.objectid_recv(internal) IS 'I/O';

CREATE FUNCTION mint.objectid_send(id objectid) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_send_wrapper';
COMMENT ON FUNCTION mint.objectid_send(objectid) IS 'I/O';

CREATE TYPE objectid (
    INPUT = mint.objectid_in,
    OUTPUT = mint.objectid_out,
    RECEIVE = mint.objectid_recv,
    SEND = mint.objectid_send,
    INTERNALLENGTH = 12,
    ALIGNMENT = char,
    STORAGE = plain
);
COMMENT ON TYPE objectid IS 'MongoDB''s 12-byte id: seconds, process and counter';

CREATE FUNCTION mint.objectid_to_bytea(id objectid) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_to_bytea_wrapper';
COMMENT ON FUNCTION mint.objectid_to_bytea(objectid) IS 'implementation of the cast to bytea';

CREATE FUNCTION mint.objectid_from_bytea(bytes bytea) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_from_bytea_wrapper';
COMMENT ON FUNCTION mint.objectid_from_bytea(bytea) IS 'implementation of the cast from bytea';

-- None is implicit: a comparison of text with an objectid must stay an error. On assignment PostgreSQL itself casts to text;
-- the casts from text let parameters of ORMs, which are sent as text, into columns.
CREATE CAST (text AS objectid) WITH INOUT AS ASSIGNMENT;
CREATE CAST (varchar AS objectid) WITH INOUT AS ASSIGNMENT;
CREATE CAST (objectid AS bytea) WITH FUNCTION mint.objectid_to_bytea(objectid) AS ASSIGNMENT;
CREATE CAST (bytea AS objectid) WITH FUNCTION mint.objectid_from_bytea(bytea) AS ASSIGNMENT;

-- ObjectIDs are ordered by bytes, and so by time. The functions are in src/objectid/order.rs.
CREATE FUNCTION mint.objectid_eq(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_eq';
COMMENT ON FUNCTION mint.objectid_eq(objectid, objectid) IS 'implementation of = operator';

CREATE FUNCTION mint.objectid_ne(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_ne';
COMMENT ON FUNCTION mint.objectid_ne(objectid, objectid) IS 'implementation of <> operator';

CREATE FUNCTION mint.objectid_lt(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_lt';
COMMENT ON FUNCTION mint.objectid_lt(objectid, objectid) IS 'implementation of < operator';

CREATE FUNCTION mint.objectid_le(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_le';
COMMENT ON FUNCTION mint.objectid_le(objectid, objectid) IS 'implementation of <= operator';

CREATE FUNCTION mint.objectid_gt(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_gt';
COMMENT ON FUNCTION mint.objectid_gt(objectid, objectid) IS 'implementation of > operator';

CREATE FUNCTION mint.objectid_ge(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_ge';
COMMENT ON FUNCTION mint.objectid_ge(objectid, objectid) IS 'implementation of >= operator';

CREATE FUNCTION mint.objectid_cmp(a objectid, b objectid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_cmp';
COMMENT ON FUNCTION mint.objectid_cmp(objectid, objectid) IS 'less-equal-greater';

CREATE FUNCTION mint.objectid_sortsupport(internal) RETURNS void
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_sortsupport';
COMMENT ON FUNCTION mint.objectid_sortsupport(internal) IS 'sort support';

CREATE FUNCTION mint.objectid_hash(id objectid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_hash';
COMMENT ON FUNCTION mint.objectid_hash(objectid) IS 'hash';

CREATE FUNCTION mint.objectid_hash_extended(id objectid, seed bigint) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_hash_extended';
COMMENT ON FUNCTION mint.objectid_hash_extended(objectid, bigint) IS 'hash';

CREATE FUNCTION mint.objectid_smaller(a objectid, b objectid) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_smaller';
COMMENT ON FUNCTION mint.objectid_smaller(objectid, objectid) IS 'smaller of two';

CREATE FUNCTION mint.objectid_larger(a objectid, b objectid) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_larger';
COMMENT ON FUNCTION mint.objectid_larger(objectid, objectid) IS 'larger of two';

CREATE OPERATOR = (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel
);

CREATE OPERATOR CLASS objectid_ops DEFAULT FOR TYPE objectid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 mint.objectid_cmp(objectid, objectid),
    FUNCTION 2 mint.objectid_sortsupport(internal),
    FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS objectid_ops DEFAULT FOR TYPE objectid USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 mint.objectid_hash(objectid),
    FUNCTION 2 mint.objectid_hash_extended(objectid, bigint);

CREATE OPERATOR CLASS objectid_minmax_ops DEFAULT FOR TYPE objectid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 pg_catalog.brin_minmax_opcinfo(internal),
    FUNCTION 2 pg_catalog.brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 pg_catalog.brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 pg_catalog.brin_minmax_union(internal, internal, internal);

CREATE AGGREGATE min(objectid) (
    SFUNC = mint.objectid_smaller, STYPE = objectid, COMBINEFUNC = mint.objectid_smaller, SORTOP = <, PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(objectid) IS 'minimum value of all objectid input values';

CREATE AGGREGATE max(objectid) (
    SFUNC = mint.objectid_larger, STYPE = objectid, COMBINEFUNC = mint.objectid_larger, SORTOP = >, PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(objectid) IS 'maximum value of all objectid input values';

-- ObjectID: generating

CREATE FUNCTION objectid() RETURNS objectid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_wrapper';
COMMENT ON FUNCTION objectid() IS 'Generates an ObjectID';

CREATE FUNCTION objectid(at timestamptz) RETURNS objectid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_at_wrapper';
COMMENT ON FUNCTION objectid(timestamptz) IS 'Generates an ObjectID for a given timestamp';

CREATE FUNCTION objectid_legacy() RETURNS objectid
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_legacy_wrapper';
COMMENT ON FUNCTION objectid_legacy() IS 'Generates an ObjectID that contains machine and process';

-- ObjectID: reading

CREATE FUNCTION objectid_time(id objectid) RETURNS timestamptz
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT mint.objectid_time_support
    LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_time_wrapper';
COMMENT ON FUNCTION objectid_time(objectid) IS 'Returns when an ObjectID was generated, in whole seconds';

CREATE FUNCTION objectid_counter(id objectid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_counter_wrapper';
COMMENT ON FUNCTION objectid_counter(objectid) IS 'Returns the counter of an ObjectID';

CREATE FUNCTION objectid_legacy_machine(id objectid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_legacy_machine_wrapper';
COMMENT ON FUNCTION objectid_legacy_machine(objectid) IS 'Returns the machine of a legacy ObjectID';

CREATE FUNCTION objectid_legacy_pid(id objectid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_legacy_pid_wrapper';
COMMENT ON FUNCTION objectid_legacy_pid(objectid) IS 'Returns the process of a legacy ObjectID';

-- ObjectID: time ranges

CREATE FUNCTION objectid_min(at timestamptz) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_min_wrapper';
COMMENT ON FUNCTION objectid_min(timestamptz) IS 'Returns the smallest ObjectID at or after a timestamp';

CREATE FUNCTION objectid_max(at timestamptz) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_max_wrapper';
COMMENT ON FUNCTION objectid_max(timestamptz) IS 'Returns the largest ObjectID at or before a timestamp';

CREATE FUNCTION mint.objectid_min_after(at timestamptz) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_min_after_wrapper';
COMMENT ON FUNCTION mint.objectid_min_after(timestamptz) IS 'Returns the smallest ObjectID after a timestamp';

CREATE FUNCTION mint.objectid_max_before(at timestamptz) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_max_before_wrapper';
COMMENT ON FUNCTION mint.objectid_max_before(timestamptz) IS 'Returns the largest ObjectID before a timestamp';

-- In SQL and not STRICT, so that the planner inlines it and sees a range of the key.
CREATE FUNCTION objectid_between(
    id objectid, since pg_catalog.timestamptz, until pg_catalog.timestamptz
) RETURNS pg_catalog.bool
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN id OPERATOR(@extschema@.>=) objectid_min(since)
        AND id OPERATOR(@extschema@.<=) mint.objectid_max_before(until);
COMMENT ON FUNCTION objectid_between(objectid, timestamptz, timestamptz) IS 'Returns whether an ObjectID has a time in a range whose end is excluded';

-- Counters: segments

CREATE FUNCTION segment_next(sequence regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'segment_next_wrapper';
COMMENT ON FUNCTION segment_next(regclass) IS 'Returns the next value of a sequence, from a segment that all sessions share';

CREATE FUNCTION segment_next_range(sequence regclass, count bigint) RETURNS TABLE (
    first bigint, last bigint, step bigint
)
    VOLATILE STRICT PARALLEL SAFE ROWS 1 LANGUAGE c AS 'MODULE_PATHNAME', 'segment_next_range_wrapper';
COMMENT ON FUNCTION segment_next_range(regclass, bigint) IS 'Returns the next values of a sequence as one range; call it in FROM';

CREATE FUNCTION segment_last(sequence regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE c AS 'MODULE_PATHNAME', 'segment_last_wrapper';
COMMENT ON FUNCTION segment_last(regclass) IS 'Returns the value of a sequence that this session drew last';

CREATE FUNCTION segment_current(sequence regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'segment_current_wrapper';
COMMENT ON FUNCTION segment_current(regclass) IS 'Returns the value of a sequence that any session drew last';

CREATE FUNCTION segment_set(sequence regclass, value bigint, is_called boolean DEFAULT true) RETURNS bigint
    VOLATILE STRICT PARALLEL UNSAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'segment_set_wrapper';
COMMENT ON FUNCTION segment_set(regclass, bigint, boolean) IS 'Sets a sequence to a value, as setval does, and drops the segments taken from it';

CREATE FUNCTION segment_create(
    name text, step bigint DEFAULT NULL, start bigint DEFAULT NULL, source text DEFAULT NULL,
    source_sequence text DEFAULT NULL
) RETURNS regclass
    VOLATILE PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'segment_create_wrapper';
COMMENT ON FUNCTION segment_create(text, bigint, bigint, text, text) IS 'Creates a sequence whose values are taken in segments';

CREATE FUNCTION mint.segment_request(sequence regclass, count bigint, taken bigint) RETURNS TABLE (
    first bigint, last bigint, step bigint, cycle boolean
)
    VOLATILE PARALLEL UNSAFE COST 100 ROWS 1 LANGUAGE c AS 'MODULE_PATHNAME', 'segment_request_wrapper';
COMMENT ON FUNCTION mint.segment_request(regclass, bigint, bigint) IS 'Internal: takes values of a sequence for another server, which has taken values before';

CREATE FUNCTION mint.segments() RETURNS TABLE (
    sequence regclass, "position" bigint, segment_end bigint, next_ready boolean, step bigint, drawn bigint,
    refills bigint, waits bigint, waited interval, last_refill timestamptz, trouble text
)
    VOLATILE STRICT PARALLEL SAFE COST 100 ROWS 100 LANGUAGE c AS 'MODULE_PATHNAME', 'segments_wrapper';
COMMENT ON FUNCTION mint.segments() IS 'Returns the sequences of this database that were drawn from in segments since the server started, or that have taken values from another server';

CREATE VIEW mint.segments AS SELECT * FROM mint.segments();
COMMENT ON VIEW mint.segments IS 'Shows the sequences of this database that were drawn from in segments since the server started, or that have taken values from another server';
GRANT SELECT ON mint.segments TO PUBLIC;

CREATE FUNCTION mint.leaf_alloc_change() RETURNS trigger
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'leaf_alloc_change_wrapper';
COMMENT ON FUNCTION mint.leaf_alloc_change() IS 'Internal: creates the sequence of a row that is inserted into mint.leaf_alloc, and refuses to change a row';
REVOKE ALL ON FUNCTION mint.leaf_alloc_change() FROM PUBLIC;

CREATE FUNCTION mint.leaf_max_id(sequence regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'leaf_max_id_wrapper';
COMMENT ON FUNCTION mint.leaf_max_id(regclass) IS 'Internal: returns the next value of a sequence; NULL if the role may not read it, or another session has locked it';

-- Leaf's table: the sequences that were made through it, which their comments say.
CREATE VIEW mint.leaf_alloc AS
SELECT
    CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::pg_catalog.text
         ELSE c.relnamespace::pg_catalog.regnamespace::pg_catalog.text OPERATOR(pg_catalog.||) '.'::pg_catalog.text
             OPERATOR(pg_catalog.||) c.relname::pg_catalog.text END AS biz_tag,
    mint.leaf_max_id(c.oid::pg_catalog.regclass) AS max_id,
    CASE WHEN s.seqcache OPERATOR(pg_catalog.<) 2147483647::pg_catalog.int8 THEN s.seqcache
         ELSE 2147483647::pg_catalog.int8 END::pg_catalog.int4 AS step,
    CASE WHEN pg_catalog.starts_with(d.description, 'Leaf tag: '::pg_catalog.text)
         THEN pg_catalog.substr(d.description, 11::pg_catalog.int4) END AS description,
    g.last_refill AS update_time
FROM pg_catalog.pg_sequence AS s
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) s.seqrelid
JOIN pg_catalog.pg_description AS d ON d.objoid OPERATOR(pg_catalog.=) c.oid
    AND d.classoid OPERATOR(pg_catalog.=) c.tableoid AND d.objsubid OPERATOR(pg_catalog.=) 0::pg_catalog.int4
LEFT JOIN mint.segments() AS g ON g.sequence::pg_catalog.oid OPERATOR(pg_catalog.=) c.oid
WHERE c.relpersistence OPERATOR(pg_catalog.=) 'p'::pg_catalog."char"
    -- The length of a comment is known before it is read: the owner of any sequence can write one of 1 GB.
    AND CASE WHEN pg_catalog.octet_length(d.description) OPERATOR(pg_catalog.<=) 10000::pg_catalog.int4
        THEN d.description OPERATOR(pg_catalog.=) 'Leaf tag'::pg_catalog.text
            OR pg_catalog.starts_with(d.description, 'Leaf tag: '::pg_catalog.text) END;
COMMENT ON VIEW mint.leaf_alloc IS 'Shows the sequences that were created through it, with the columns of Leaf''s table; INSERT creates a sequence';
CREATE TRIGGER leaf_alloc_change INSTEAD OF INSERT OR UPDATE OR DELETE ON mint.leaf_alloc
    FOR EACH ROW EXECUTE FUNCTION mint.leaf_alloc_change();
-- The trigger refuses both, and says what to use.
GRANT SELECT, INSERT, UPDATE, DELETE ON mint.leaf_alloc TO PUBLIC;

-- Counters: tickets

CREATE FUNCTION ticket_create(
    name text, server integer DEFAULT 1, servers integer DEFAULT 1, bits integer DEFAULT 64, above numeric DEFAULT 0,
    step bigint DEFAULT NULL
) RETURNS regclass
    VOLATILE PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'ticket_create_wrapper';
COMMENT ON FUNCTION ticket_create(text, integer, integer, integer, numeric, bigint) IS 'Creates a ticket sequence of one of several servers';

CREATE FUNCTION ticket_next(ticket regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ticket_next_wrapper';
COMMENT ON FUNCTION ticket_next(regclass) IS 'Returns the next ticket';

CREATE FUNCTION ticket_next_range(ticket regclass, count bigint) RETURNS TABLE (
    first bigint, last bigint, step bigint
)
    VOLATILE STRICT PARALLEL SAFE ROWS 1 LANGUAGE c AS 'MODULE_PATHNAME', 'ticket_next_range_wrapper';
COMMENT ON FUNCTION ticket_next_range(regclass, bigint) IS 'Returns the next tickets as one range; call it in FROM';

CREATE FUNCTION ticket_last(ticket regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE c AS 'MODULE_PATHNAME', 'ticket_last_wrapper';
COMMENT ON FUNCTION ticket_last(regclass) IS 'Returns the ticket that this session drew last';

CREATE FUNCTION ticket_current(ticket regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'ticket_current_wrapper';
COMMENT ON FUNCTION ticket_current(regclass) IS 'Returns the ticket that any session drew last';

CREATE FUNCTION ticket_alter(ticket regclass, server integer, servers integer, above bigint) RETURNS bigint
    VOLATILE STRICT PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'ticket_alter_wrapper';
COMMENT ON FUNCTION ticket_alter(regclass, integer, integer, bigint) IS 'Changes the number of ticket servers and returns the next ticket';

-- Counters: user sequences

CREATE FUNCTION user_sequence_create(
    name text, sections integer DEFAULT 64, step bigint DEFAULT 10000, above bigint DEFAULT 0
) RETURNS regclass
    VOLATILE PARALLEL UNSAFE COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequence_create_wrapper';
COMMENT ON FUNCTION user_sequence_create(text, integer, bigint, bigint) IS 'Creates a family of user sequences';

CREATE FUNCTION user_sequence_drop(family regclass) RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequence_drop_wrapper';
COMMENT ON FUNCTION user_sequence_drop(regclass) IS 'Drops a family of user sequences';

CREATE FUNCTION user_sequence_next(family regclass, uid bigint) RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequence_next_wrapper';
COMMENT ON FUNCTION user_sequence_next(regclass, bigint) IS 'Returns the next number of a user';

CREATE FUNCTION user_sequence_next_range(family regclass, uid bigint, count bigint) RETURNS TABLE (
    first bigint, last bigint, step bigint
)
    VOLATILE STRICT PARALLEL SAFE ROWS 1 LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequence_next_range_wrapper';
COMMENT ON FUNCTION user_sequence_next_range(regclass, bigint, bigint) IS 'Returns the next numbers of a user as one range; call it in FROM';

CREATE FUNCTION user_sequence_current(family regclass, uid bigint) RETURNS bigint
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequence_current_wrapper';
COMMENT ON FUNCTION user_sequence_current(regclass, bigint) IS 'Returns an upper bound of the numbers of a user; the last number while the user is in memory';

CREATE FUNCTION user_sequence_next_for_commit(family regclass, uid bigint) RETURNS bigint
    VOLATILE STRICT PARALLEL UNSAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequence_next_for_commit_wrapper';
COMMENT ON FUNCTION user_sequence_next_for_commit(regclass, bigint) IS 'Returns the next number of a user, so that numbers become visible in ascending order';

CREATE FUNCTION user_sequence_next_for_commit(family regclass, uids bigint[]) RETURNS bigint[]
    VOLATILE STRICT PARALLEL UNSAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequences_next_for_commit_wrapper';
COMMENT ON FUNCTION user_sequence_next_for_commit(regclass, bigint[]) IS 'Returns the next numbers of many users, so that numbers become visible in ascending order';

CREATE FUNCTION mint.user_sequences() RETURNS TABLE (
    family regclass, section integer, floor bigint, ceiling bigint, users bigint, memory bigint,
    last_raise timestamptz
)
    VOLATILE STRICT PARALLEL SAFE COST 10000 ROWS 64 LANGUAGE c AS 'MODULE_PATHNAME', 'user_sequences_wrapper';
COMMENT ON FUNCTION mint.user_sequences() IS 'Returns the sections of the user sequences of this database that are in shared memory';

CREATE VIEW mint.user_sequences AS SELECT * FROM mint.user_sequences();
COMMENT ON VIEW mint.user_sequences IS 'Shows the sections of the user sequences of this database that are in shared memory';
GRANT SELECT ON mint.user_sequences TO PUBLIC;

-- Counters: tables of numbers

CREATE FUNCTION mint.sequence_table_support(request internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'sequence_table_support_wrapper';
COMMENT ON FUNCTION mint.sequence_table_support(internal) IS 'Internal: planner support for sequence_table';
REVOKE ALL ON FUNCTION mint.sequence_table_support(internal) FROM PUBLIC;

CREATE FUNCTION mint.sequence_table_bounds(name text) RETURNS bigint[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'sequence_table_bounds_named_wrapper';
COMMENT ON FUNCTION mint.sequence_table_bounds(text) IS 'Internal: returns the first value, the last value and the step of a sequence table';

CREATE FUNCTION mint.sequence_table_bounds(start bigint, stop bigint, step bigint) RETURNS bigint[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'sequence_table_bounds_wrapper';
COMMENT ON FUNCTION mint.sequence_table_bounds(bigint, bigint, bigint) IS 'Internal: returns the first value, the last value and the step of a sequence table';

-- In SQL and not STRICT, so that the planner inlines the calls.
CREATE FUNCTION sequence_table(start pg_catalog.int8, stop pg_catalog.int8, step pg_catalog.int8 DEFAULT 1)
    RETURNS TABLE (seq pg_catalog.int8)
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1 ROWS 1000 SUPPORT mint.sequence_table_support
BEGIN ATOMIC
    SELECT pg_catalog.generate_series((mint.sequence_table_bounds(start, stop, step))[1],
                                      (mint.sequence_table_bounds(start, stop, step))[2],
                                      (mint.sequence_table_bounds(start, stop, step))[3]);
END;
COMMENT ON FUNCTION sequence_table(bigint, bigint, bigint) IS 'Returns the numbers from start to stop by step, as a sequence table of MariaDB';

CREATE FUNCTION sequence_table(name pg_catalog.text) RETURNS TABLE (seq pg_catalog.int8)
    LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1 ROWS 1000 SUPPORT mint.sequence_table_support
BEGIN ATOMIC
    SELECT pg_catalog.generate_series((mint.sequence_table_bounds(name))[1],
                                      (mint.sequence_table_bounds(name))[2],
                                      (mint.sequence_table_bounds(name))[3]);
END;
COMMENT ON FUNCTION sequence_table(text) IS 'Returns the numbers of the MariaDB sequence table of that name';

-- Text

CREATE FUNCTION id_to_text(id bigint, encoding text DEFAULT 'base58') RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'id_to_text_wrapper';
COMMENT ON FUNCTION id_to_text(bigint, text) IS 'Returns an id as short text';

CREATE FUNCTION id_from_text(id text, encoding text DEFAULT 'base58') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'id_from_text_wrapper';
COMMENT ON FUNCTION id_from_text(text, text) IS 'Returns the id that a short text stands for';

CREATE FUNCTION uuid_to_text(id uuid, encoding text DEFAULT 'base58') RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_to_text_wrapper';
COMMENT ON FUNCTION uuid_to_text(uuid, text) IS 'Returns a UUID as short text';

CREATE FUNCTION uuid_from_text(id text, encoding text DEFAULT 'base58') RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_from_text_wrapper';
COMMENT ON FUNCTION uuid_from_text(text, text) IS 'Returns the UUID that a short text stands for';

CREATE FUNCTION nano_id(
    size integer DEFAULT 21, alphabet text DEFAULT '_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
) RETURNS text
    VOLATILE STRICT PARALLEL SAFE COST 5 LANGUAGE c AS 'MODULE_PATHNAME', 'nano_id_wrapper';
COMMENT ON FUNCTION nano_id(integer, text) IS 'Generates a random id of characters of an alphabet';

-- Public ids

CREATE FUNCTION id_conceal(id bigint, key bytea, bits integer DEFAULT 63, tweak bytea DEFAULT '') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE COST 5 LANGUAGE c AS 'MODULE_PATHNAME', 'id_conceal_wrapper';
COMMENT ON FUNCTION id_conceal(bigint, bytea, integer, bytea) IS 'Returns the public id of an id, encrypted by FF1 with a key';

CREATE FUNCTION id_reveal(id bigint, key bytea, bits integer DEFAULT 63, tweak bytea DEFAULT '') RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE COST 5 LANGUAGE c AS 'MODULE_PATHNAME', 'id_reveal_wrapper';
COMMENT ON FUNCTION id_reveal(bigint, bytea, integer, bytea) IS 'Returns the id of a public id, decrypted by FF1 with a key';

-- Inspection

CREATE FUNCTION id_inspect(id bigint, nodes integer[] DEFAULT '{}') RETURNS TABLE (
    format text, version text, "time" timestamptz, node text, sequence bigint, parts jsonb, canonical text,
    likelihood double precision
)
    STABLE STRICT PARALLEL SAFE COST 100 ROWS 18 LANGUAGE c AS 'MODULE_PATHNAME', 'id_inspect_bigint_wrapper';
COMMENT ON FUNCTION id_inspect(bigint, integer[]) IS 'Returns the layouts that an id can have, and what it contains in each, the most likely first';

CREATE FUNCTION id_inspect(id text, nodes integer[] DEFAULT '{}') RETURNS TABLE (
    format text, version text, "time" timestamptz, node text, sequence bigint, parts jsonb, canonical text,
    likelihood double precision
)
    STABLE STRICT PARALLEL SAFE COST 100 ROWS 10 LANGUAGE c AS 'MODULE_PATHNAME', 'id_inspect_text_wrapper';
COMMENT ON FUNCTION id_inspect(text, integer[]) IS 'Returns the formats that an id can have, and what it contains in each, the most likely first';

CREATE FUNCTION id_inspect(id uuid, nodes integer[] DEFAULT '{}') RETURNS TABLE (
    format text, version text, "time" timestamptz, node text, sequence bigint, parts jsonb, canonical text,
    likelihood double precision
)
    STABLE STRICT PARALLEL SAFE COST 100 ROWS 2 LANGUAGE c AS 'MODULE_PATHNAME', 'id_inspect_uuid_wrapper';
COMMENT ON FUNCTION id_inspect(uuid, integer[]) IS 'Returns the formats that an id can have, and what it contains in each, the most likely first';

CREATE FUNCTION id_inspect(id objectid, nodes integer[] DEFAULT '{}') RETURNS TABLE (
    format text, version text, "time" timestamptz, node text, sequence bigint, parts jsonb, canonical text,
    likelihood double precision
)
    STABLE STRICT PARALLEL SAFE COST 100 ROWS 1 LANGUAGE c AS 'MODULE_PATHNAME', 'id_inspect_objectid_wrapper';
COMMENT ON FUNCTION id_inspect(objectid, integer[]) IS 'Returns what an ObjectID contains';

-- Administration: state

CREATE FUNCTION mint.lanes() RETURNS TABLE (
    layout snowflake_layout, shard bigint, last_id bigint, at timestamptz, ahead interval, ids bigint, waits bigint,
    waited interval, largest_step interval, family text
)
    VOLATILE STRICT PARALLEL SAFE COST 100 ROWS 100 LANGUAGE c AS 'MODULE_PATHNAME', 'lanes_wrapper';
COMMENT ON FUNCTION mint.lanes() IS 'Returns the lanes that this server has used since it started';
REVOKE ALL ON FUNCTION mint.lanes() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.lanes() TO pg_monitor;

CREATE VIEW mint.lanes AS SELECT * FROM mint.lanes();
COMMENT ON VIEW mint.lanes IS 'Shows the lanes that this server has used since it started';
GRANT SELECT ON mint.lanes TO pg_monitor;

CREATE FUNCTION mint.ceilings() RETURNS TABLE (
    database text, name text, value timestamptz, ahead interval, floor timestamptz, writes bigint,
    last_write timestamptz
)
    VOLATILE STRICT PARALLEL SAFE COST 100 ROWS 10 LANGUAGE c AS 'MODULE_PATHNAME', 'ceilings_wrapper';
COMMENT ON FUNCTION mint.ceilings() IS 'Returns the ceilings on disk of the databases that have generated ids since the server started';
REVOKE ALL ON FUNCTION mint.ceilings() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.ceilings() TO pg_monitor;

CREATE VIEW mint.ceilings AS SELECT * FROM mint.ceilings();
COMMENT ON VIEW mint.ceilings IS 'Shows the ceilings on disk of the databases that have generated ids since the server started';
GRANT SELECT ON mint.ceilings TO pg_monitor;

CREATE FUNCTION mint.leases() RETURNS TABLE (
    node_bits integer, node bigint, lease_from timestamptz, lease_until timestamptz, time_left interval,
    renewed timestamptz, trouble text
)
    VOLATILE STRICT PARALLEL SAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'leases_wrapper';
COMMENT ON FUNCTION mint.leases() IS 'Returns the leases that this server holds';
REVOKE ALL ON FUNCTION mint.leases() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.leases() TO pg_monitor;

CREATE VIEW mint.leases AS SELECT * FROM mint.leases();
COMMENT ON VIEW mint.leases IS 'Shows the leases that this server holds or has requested';
GRANT SELECT ON mint.leases TO pg_monitor;

CREATE FUNCTION mint.health() RETURNS TABLE (check_name text, status text, detail text, hint text)
    VOLATILE STRICT PARALLEL UNSAFE COST 10000 ROWS 11 LANGUAGE c AS 'MODULE_PATHNAME', 'health_wrapper';
COMMENT ON FUNCTION mint.health() IS 'Returns the checks of this server, and what to do where one fails';
REVOKE ALL ON FUNCTION mint.health() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.health() TO pg_monitor;

CREATE FUNCTION mint.stat_values() RETURNS TABLE (
    ids bigint[], waits bigint[], waited interval[], counts bigint[], used bigint[], since timestamptz
)
    VOLATILE STRICT PARALLEL SAFE COST 100 ROWS 1 LANGUAGE c AS 'MODULE_PATHNAME', 'stat_values_wrapper';
COMMENT ON FUNCTION mint.stat_values() IS 'Internal: returns the values of the view mint.stats';
REVOKE ALL ON FUNCTION mint.stat_values() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.stat_values() TO pg_monitor;

CREATE VIEW mint.stats AS
SELECT s.ids[1] AS snowflakes, s.ids[2] AS objectids, s.ids[3] AS segment_values,
    s.waits[1] AS capacity_waits, s.waited[1] AS capacity_wait_time,
    s.waits[2] AS clock_waits, s.waited[2] AS clock_wait_time,
    s.waits[3] AS ceiling_waits, s.waited[3] AS ceiling_wait_time,
    s.waits[4] AS lease_waits, s.waited[4] AS lease_wait_time,
    s.waits[5] AS segment_waits, s.waited[5] AS segment_wait_time,
    s.waits[6] AS user_lock_waits, s.waited[6] AS user_lock_wait_time,
    s.counts[1] AS clock_steps_back, s.counts[2] AS clock_steps_forward,
    s.counts[3] AS ceiling_writes, s.counts[4] AS section_raises, s.counts[5] AS refills,
    s.counts[6] AS segment_evictions, s.counts[7] AS section_evictions, s.counts[8] AS user_evictions,
    s.counts[9] AS lease_renewals, s.counts[10] AS lease_failures,
    s.counts[11] AS clock_refusals, s.counts[12] AS lease_refusals, s.counts[13] AS layout_end_refusals,
    s.used[1] AS lanes, s.used[2] AS max_lanes,
    s.used[3] AS ceilings, s.used[4] AS max_ceilings,
    s.used[5] AS segments, s.used[6] AS max_segments,
    s.used[7] AS sections, s.used[8] AS max_sections,
    s.used[9] AS users, s.used[10] AS max_users,
    s.used[11] AS leases, s.used[12] AS max_leases,
    s.since AS stats_reset
FROM mint.stat_values() AS s;
COMMENT ON VIEW mint.stats IS 'Shows the statistics of this server in one row';
GRANT SELECT ON mint.stats TO pg_monitor;

CREATE FUNCTION mint.reset_stats() RETURNS timestamptz
    VOLATILE STRICT PARALLEL UNSAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'reset_stats_wrapper';
COMMENT ON FUNCTION mint.reset_stats() IS 'Sets the statistics of this server to zero, and returns the time';
REVOKE ALL ON FUNCTION mint.reset_stats() FROM PUBLIC;

CREATE FUNCTION mint.version() RETURNS text
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'version_wrapper';
COMMENT ON FUNCTION mint.version() IS 'Returns the version of the pg_mint library that this session has loaded';

-- Administration: clock and ceiling

CREATE FUNCTION mint.accept_clock() RETURNS interval
    VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE c AS 'MODULE_PATHNAME', 'accept_clock_wrapper';
COMMENT ON FUNCTION mint.accept_clock() IS 'Confirms the clock after it jumped forward, and returns the jump';
REVOKE ALL ON FUNCTION mint.accept_clock() FROM PUBLIC;

CREATE FUNCTION mint.reset_ceiling(at timestamptz) RETURNS timestamptz
    VOLATILE STRICT PARALLEL UNSAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'reset_ceiling_wrapper';
COMMENT ON FUNCTION mint.reset_ceiling(timestamptz) IS 'Sets the ceiling of this database to a timestamp, after the clock was too far ahead';
REVOKE ALL ON FUNCTION mint.reset_ceiling(timestamptz) FROM PUBLIC;

CREATE FUNCTION mint.highest_ceiling() RETURNS bigint
    VOLATILE STRICT PARALLEL RESTRICTED COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'highest_ceiling_wrapper';
COMMENT ON FUNCTION mint.highest_ceiling() IS 'Internal: returns the ceiling that a new extension begins with';
REVOKE ALL ON FUNCTION mint.highest_ceiling() FROM PUBLIC;

-- The durable ceiling, in microseconds since 1970. It begins above all ids that were issued in this database, so that no id
-- repeats after DROP EXTENSION and CREATE EXTENSION. It has this value from its first statement on: an event trigger that
-- generates ids would take another one for a ceiling.
DO LANGUAGE plpgsql $mint$
BEGIN
    EXECUTE pg_catalog.format('CREATE SEQUENCE mint.time_ceiling START %s', mint.highest_ceiling());
END
$mint$;
COMMENT ON SEQUENCE mint.time_ceiling IS 'Ceiling of this database, in microseconds since 1970: every id is of an earlier time';
-- It is part of a dump, and the owner of the database can make and restore dumps.
SELECT pg_catalog.pg_extension_config_dump('mint.time_ceiling'::pg_catalog.regclass, ''::pg_catalog.text);
GRANT SELECT, UPDATE ON SEQUENCE mint.time_ceiling TO pg_database_owner;

-- Administration: leases of this server

CREATE FUNCTION mint.release_leases() RETURNS bigint
    VOLATILE STRICT PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'release_leases_wrapper';
COMMENT ON FUNCTION mint.release_leases() IS 'Releases all leases of this server and returns their number';
REVOKE ALL ON FUNCTION mint.release_leases() FROM PUBLIC;

-- Administration: registry. Its tables belong to the bootstrap superuser, so that nobody puts a trigger, a rule or a policy
-- on them; the function that members call to the role that installs, which can grant it.

CREATE FUNCTION mint.registry_place() RETURNS text
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'registry_place_wrapper';
COMMENT ON FUNCTION mint.registry_place() IS 'Internal: returns where the rows of the registry of this database belong';
CREATE TABLE mint.registry (place text PRIMARY KEY DEFAULT mint.registry_place(), run jsonb, rings jsonb NOT NULL DEFAULT '{}');
COMMENT ON TABLE mint.registry IS 'State of the registry of this database, one row for each place that it was at';

CREATE TABLE mint.registry_leases (
    place text DEFAULT mint.registry_place(),
    node_bits integer CHECK (node_bits OPERATOR(pg_catalog.>=) 8 AND node_bits OPERATOR(pg_catalog.<=) 31),
    node bigint CHECK (pg_catalog.int8shr(node, node_bits OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog.=) 1::pg_catalog.int8),
    number bigint NOT NULL DEFAULT 0, holder text NOT NULL DEFAULT '',
    lease_from timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), lease_until timestamptz NOT NULL, PRIMARY KEY (node_bits, node, place)
) WITH (fillfactor = 50);
COMMENT ON TABLE mint.registry_leases IS 'Leases of nodes that this registry has granted; one until infinity keeps its node out';
SELECT pg_catalog.pg_extension_config_dump('mint.registry'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('mint.registry_leases'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE FUNCTION mint.registry_create() RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE COST 1000 LANGUAGE sql BEGIN ATOMIC
    INSERT INTO mint.registry (place) SELECT mint.registry_place()
    WHERE NOT EXISTS (SELECT FROM mint.registry) ON CONFLICT DO NOTHING;
END;
COMMENT ON FUNCTION mint.registry_create() IS 'Makes this database a registry of nodes';

CREATE FUNCTION mint.registry_request(request jsonb) RETURNS jsonb
    VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp COST 1000
    LANGUAGE c AS 'MODULE_PATHNAME', 'registry_request_wrapper';
COMMENT ON FUNCTION mint.registry_request(jsonb) IS 'Answers a request of a member for a lease';
REVOKE ALL ON FUNCTION mint.registry_request(jsonb) FROM PUBLIC;

DO LANGUAGE plpgsql $mint$
DECLARE
    owned pg_catalog.text;
BEGIN
    SELECT pg_catalog.format('ALTER TABLE mint.registry OWNER TO %1$I; ALTER TABLE mint.registry_leases OWNER TO %1$I;'
        'GRANT SELECT, INSERT, UPDATE, DELETE ON mint.registry, mint.registry_leases TO pg_database_owner, %2$I;'
        'ALTER FUNCTION mint.registry_request(jsonb) OWNER TO %2$I',
        pg_catalog.pg_get_userbyid(10::pg_catalog.oid), pg_catalog.pg_get_userbyid(e.extowner)) INTO owned
    FROM pg_catalog.pg_extension AS e WHERE e.extname OPERATOR(pg_catalog.=) 'pg_mint'::pg_catalog.name;
    EXECUTE owned;
END
$mint$;
GRANT SELECT ON mint.registry, mint.registry_leases TO pg_monitor;

-- Existing tables: catalogs are read and statements are printed with the rights of the caller. Names bind when this script
-- runs, in the schema of its database's owner, so that from here on only the server's own schema is searched.

SET LOCAL search_path = pg_catalog, pg_temp;

CREATE FUNCTION mint.refuse(code text, message text, detail text, hint text) RETURNS text
    VOLATILE PARALLEL UNSAFE COST 100 LANGUAGE plpgsql AS $mint$
BEGIN
    IF detail IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message, HINT = hint;
    END IF;
    RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message, DETAIL = detail, HINT = hint;
END
$mint$;
COMMENT ON FUNCTION mint.refuse(text, text, text, text) IS 'Internal: raises an error, which SQL functions cannot';

CREATE FUNCTION mint.check_owner(relation regclass) RETURNS void
    VOLATILE PARALLEL UNSAFE COST 100 LANGUAGE sql BEGIN ATOMIC
    SELECT mint.refuse('42501', format('must be the owner of table %s', relation), NULL, 'Connect as the owner: with pg_cron, '
        || 'schedule the job with that username. For an owner that cannot log in, use ALTER ROLE ... SET role.')
    WHERE NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relation AND pg_get_userbyid(c.relowner) = current_user);
    -- The server runs functions in expressions of these, as the role that alters the table. Who owns a schema can put another
    -- table under the name, and each owner of the database owns schema public. pg_partition_tree() would lock the partitions.
    SELECT mint.refuse('42501', format('table %s meets objects of other roles', relation), format(CASE WHEN o.relowner = c.relowner
            THEN 'Role %1$I owns schema %3$I of table %2$s.' ELSE 'Role %1$I owns table %2$s.' END,
            pg_get_userbyid(CASE o.relowner WHEN c.relowner THEN r.oid ELSE o.relowner END), o.oid::regclass, n.nspname),
        'Drop the foreign key, detach the partition, or change the owner of the schema: code of that role would run as the owner.')
    FROM pg_class AS c JOIN pg_database AS d ON d.datname = current_database(), pg_class AS o JOIN pg_roles AS w ON w.oid = o.relowner
    JOIN pg_namespace AS n ON n.oid = o.relnamespace, pg_roles AS r
    WHERE c.oid = relation AND (o.relowner <> c.relowner AND NOT w.rolsuper OR r.oid <> c.relowner AND NOT r.rolsuper)
        AND r.oid = CASE pg_get_userbyid(n.nspowner) WHEN 'pg_database_owner' THEN d.datdba ELSE n.nspowner END AND o.oid IN (
            WITH RECURSIVE tree (relid) AS (SELECT relation::oid UNION SELECT i.inhrelid FROM tree AS t JOIN pg_inherits AS i ON i.inhparent = t.relid),
            met (relid) AS (SELECT t.relid FROM tree AS t UNION SELECT unnest(ARRAY[f.conrelid, f.confrelid]) FROM pg_constraint AS f
                WHERE f.contype = 'f' AND relation IN (f.conrelid, f.confrelid) AND c.relkind = 'p')
            SELECT coalesce(a.relid, m.relid) FROM met AS m LEFT JOIN LATERAL pg_partition_ancestors(m.relid) AS a (relid) ON true);
END;
COMMENT ON FUNCTION mint.check_owner(regclass) IS 'Internal: raises an error if the caller does not own a table, or another role owns what statements about it run into';

-- Existing tables: id columns

-- The text has the same names for every search path. The length of a default is known before it is read, and those of
-- generators are short. With the table, pg_get_expr() would wait for a lock; after its DROP, functions are gone too.
CREATE FUNCTION mint.default_text(tree pg_node_tree, relation oid) RETURNS text
    STABLE STRICT PARALLEL SAFE COST 100 LANGUAGE sql SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off
BEGIN ATOMIC
    SELECT CASE WHEN octet_length(tree::text) <= 32768 AND pg_table_is_visible(relation) IS NOT NULL
        THEN pg_get_expr(tree, 0::oid) END;
END;
COMMENT ON FUNCTION mint.default_text(pg_node_tree, oid) IS 'Internal: returns a default, with qualified names';

-- Nothing here runs a function of a table's owner, waits for a lock or keeps one.
CREATE VIEW mint.id_columns WITH (security_invoker = true) AS
WITH
    generator (place, kind, names) AS (VALUES
        (1, 'scattered', '{snowflake_scatter}'::name[]), (2, 'auto_random', '{auto_random}'),
        (3, 'concealed', '{id_conceal}'), (4, 'typeid', '{typeid}'), (5, 'nanoid', '{nano_id}'), (6, 'ulid', '{ulid}'),
        (7, 'objectid', '{objectid,objectid_legacy}'), (8, 'segment', '{segment_next}'), (9, 'ticket', '{ticket_next}'),
        (10, 'user_sequence', '{user_sequence_next,user_sequence_next_for_commit}'),
        (11, 'snowflake', '{snowflake_next_id,snowflake_next,snowflake_next_in}'),
        (12, 'uuid_v1', '{uuid_v1,uuid_generate_v1,uuid_generate_v1mc}'), (13, 'uuid_v2', '{uuid_v2}'),
        (14, 'uuid_v4', '{uuid_v4,uuid_generate_v4,gen_random_uuid}'), (15, 'uuid_v6', '{uuid_v6}'),
        (16, 'uuid_v7', '{uuid_v7,uuid_v7_in,uuid_generate_v7}'), (17, NULL, '{snowflake_layout_from_text}')
    ),
    -- Defaults that call a function of this extension, or of others for UUIDs. A layout from a text is not a constant.
    generated AS (SELECT u.objid AS attrdef, (array_agg(g.kind ORDER BY g.place))[1] AS kind,
            bool_or(g.kind = 'snowflake') AS has_layout, bool_or(g.kind IS NULL) AS is_computed FROM generator AS g
        JOIN pg_proc AS f ON f.proname = ANY (g.names)
        JOIN pg_depend AS m ON m.classid = 'pg_proc'::regclass AND m.objid = f.oid AND m.deptype = 'e'
        JOIN pg_extension AS e ON e.oid = m.refobjid AND e.extname IN ('pg_mint', 'uuid-ossp', 'pgcrypto', 'pg_uuidv7')
        JOIN pg_depend AS u ON u.refclassid = m.classid AND u.refobjid = f.oid AND u.classid = 'pg_attrdef'::regclass
        GROUP BY u.objid
    ),
    -- Columns of foreign keys, by the column that they refer to.
    reference AS (SELECT k.confrelid, b.attnum, array_agg(DISTINCT r.name) AS names,
            array_agg(DISTINCT r.name) FILTER (WHERE a.attlen > 0 AND a.attlen < b.attlen) AS narrower
        FROM pg_constraint AS k
        CROSS JOIN LATERAL ROWS FROM (unnest(k.conkey), unnest(k.confkey)) AS p (near, far)
        JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = p.near
        JOIN pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = p.far
        CROSS JOIN LATERAL format('%I.%I(%I)', n.nspname, c.relname, a.attname) AS r (name)
        WHERE k.contype = 'f' AND k.conparentid = 0 GROUP BY k.confrelid, b.attnum
    ),
    -- As VACUUM and ANALYZE counted last; of partitions the sum. pg_total_relation_size() would wait for locks.
    size AS (SELECT CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid ELSE c.oid END AS relid,
            sum(c.reltuples::numeric)::bigint AS rows, sum(c.relpages + coalesce(t.relpages, 0) + x.pages)::bigint
                * current_setting('block_size')::bigint AS bytes FROM pg_class AS c
        LEFT JOIN pg_class AS t ON t.oid = c.reltoastrelid
        CROSS JOIN LATERAL (SELECT coalesce(sum(o.relpages), 0) FROM pg_index AS i
            JOIN pg_class AS o ON o.oid = i.indexrelid WHERE i.indrelid IN (c.oid, c.reltoastrelid)) AS x (pages)
        WHERE c.relkind = 'r' AND c.reltuples BETWEEN 0 AND 1e15 GROUP BY 1
    ),
    candidate AS (
        SELECT n.nspname, c.relname, a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attidentity,
            d.oid AS attrdef, d.adbin, EXISTS (SELECT FROM pg_index AS i
                WHERE i.indrelid = c.oid AND i.indisunique AND i.indpred IS NULL
                    AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])) AS is_key
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
        WHERE c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
            AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname::text, 'pg_')
            -- What the role may see: of schemas that it may use, the tables that it owns or has a privilege on.
            AND has_schema_privilege(n.oid, 'USAGE') AND (pg_has_role(c.relowner, 'USAGE')
                OR has_table_privilege(c.oid, 'DELETE, TRUNCATE, TRIGGER')
                OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
            AND NOT EXISTS (SELECT FROM pg_depend AS e
                WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
            AND NOT EXISTS (SELECT FROM pg_constraint AS k    -- families of user sequences, whose columns are sections
                WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conname ~ '^no_rows_in_[0-9]+_sections$')
    )
SELECT c.attrelid::regclass AS relation, c.attname AS column_name, format_type(c.atttypid, c.atttypmod) AS type_name,
    left(x.text, 200) AS default_value, v.kind,
    CASE WHEN g.has_layout THEN coalesce(substring(x.text FROM '''([^'']+)''::[^,''()]*snowflake_layout'),
        CASE WHEN NOT g.is_computed THEN 'instagram' END) END AS layout,
    CASE WHEN g.has_layout THEN
        substring(x.text FROM 'snowflake_next_i[dn][(](?:[^()]*shard => )?([0-9]{1,10})[,)]')::bigint END AS shard,
    s.seqrelid::regclass AS sequence,
    CASE WHEN s.low < s.high THEN
            round(100 * abs(s.next - CASE WHEN s.seqincrement > 0 THEN s.low ELSE s.high END) / (s.high - s.low), 2)
        WHEN s.next IS NOT NULL THEN 100 END AS percent_used,
    z.rows, z.bytes, r.names AS referenced_by, r.narrower FROM candidate AS c JOIN pg_type AS t ON t.oid = c.atttypid
LEFT JOIN generated AS g ON g.attrdef = c.attrdef
LEFT JOIN reference AS r ON r.confrelid = c.attrelid AND r.attnum = c.attnum LEFT JOIN size AS z ON z.relid = c.attrelid
-- The sequence of the identity, or of the default, and what it can issue within the column. Its next value is NULL if
-- the role may not read it, or another session has locked it.
LEFT JOIN LATERAL (
    SELECT q.seqrelid, q.seqincrement, CASE WHEN has_sequence_privilege(q.seqrelid, 'USAGE, SELECT') THEN
            mint.leaf_max_id(q.seqrelid::regclass)::numeric END AS next,
        greatest(q.seqmin, -m.most - 1)::numeric AS low, least(q.seqmax, m.most)::numeric AS high,
        EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = 'pg_class'::regclass AND e.objid = q.seqrelid
            AND e.refclassid = e.classid AND e.refobjid = c.attrelid AND e.refobjsubid = c.attnum) AS is_owned
    FROM pg_sequence AS q
    CROSS JOIN (SELECT CASE WHEN t.typcategory = 'N' AND t.typlen IN (2, 4) THEN (1::bigint << 8 * t.typlen - 1) - 1 END
        ) AS m (most) WHERE q.seqrelid IN (
        SELECT e.objid FROM pg_depend AS e WHERE e.refclassid = 'pg_class'::regclass AND e.refobjid = c.attrelid
            AND e.refobjsubid = c.attnum AND e.classid = 'pg_class'::regclass AND e.deptype = 'i'
        UNION ALL SELECT e.refobjid FROM pg_depend AS e
            WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = c.attrdef AND e.refclassid = 'pg_class'::regclass)
    ORDER BY q.seqrelid LIMIT 1) AS s ON true
CROSS JOIN LATERAL (SELECT mint.default_text(c.adbin, c.attrelid) AS text OFFSET 0) AS x
-- The server's own functions are not in pg_depend, and they alone have names without a schema: outside of quotes.
CROSS JOIN LATERAL (SELECT CASE WHEN c.attidentity <> '' THEN 'identity' ELSE coalesce(g.kind,
    CASE substring(regexp_replace(x.text, '''[^'']*''|"[^"]*"', '', 'g')
        FROM '(?:^|[^.$[:word:]])(nextval|gen_random_uuid|uuidv4|uuidv7)[(]')
        WHEN 'nextval' THEN CASE WHEN s.is_owned THEN 'serial' ELSE 'sequence' END WHEN 'uuidv7' THEN 'uuid_v7'
        WHEN 'uuidv4' THEN 'uuid_v4' WHEN 'gen_random_uuid' THEN 'uuid_v4' END) END AS kind OFFSET 0) AS v
WHERE (c.is_key OR c.attrdef IS NOT NULL OR c.attidentity <> '')
    AND (c.is_key OR v.kind IS NOT NULL OR s.seqrelid IS NOT NULL) ORDER BY c.nspname, c.relname, c.attnum;
COMMENT ON VIEW mint.id_columns IS 'Shows the columns that are keys or whose defaults generate ids';
GRANT SELECT ON mint.id_columns TO PUBLIC;

-- Existing tables: conversion

CREATE FUNCTION mint.convert_plan(relation regclass, column_name text, new_default text)
RETURNS TABLE (direction text, command text) STABLE PARALLEL UNSAFE COST 1000 ROWS 2 LANGUAGE sql
    SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off
    SET datestyle = 'ISO, YMD' SET intervalstyle = iso_8601 SET extra_float_digits = 3 SET standard_conforming_strings = on BEGIN ATOMIC
    WITH RECURSIVE tree AS (
        SELECT relation::oid AS oid UNION SELECT i.inhrelid FROM tree AS t JOIN pg_inherits AS i ON i.inhparent = t.oid
    ), member AS (
        -- The column in the table, its partitions and children, with what its default uses and the sequence of its identity.
        SELECT c.oid = relation AS is_root, c.relname, c.relkind, c.relowner, c.relnamespace, a.attnum, a.atttypid,
            a.attidentity, a.attgenerated, a.attidentity <> '' AND s.seq IS NOT NULL AS has_identity,
            format('%I.%I', n.nspname, c.relname) AS name, quote_ident(a.attname) AS col,
            CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, 0::oid) END AS old_default, (SELECT array_agg(u.refobjid ORDER BY u.refobjid)
                FROM pg_depend AS u WHERE u.classid = 'pg_attrdef'::regclass AND u.objid = d.oid AND u.deptype = 'n') AS uses, d.oid AS attrdef, s.* FROM tree AS t
        JOIN pg_class AS c ON c.oid = t.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_attribute AS a
            ON a.attrelid = c.oid AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
        LEFT JOIN LATERAL (
            SELECT format('%I.%I', qn.nspname, qc.relname) AS seq, qc.relacl, q.* FROM pg_sequence AS q
            JOIN pg_class AS qc ON qc.oid = q.seqrelid JOIN pg_namespace AS qn ON qn.oid = qc.relnamespace
            WHERE q.seqrelid = (SELECT o.objid FROM pg_depend AS o WHERE o.classid = 'pg_class'::regclass AND o.deptype = 'i'
                AND o.refclassid = 'pg_class'::regclass AND o.refobjid = c.oid AND o.refobjsubid = a.attnum)
        ) AS s ON true
    ), lowest AS (
        -- The ids of a snowflake default with a literal layout begin here. The planner can evaluate the cast early.
        SELECT @extschema@.snowflake_min(now(), CASE WHEN new_default
                ~ '^([^(''$]+\.)?snowflake_next(_id|_in)?\([\w\s,.:=>]*(''[a-z][^''\\]*''[\w\s.:]*)?\)$'
            THEN coalesce(substring(new_default FROM '''(.*)'''), 'instagram') END::@extschema@.snowflake_layout) AS id
    ), refusal AS (SELECT v.code, v.message, v.detail FROM (SELECT 1) AS one LEFT JOIN member AS m ON m.is_root
        LEFT JOIN LATERAL (
            SELECT p.relname FROM member AS p
            WHERE p.old_default IS NOT NULL AND (p.attidentity <> '' OR m.attidentity <> '' AND m.relkind = 'p') OR p.seqcycle
                -- The server evaluates constants as it reads a default, so with the code of a type that has the name by then.
                OR EXISTS (SELECT FROM pg_depend AS u WHERE u.classid = 'pg_attrdef'::regclass AND u.objid = p.attrdef AND u.refclassid = 'pg_type'::regclass
                    AND NOT EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = u.refclassid AND e.objid = u.refobjid AND e.deptype = 'e')) LIMIT 1
        ) AS odd ON true
        LEFT JOIN LATERAL (
            SELECT w.why FROM member AS p, LATERAL (SELECT CASE
                WHEN p.has_identity AND NOT has_schema_privilege(p.relowner, p.relnamespace, 'CREATE') THEN
                    format('The owner of %s cannot create in its schema.', p.name)
                WHEN p.has_identity AND (mint.leaf_max_id(p.seqrelid) IS NULL OR NOT (has_sequence_privilege(p.relowner, p.seqrelid, 'SELECT')
                    AND has_sequence_privilege(p.relowner, p.seqrelid, 'UPDATE'))) THEN format(
                    'The current role or the owner lacks a privilege on sequence %s, or another session has locked it.', p.seq) END) AS w (why)
            WHERE w.why IS NOT NULL LIMIT 1
        ) AS denied ON true,
        LATERAL (VALUES
            (1, num_nulls(relation, column_name, new_default) > 0, '22004', 'arguments must not be null', NULL),
            (2, m.name IS NULL, '42P01', format('relation with OID %s does not exist', relation::oid), NULL),
            (3, m.relkind NOT IN ('r', 'p'), '42809', format('"%s" is not a table', m.relname), NULL),
            (4, m.attnum IS NULL, '42703',
                format('column "%s" of relation "%s" does not exist', left(column_name, 63), m.relname), NULL),
            (5, m.attgenerated <> '', '0A000',
                format('column "%s" of relation "%s" is a generated column', column_name, m.relname), NULL),
            (6, m.atttypid NOT IN ('bigint'::regtype, 'uuid'::regtype), '0A000',
                format('cannot convert column "%s" of relation "%s"', column_name, m.relname),
                format('It is of type %s, not bigint or uuid.', format_type(m.atttypid, NULL))),
            (7, odd.relname IS NOT NULL OR m.attidentity <> '' AND m.seq IS NULL, '0A000',
                format('cannot convert column "%s" of relation "%s"', column_name, m.relname),
                coalesce('Relation "' || odd.relname || '" has an identity and a default, an identity that cycles, or a default with the type of a user.', 'Its parent has it.')),
            (8, octet_length(new_default) > 32768 OR new_default !~ '\S' OR new_default ~ '[;\n\r]', '22023',
                'argument "new_default" must be one expression on one line, of at most 32768 bytes', NULL),
            (9, denied.why IS NOT NULL, '42501',
                format('cannot convert column "%s" of relation "%s"', column_name, m.relname), denied.why)
        ) AS v (n, is_so, code, message, detail) WHERE v.is_so ORDER BY v.n LIMIT 1
    ), privilege AS (
        -- Privileges on the sequence of an identity, and roles that have default privileges on new sequences.
        SELECT m.name, m.seq, a.nth, a.privilege_type, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' END AS option,
            CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role
        FROM member AS m LEFT JOIN pg_default_acl AS p ON p.defaclrole = m.relowner AND p.defaclobjtype = 'S',
        LATERAL (SELECT * FROM aclexplode(coalesce(m.relacl, acldefault('s', m.relowner))) WITH ORDINALITY
            UNION ALL SELECT d.grantor, d.grantee, NULL, false, NULL FROM aclexplode(p.defaclacl) AS d
        ) AS a (grantor, grantee, privilege_type, is_grantable, nth)
        WHERE m.has_identity AND (m.relacl IS NOT NULL OR p.oid IS NOT NULL)
    ), step AS (SELECT v.direction, v.n, m.name, NULL AS nth, v.command
        FROM member AS m JOIN member AS r ON r.is_root CROSS JOIN lowest AS l,
        LATERAL (SELECT format('ALTER TABLE %s ALTER COLUMN %s ', m.name, m.col) AS alter,
            coalesce('SET DEFAULT ' || m.old_default, 'DROP DEFAULT') AS restore, m.seqincrement > 0 AS ascends,
            mint.leaf_max_id(m.seqrelid) AS next, 1099511627776::numeric AS far, format('SELECT pg_catalog.setval(%L::pg_catalog.regclass, ', m.seq) AS setval) AS x,
        LATERAL (VALUES
            ('both', 0, m.is_root, 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'), ('both', 3, m.is_root, 'SET LOCAL lock_timeout = ''500ms'''), ('back', 1, m.is_root, 'SET LOCAL search_path = pg_catalog, pg_temp'),
            ('both', 4, m.is_root, 'SET LOCAL row_security = off'),
            -- Autovacuum gives way to this lock, which programs do not wait for. A policy must not hide the largest id.
            ('both', 2, m.is_root, format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', m.name)),
            ('both', 5, m.is_root, format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', m.name)),
            ('both', 6, m.is_root, format('SELECT mint.check_owner(%L::pg_catalog.regclass) AS run_this_as_the_owner, 1 OPERATOR(pg_catalog./) (pg_catalog.current_setting('
                '''standard_conforming_strings'') OPERATOR(pg_catalog.=) ''on'')::pg_catalog.int4 AS standard_conforming_strings', m.name)),
            ('there', 7, m.is_root AND m.atttypid = 'bigint'::regtype,
                format('SELECT 1 OPERATOR(pg_catalog./) ((t.id OPERATOR(pg_catalog.<) d.id) IS NOT FALSE%s)::pg_catalog.int4 AS new_ids_are_greater'
                    ' FROM (SELECT pg_catalog.max(%s) FROM %s) AS t (id), (SELECT (%s)::pg_catalog.int8) AS d (id)',
                    ' AND d.id OPERATOR(pg_catalog.>=) ' || l.id, m.col, m.name, new_default)),
            ('there', 8, m.has_identity, x.alter || 'DROP IDENTITY'),
            ('there', 9, m.is_root, x.alter || 'SET DEFAULT ' || new_default),
            ('back', 7, m.is_root, x.alter || x.restore),
            ('back', 8, m.old_default IS DISTINCT FROM r.old_default,
                format('ALTER TABLE IF EXISTS ONLY %s ALTER COLUMN %s %s', m.name, m.col, x.restore)),
            -- Each name in the default still means the same object.
            ('back', 9, (m.is_root OR m.old_default IS DISTINCT FROM r.old_default) AND m.uses IS NOT NULL, format('SELECT 1 / (to_regclass(%L) IS NULL OR coalesce('
                'array_agg(d.refobjid ORDER BY d.refobjid) = %L, false))::int AS default_is_the_same FROM pg_attrdef AS a JOIN pg_depend AS d ON d.classid = ''pg_attrdef''::regclass AND d.objid = a.oid AND d.deptype = ''n'''
                ' WHERE a.adrelid = to_regclass(%1$L) AND a.adnum = %3$s', m.name, m.uses, m.attnum)),
            ('back', 9, m.has_identity, x.alter || format('ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s START WITH %s'
                ' INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s)',
                CASE WHEN m.attidentity = 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, m.seq, m.seqstart, m.seqincrement,
                m.seqmin, m.seqmax, m.seqcache)),
            ('back', 10, m.has_identity,
                format('COMMENT ON SEQUENCE %s IS ', m.seq) || quote_literal(obj_description(m.seqrelid, 'pg_class'))),
            ('back', 13, m.has_identity,
                x.setval || CASE WHEN m.has_identity THEN coalesce(pg_sequence_last_value(m.seqrelid) || ')', x.next || ', false)') END),
            -- The sequence continues above the rows since the plan was printed, but not above snowflakes.
            ('back', 14, m.has_identity, x.setval || format('pg_catalog.%s(%s)) FROM %s WHERE %2$s BETWEEN %4$L AND %5$L%6$s',
                CASE WHEN x.ascends THEN 'max' ELSE 'min' END, m.col, r.name, CASE WHEN x.ascends THEN x.next ELSE greatest(m.seqmin, x.next - x.far) END,
                CASE WHEN x.ascends THEN least(m.seqmax, x.next + x.far) ELSE x.next END,
                CASE WHEN abs(m.seqincrement) > 1 THEN format(' AND (%s - %L) %% %L = ''0''', m.col, x.next, m.seqincrement) END))
        ) AS v (direction, n, is_so, command) WHERE v.is_so
        UNION ALL SELECT 'back', 11, p.name, 0,
            format('REVOKE ALL ON SEQUENCE %s FROM %s', p.seq, string_agg(DISTINCT p.role, ', '))
        FROM privilege AS p GROUP BY p.name, p.seq
        UNION ALL SELECT 'back', 12, p.name, min(p.nth), format('GRANT %s ON SEQUENCE %s TO %s%s',
            string_agg(DISTINCT p.privilege_type, ', '), p.seq, p.role, p.option)
        FROM privilege AS p WHERE p.nth IS NOT NULL GROUP BY p.name, p.seq, p.role, p.option
    )
    -- One command, which is a transaction: with ON_ERROR_ROLLBACK, psql would run the statements behind one that fails.
    SELECT d.direction, string_agg(s.command, E';\n' ORDER BY s.n, s.name, s.nth)
    FROM (SELECT * FROM step WHERE NOT EXISTS (SELECT FROM refusal)
        UNION ALL SELECT 'both', 0, NULL, NULL, mint.refuse(f.code, f.message, f.detail,
            'See "Add ids to an existing table" in the documentation.') FROM refusal AS f) AS s
    JOIN (VALUES ('there'), ('back')) AS d (direction) ON s.direction IN (d.direction, 'both')
    WHERE s.command IS NOT NULL GROUP BY d.direction ORDER BY d.direction DESC;
END;
COMMENT ON FUNCTION mint.convert_plan(regclass, text, text) IS 'Returns the statements that change the default of a column, and those that restore it';

-- Existing tables: partitions by time

-- A key is the text of an id, and a bigint has 19 digits, so that bytes sort as ids do. ~ is past the last one.
CREATE FUNCTION mint.partition_key(kind oid, layout @extschema@.snowflake_layout, at timestamptz) RETURNS text
    STABLE PARALLEL SAFE COST 10 LANGUAGE sql BEGIN ATOMIC
    SELECT coalesce(CASE WHEN kind = 'bigint'::regtype THEN lpad(@extschema@.snowflake_min(at, layout)::text, 19, '0')
        -- Without the version, so that ULIDs of the same time are on the same side.
        WHEN kind = 'uuid'::regtype THEN left(@extschema@.uuid_v7_min(at)::text, 14) || '0000-0000-000000000000'
        ELSE @extschema@.objectid_min(at)::text END, '~');
END;
COMMENT ON FUNCTION mint.partition_key(oid, @extschema@.snowflake_layout, timestamptz) IS 'Internal: returns the first key at or after a timestamp';

CREATE FUNCTION mint.partition_time(kind oid, layout @extschema@.snowflake_layout, key text) RETURNS timestamptz
    STABLE PARALLEL SAFE COST 10 LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN key IN ('', '~') THEN NULL
        WHEN kind = 'uuid'::regtype THEN @extschema@.uuid_v7_time((left(key, 14) || '7000-8000-000000000000')::uuid)
        WHEN kind <> 'bigint'::regtype THEN @extschema@.objectid_time(key::@extschema@.objectid)
        WHEN @extschema@.snowflake_is_valid(key::bigint, layout) THEN @extschema@.snowflake_time(key::bigint, layout) END;
END;
COMMENT ON FUNCTION mint.partition_time(oid, @extschema@.snowflake_layout, text) IS 'Internal: returns the timestamp of a key';

-- What is missing lies between the edges of periods and the bounds that exist. What is dropped was made by a plan of the same
-- layout, as its comment says, with no gap between it and now. Other old partitions have no command.
CREATE FUNCTION mint.partition_plan(
    parent regclass, every interval, ahead integer DEFAULT 2, layout @extschema@.snowflake_layout DEFAULT NULL,
    zone text DEFAULT 'UTC', since timestamptz DEFAULT NULL, keep interval DEFAULT NULL
) RETURNS TABLE (name text, since timestamptz, until timestamptz, command text)
    STABLE PARALLEL UNSAFE COST 10000 ROWS 10 LANGUAGE sql SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off
BEGIN ATOMIC
    WITH checked AS MATERIALIZED (
        SELECT c.oid, c.relname, c.relnamespace, c.reltablespace, c.relowner, c.relacl, c.relrowsecurity, y.kind, g.*,
            CASE WHEN g.seconds = 0 AND upper(zone) <> 'UTC' THEN zone ELSE 'Etc/UTC' END AS zone, CASE
            WHEN (p.partstrat = 'r' AND p.partnatts = 1
                    AND y.kind IN ('bigint'::regtype, 'uuid'::regtype, '@extschema@.objectid'::regtype)) IS NOT TRUE
                THEN mint.refuse('42809', format('table %s is not partitioned by range of one column of ids', parent),
                    CASE WHEN p.partrelid IS NULL THEN 'The table is not partitioned.' END,
                    'Use PARTITION BY RANGE (id), where id is a column of type bigint, uuid or objectid.')
            WHEN EXISTS (SELECT FROM pg_trigger AS t JOIN pg_proc AS f ON f.oid = t.tgfoid WHERE t.tgrelid = parent
                    AND f.proname = 'citus_truncate_trigger' AND f.pronamespace = 'pg_catalog'::regnamespace)
                THEN mint.refuse('0A000', format('cannot plan partitions of table %s, which Citus has distributed', parent), NULL,
                    'Use CREATE TABLE ... PARTITION OF, which Citus distributes.')
            WHEN num_nulls(every, ahead, zone, now() AT TIME ZONE zone) > 0
                THEN mint.refuse('22004', 'arguments "every", "ahead" and "zone" must not be null', NULL, 'Leave out what has a default.')
            WHEN ((g.months > 0)::integer + (g.days > 0)::integer + (g.seconds > 0)::integer = 1
                    AND least(g.months, g.days, g.seconds) = 0 AND g.seconds = trunc(g.seconds)) IS NOT TRUE
                THEN mint.refuse('22023', format('interval "%s" is not the length of a partition', every), NULL,
                    'Use only months, only days or only whole seconds, as in ''1 month'', ''7 days'' or ''6 hours''.')
            WHEN (ahead BETWEEN 1 AND 10000) IS NOT TRUE OR NOT isfinite(since)
                    OR extract(epoch FROM now() - since) / extract(epoch FROM every) > 10000
                THEN mint.refuse('54000', 'the number of partitions is not between 1 and 10000', NULL,
                    'ahead is the number after the current one. Use a longer interval, or a later timestamp in since.')
            WHEN keep < every OR now() - keep > now() - every THEN mint.refuse('22023', 'interval to keep must not be shorter than a partition',
                format('The intervals are %s and %s.', keep, every), 'Use an interval such as ''12 months'' or ''90 days''.')
            WHEN CASE WHEN y.kind = 'bigint'::regtype THEN coalesce(layout::text, d.own) IS NULL WHEN y.kind = 'uuid'::regtype
                    THEN d.source ~ '(^|\W)(gen_random_uuid|uuidv4|uuid_generate_v[1-6][a-z]*|uuid_v[1-68](_[a-z0-9]+)?)\(' END
                OR keep IS NOT NULL AND CASE WHEN d.own IS NOT NULL THEN false WHEN y.kind = 'uuid'::regtype
                    THEN (d.source IN (d.home || 'uuid_v7()', 'uuidv7()')) IS NOT TRUE ELSE d.source <> d.home || 'objectid()' END
                THEN mint.refuse('22023', format('times of column "%s" of table %s are not known', a.attname, parent),
                    coalesce('The default of the column is ' || d.source || '.', 'The column has no default.'),
                    CASE WHEN d.source IS NULL AND y.kind = 'bigint'::regtype THEN 'Pass the layout, as in layout => ''twitter''.'
                    ELSE 'Use a default that is one call of a generator of ids by time.' END)
            WHEN y.kind <> 'bigint'::regtype AND layout IS NOT NULL OR layout::text <> d.own
                THEN mint.refuse('22023', format('layout "%s" is not that of column "%s" of table %s', layout, a.attname, parent),
                    coalesce('The default of the column generates ids of layout "' || d.own || '".', 'Only a bigint has a layout.'),
                    'Call the function without a layout, or change the default first.')
            ELSE coalesce(layout::text, d.own) END::@extschema@.snowflake_layout AS layout
        FROM (SELECT (extract(year FROM every) * 12 + extract(month FROM every))::integer, extract(day FROM every)::integer,
            extract(epoch FROM every) - extract(epoch FROM date_trunc('day', every))) AS g (months, days, seconds)
        LEFT JOIN pg_class AS c ON c.oid = parent LEFT JOIN pg_partitioned_table AS p ON p.partrelid = c.oid
        LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0] AND a.attnum > 0
        CROSS JOIN LATERAL (SELECT a.atttypid) AS y (kind)
        LEFT JOIN pg_attrdef AS v ON v.adrelid = c.oid AND v.adnum = a.attnum LEFT JOIN LATERAL (
            SELECT e.source, h.home, CASE WHEN starts_with(e.source, h.home) AND c.call ~ '^snowflake_next(_id|_in)?\('
                THEN coalesce(substring(c.call FROM '''([^'']*)''::[^'':()]*snowflake_layout\)$'),
                    CASE WHEN c.call ~ '^snowflake_next_id\([^,'']*\)$' THEN 'instagram' END) END
            FROM left(pg_get_expr(v.adbin, 0::oid), 1000) AS e (source),
                replace('@extschema@.snowflake_layout'::regtype::text, 'snowflake_layout', '') AS h (home), substr(e.source, length(h.home) + 1) AS c (call)
        ) AS d (source, home, own) ON true
    ), span AS MATERIALIZED (
        SELECT k.*, 'Partition by the time of ids' || coalesce(' of layout ' || k.layout, '') AS mark, mint.partition_key(k.kind, k.layout, t.cut) COLLATE "C" AS cut,
            mint.partition_key(k.kind, k.layout, now()) COLLATE "C" AS present, f.*
        FROM checked AS k, LATERAL (SELECT least(now() - keep, (now() AT TIME ZONE k.zone - keep) AT TIME ZONE k.zone)) AS t (cut), LATERAL (
            SELECT min(s.edge), max(s.edge)
            FROM (VALUES (greatest(coalesce(since, now()), t.cut)), (greatest(since, now()))) AS v (at),
                LATERAL (SELECT v.at AT TIME ZONE k.zone, '0001-01-01'::timestamp) AS l (at, origin),
                LATERAL (SELECT CASE WHEN k.months = 0 THEN date_bin(every, l.at, l.origin) ELSE l.origin + make_interval(
                    months => (extract(year FROM l.at)::integer * 12 + extract(month FROM l.at)::integer - 13) / k.months * k.months)
                END) AS s (edge)
        ) AS f (first, current)
    ), edge AS MATERIALIZED (SELECT e.local, a.at, mint.partition_key(s.kind, s.layout, a.at) COLLATE "C" AS key
        FROM span AS s, generate_series(s.first, s.current + (ahead + 1) * every, every) AS e (local),
            LATERAL (SELECT e.local AT TIME ZONE s.zone) AS a (at)
    ), part AS MATERIALIZED (
        SELECT c.oid::regclass::text AS name, i.inhdetachpending, b.low, b.high, lag(b.high) OVER (ORDER BY b.low) AS before,
            c.relkind <> 'f' AND obj_description(c.oid, 'pg_class') IS NOT DISTINCT FROM s.mark AS is_made
        FROM span AS s JOIN pg_inherits AS i ON i.inhparent = s.oid JOIN pg_class AS c ON c.oid = i.inhrelid,
            regexp_match(pg_get_expr(c.relpartbound, 0::oid), '^FOR VALUES FROM \(''?([^'')]+)''?\) TO \(''?([^'')]+)''?\)$') AS r,
            LATERAL (SELECT CASE WHEN r[1] ~ '^[-M]' THEN '' ELSE repeat('0', 19 - length(r[1])) || r[1] END COLLATE "C",
                CASE WHEN r[2] ~ '^-' THEN '' WHEN r[2] = 'MAXVALUE' THEN '~' ELSE repeat('0', 19 - length(r[2])) || r[2] END COLLATE "C"
            ) AS b (low, high) WHERE r IS NOT NULL
    ), piece AS (
        SELECT p.key, max(p.local) AS local, max(p.at) AS at, lead(p.key) OVER w AS next, max(max(p.high)) OVER w AS covered
        FROM (SELECT key, local, at, NULL AS high FROM edge UNION ALL SELECT low, NULL, NULL, high FROM part
            UNION ALL SELECT high, NULL, NULL, NULL FROM part) AS p GROUP BY p.key WINDOW w AS (ORDER BY p.key)
    ), missing AS (SELECT p.key, t.since, t.until, format('%s.%I', s.relnamespace::regnamespace,
                substr((repeat('x', length(x.suffix)) || s.relname)::name::text, length(x.suffix) + 1) || x.suffix) AS name,
            format('FROM (%L) TO (%s)', b.low, coalesce(quote_literal(b.high), 'MAXVALUE')) AS bounds
        FROM span AS s, piece AS p,
            LATERAL (SELECT mint.partition_time(s.kind, s.layout, p.key), mint.partition_time(s.kind, s.layout, p.next)) AS u (since, until),
            LATERAL (SELECT coalesce(p.at, u.since), u.until, coalesce(p.local, u.since AT TIME ZONE interval '0')) AS t (since, until, local),
            to_char(t.local, CASE WHEN s.seconds > 0 OR p.local IS NULL THEN '_YYYY_MM_DD_HH24MISS'
                WHEN s.days > 0 THEN '_YYYY_MM_DD' WHEN s.months % 12 > 0 THEN '_YYYY_MM' ELSE '_YYYY' END) AS x (suffix),
            LATERAL (SELECT p.key, nullif(p.next, '~') WHERE s.kind <> 'bigint'::regtype UNION ALL
                SELECT p.key::bigint::text, nullif(p.next, '~')::bigint::text WHERE s.kind = 'bigint'::regtype) AS b (low, high)
        WHERE p.key >= (SELECT min(e.key) FROM edge AS e) AND p.key < (SELECT max(e.key) FROM edge AS e)
            AND coalesce(p.covered, '') <= p.key AND (keep IS NULL OR p.next > s.cut)
            -- A whole tick is in it: bounds within a tick leave gaps that are none.
            AND mint.partition_key(s.kind, s.layout, t.since + (p.at IS NULL)::integer * interval '1 us')
                < mint.partition_key(s.kind, s.layout, t.until)
    ), certain AS MATERIALIZED (SELECT max(p.low) AS low FROM span AS s, part AS p
        WHERE p.low <= s.present AND (p.before IS NULL
                OR mint.partition_key(s.kind, s.layout, mint.partition_time(s.kind, s.layout, p.before) + interval '1 us')
                    < mint.partition_key(s.kind, s.layout, mint.partition_time(s.kind, s.layout, p.low)))
            AND EXISTS (SELECT FROM part AS c WHERE c.low <= s.present AND c.high > s.present AND c.high < '~'
                AND c.is_made AND NOT c.inhdetachpending)
    )
    -- One command, which is a transaction, as of mint.convert_plan.
    SELECT w.name, w.since, w.until, format(E'SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\nSET LOCAL search_path = pg_catalog, pg_temp;\nSET LOCAL row_security = off;\nSET LOCAL lock_timeout = %L;\n'
        'LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE;\nSELECT mint.check_owner(%L::regclass) AS run_this_as_the_owner;\n',
        coalesce(nullif(current_setting('lock_timeout'), '0'), '500ms'), parent, parent) || string_agg(w.command, E';\n' ORDER BY w.place, w.command) FROM (
        SELECT 1 AS turn, m.key, v.place, m.name, m.since, m.until, v.command FROM span AS s, missing AS m, LATERAL (
            SELECT 1, format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING IDENTITY)', m.name, parent)
                || coalesce(' TABLESPACE ' || (SELECT quote_ident(t.spcname) FROM pg_tablespace AS t WHERE t.oid = s.reltablespace), '')
            UNION ALL SELECT 2, format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', m.name) WHERE s.relrowsecurity
            UNION ALL SELECT 3, format('GRANT %s ON %s TO %s%s', string_agg(g.privilege_type, ', ' ORDER BY g.privilege_type), m.name,
                CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END,
                CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
            FROM aclexplode(s.relacl) AS g WHERE g.grantee <> s.relowner AND NOT s.relrowsecurity GROUP BY g.grantee, g.is_grantable
            UNION ALL SELECT 4, format('COMMENT ON TABLE %s IS %L', m.name, s.mark)
            UNION ALL SELECT 5, format('ALTER TABLE ONLY %s ATTACH PARTITION %s FOR VALUES %s', parent, m.name, m.bounds)
        ) AS v (place, command)
        UNION ALL SELECT CASE WHEN p.low >= c.low AND p.is_made THEN 2 ELSE 3 END, p.low, 1, p.name, mint.partition_time(s.kind, s.layout, p.low),
            mint.partition_time(s.kind, s.layout, p.high), CASE WHEN p.low >= c.low AND p.is_made THEN
                format(E'ALTER TABLE ONLY %s DETACH PARTITION %s;\nDROP TABLE %2$s', parent, p.name) END
        FROM span AS s, certain AS c, part AS p
        WHERE keep IS NOT NULL AND p.high <= s.cut AND p.low >= '0000001099511627776' AND NOT p.inhdetachpending
    ) AS w GROUP BY w.name, w.since, w.until, w.turn, w.key ORDER BY w.turn, w.key;
END;
COMMENT ON FUNCTION mint.partition_plan(regclass, interval, integer, @extschema@.snowflake_layout, text, timestamptz, interval) IS 'Returns the statements that create the missing partitions of a table by time and drop the old ones';

CREATE FUNCTION mint.partition_begin(parent regclass, lock_timeout interval) RETURNS void
    VOLATILE PARALLEL UNSAFE COST 100 LANGUAGE sql BEGIN ATOMIC
    SELECT mint.check_owner(parent);
    -- A statement waits for one lock after another: of the table, two partitions, and each table of a foreign key.
    SELECT set_config('search_path', 'pg_catalog, pg_temp', true), set_config('row_security', 'off', true), set_config('lock_timeout', (
        SELECT greatest(1, trunc(extract(epoch FROM lock_timeout) * 1000 / (3 + count(*))))::text
        FROM pg_constraint AS f WHERE f.contype = 'f' AND parent IN (f.conrelid, f.confrelid)), true);
END;
COMMENT ON FUNCTION mint.partition_begin(regclass, interval) IS 'Internal: checks that the caller owns a table and sets the search path and the time to wait for locks of the transaction';

-- The only EXECUTE: as the owner of the table and as nobody else, outside of a transaction block, which COMMIT refuses.
CREATE PROCEDURE mint.partition_maintain(
    parent regclass, every interval, ahead integer DEFAULT 2, layout @extschema@.snowflake_layout DEFAULT NULL,
    zone text DEFAULT 'UTC', since timestamptz DEFAULT NULL, keep interval DEFAULT NULL,
    lock_timeout interval DEFAULT '500 ms', retries integer DEFAULT 20
) LANGUAGE plpgsql AS $mint$
DECLARE
    step pg_catalog.record;
BEGIN
    COMMIT;
    PERFORM mint.refuse('22023', 'argument "lock_timeout" or "retries" is out of range', NULL, 'Use a time of up to 20 days, and 0 retries to try once.')
    WHERE retries IS NULL OR retries OPERATOR(pg_catalog.<) 0 OR lock_timeout IS NULL OR lock_timeout OPERATOR(pg_catalog.<=) '0'
        OR lock_timeout OPERATOR(pg_catalog.>) '20 days';
    PERFORM mint.partition_begin(parent, lock_timeout);
    FOR step IN
        -- The newest is created first: where rows of the default partition prevent one, later ones have none yet.
        SELECT p.name, p.command, p.drops FROM (
            SELECT q.name, q.command, q.since, q.place, pg_catalog.right(q.command, pg_catalog.length(q.name)) OPERATOR(pg_catalog.=) q.name AS drops
            FROM mint.partition_plan(parent, every, ahead, layout, zone, since, keep) WITH ORDINALITY AS q (name, since, until, command, place)
        ) AS p ORDER BY CASE WHEN p.drops IS FALSE THEN p.since END DESC NULLS LAST, p.place
    LOOP
        PERFORM mint.refuse('55000', pg_catalog.format('could not drop old partition %s', step.name),
            'The times of its ids are not certain: it was not created for this layout by a plan, or one between it and now is missing.',
            'Look at its rows, and drop it yourself.')
        WHERE step.command IS NULL;
        FOR attempt IN 0 .. retries LOOP
            COMMIT; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            BEGIN
                PERFORM mint.partition_begin(parent, lock_timeout);
                -- From here on nobody else changes the partitions, the owner, or the name of the one to drop.
                -- The table first, as queries do.
                EXECUTE pg_catalog.format('LOCK TABLE ONLY %s IN %s MODE', parent,
                    CASE WHEN step.drops THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE UPDATE EXCLUSIVE' END);
                IF step.drops AND EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhparent OPERATOR(pg_catalog.=) parent
                    AND i.inhrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(step.name)) THEN
                    EXECUTE pg_catalog.format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', step.name);
                END IF;
                -- It is done already, or it is no longer right.
                EXIT WHEN NOT EXISTS (
                    SELECT FROM mint.partition_plan(parent, every, ahead, layout, zone, since, keep) AS p
                    WHERE p.command OPERATOR(pg_catalog.=) step.command);
                EXECUTE step.command;
                RAISE NOTICE '% partition %', CASE WHEN step.drops THEN 'dropped' ELSE 'created' END, step.name;
                EXIT;
            EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
                PERFORM mint.refuse('55P03', pg_catalog.format('could not obtain the locks on table %s', parent), NULL,
                    'End long transactions on the table, which pg_stat_activity shows by xact_start, and call the procedure again.')
                WHERE attempt OPERATOR(pg_catalog.=) retries;
            END;
            PERFORM pg_catalog.pg_sleep(0.1 OPERATOR(pg_catalog.*) attempt);
        END LOOP;
        COMMIT;
    END LOOP;
    COMMIT;
END
$mint$;
COMMENT ON PROCEDURE mint.partition_maintain(regclass, interval, integer, @extschema@.snowflake_layout, text, timestamptz, interval, interval, integer) IS 'Creates the missing partitions of a table by time and drops the old ones';
