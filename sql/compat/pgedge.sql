-- The functions of pgEdge's extension snowflake, by those of pg_mint. Creates them in the first schema of the search path,
-- on which the schema of pg_mint must be too:
--
--     DROP EXTENSION snowflake CASCADE; CREATE SCHEMA snowflake; SET search_path = snowflake, public;
--     \i pgedge.sql
--     GRANT USAGE ON SCHEMA snowflake TO PUBLIC;
--
-- CASCADE takes the defaults of columns along: set them again. pg_mint.node has what snowflake.node had. An id is of the
-- server and not of a sequence, so what asks for the state of a sequence is refused by name. Layouts are cast, so that no
-- function of another role in those schemas fits better.

CREATE FUNCTION nextval(sequence pg_catalog.regclass DEFAULT NULL) RETURNS pg_catalog.int8
    LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL SAFE COST 1
    RETURN snowflake_next('pgedge'::snowflake_layout);

CREATE FUNCTION get_epoch(id pg_catalog.int8) RETURNS pg_catalog.numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN pg_catalog.round(pg_catalog.extract('epoch', pg_catalog.timezone('0'::pg_catalog.interval, snowflake_time(id, 'pgedge'::snowflake_layout))), 3);

CREATE FUNCTION get_count(id pg_catalog.int8) RETURNS pg_catalog.int4
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN pg_catalog.int4(snowflake_sequence(id, 'pgedge'::snowflake_layout));

CREATE FUNCTION get_node(id pg_catalog.int8) RETURNS pg_catalog.int4
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
    RETURN snowflake_shard(id, 'pgedge'::snowflake_layout);

CREATE FUNCTION format(id pg_catalog.int8) RETURNS pg_catalog.jsonb
    LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 10
    RETURN pg_catalog.jsonb_build_object(
        'ts', snowflake_time(id, 'pgedge'::snowflake_layout)::pg_catalog.text,
        'count', snowflake_sequence(id, 'pgedge'::snowflake_layout),
        'id', snowflake_shard(id, 'pgedge'::snowflake_layout)
    );

CREATE FUNCTION currval(sequence pg_catalog.regclass DEFAULT NULL) RETURNS pg_catalog.int8
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1
    AS $$
BEGIN
    RAISE EXCEPTION 'currval of a sequence of snowflakes is not supported'
        USING ERRCODE = 'feature_not_supported', HINT = 'Use INSERT ... RETURNING, or snowflake_last_id().';
END
$$;

CREATE FUNCTION setval(sequence pg_catalog.regclass, value pg_catalog.int8, is_called pg_catalog.bool DEFAULT true)
    RETURNS pg_catalog.int8
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1
    AS $$
BEGIN
    RAISE EXCEPTION 'setval of a sequence of snowflakes is not supported'
        USING ERRCODE = 'feature_not_supported', HINT = 'Use snowflake_start_above() to generate ids above a given one.';
END
$$;

CREATE FUNCTION convert_sequence_to_snowflake(sequence pg_catalog.regclass) RETURNS pg_catalog.int4
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1
    AS $$
BEGIN
    RAISE EXCEPTION 'converting a sequence to snowflakes is not supported'
        USING ERRCODE = 'feature_not_supported', HINT = 'Use mint.convert_plan(), or ALTER TABLE ... ALTER COLUMN ... SET DEFAULT snowflake_next(''pgedge'').';
END
$$;

CREATE FUNCTION convert_column_to_int8(relation pg_catalog.regclass, attribute pg_catalog.int2) RETURNS pg_catalog.int4
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1
    AS $$
BEGIN
    RAISE EXCEPTION 'converting a column to bigint is not supported'
        USING ERRCODE = 'feature_not_supported', HINT = 'Use the procedure of "Add ids to an existing table" in the documentation.';
END
$$;

-- With the schema, as pg_catalog has functions of these names.
DO $$
DECLARE
    schema text := pg_catalog.current_schema();
    function text;
    comment text;
BEGIN
    FOR function, comment IN
        VALUES
            ('nextval(regclass)', 'As pgEdge: generates an id; the sequence is not used'),
            ('get_epoch(bigint)', 'As pgEdge: returns the time of an id as seconds since 1970'),
            ('get_count(bigint)', 'As pgEdge: returns the count of an id within its millisecond'),
            ('get_node(bigint)', 'As pgEdge: returns the node of an id'),
            ('format(bigint)', 'As pgEdge: returns the parts of an id; "id" is the node'),
            ('currval(regclass)', 'Refused, in place of pgEdge''s'),
            ('setval(regclass, bigint, boolean)', 'Refused: ids are not of a sequence'),
            ('convert_sequence_to_snowflake(regclass)', 'Refused: ids are not of a sequence'),
            ('convert_column_to_int8(regclass, smallint)', 'Refused, in place of pgEdge''s')
    LOOP
        EXECUTE pg_catalog.format('COMMENT ON FUNCTION %I.%s IS %L', schema, function, comment);
    END LOOP;
END
$$;
