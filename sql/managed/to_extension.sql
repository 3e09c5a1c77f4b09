-- From the ids in SQL to the extension, in one transaction, without touching a table:
--
--     psql -v ON_ERROR_STOP=1 -f to_extension.sql
--
-- CREATE EXTENSION pg_mint comes first, in any schema other than mint_sql. Then each function of mint_sql that the extension
-- has too becomes a call of the extension's. It keeps its oid, arguments, result and volatility: so defaults, indexes, generated
-- columns, constraints and views stay as they are. Shards continue above their last ids, and their sequences are dropped, so that a
-- session that still runs an old function gets an error and not an id. The extension's shards need no declaration.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
    place constant text := (SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'pg_mint');
    layout_type constant text := place || '.snowflake_layout';
    f record;
    shard record;
    counter regclass;
    floor regclass;
    body text;
BEGIN
    IF place IS NULL THEN
        RAISE EXCEPTION 'extension "pg_mint" is not installed' USING ERRCODE = 'undefined_object', HINT = 'Run CREATE EXTENSION pg_mint.';
    ELSIF place = 'mint_sql' THEN
        RAISE EXCEPTION 'extension "pg_mint" is in schema "mint_sql"' USING ERRCODE = 'feature_not_supported',
            HINT = 'Install it in another schema, as in CREATE EXTENSION pg_mint SCHEMA public.';
    ELSIF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'mint_sql' AND nspowner <> current_user::regrole)
        OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = 'mint_sql'::regnamespace AND proowner <> current_user::regrole) THEN
        -- Its functions run below, with the privileges of who runs this.
        RAISE EXCEPTION 'must be owner of schema "mint_sql" and of its functions' USING ERRCODE = 'insufficient_privilege',
            HINT = 'SET ROLE to their owner, and run the file again.';
    END IF;
    FOR shard IN SELECT s.shard, s.layout FROM mint_sql.shards AS s LOOP
        counter := mint_sql.lane(shard.layout, mint_sql.layout_fields(shard.layout), shard.shard, '');
        floor := mint_sql.lane(shard.layout, mint_sql.layout_fields(shard.layout), shard.shard, '_floor');
        -- Waits for the transactions that have drawn ids, and keeps others from it.
        EXECUTE format('ALTER SEQUENCE %s NO CYCLE', counter);
        IF mint_sql.last_id(shard.shard, shard.layout) IS NOT NULL THEN
            EXECUTE format('SELECT %s.snowflake_start_above($1, $2::%s)', place, layout_type)
                USING mint_sql.last_id(shard.shard, shard.layout), shard.layout;
        END IF;
        EXECUTE format('DROP SEQUENCE %s, %s', counter, floor);
    END LOOP;
    FOR f IN
        SELECT ours.oid, ours.proname AS name, ours.proretset AS returns_set, ours.proisstrict AS is_strict, theirs.provolatile AS volatility,
            theirs.proparallel AS parallel, theirs.procost AS cost, (
                SELECT string_agg(format(CASE ours.proargtypes[n - 1] WHEN 'mint_sql.snowflake_layout'::regtype
                    THEN '$%s::text::' || layout_type ELSE '$%s' END, n), ', ' ORDER BY n)
                FROM generate_series(1, ours.pronargs) AS n
            ) AS arguments
        FROM pg_proc AS ours
        JOIN pg_proc AS theirs ON theirs.proname = ours.proname AND theirs.pronamespace = place::regnamespace AND theirs.pronargs = ours.pronargs
            AND (SELECT array_agg(CASE type WHEN 'mint_sql.snowflake_layout'::regtype THEN layout_type::regtype::oid ELSE type END ORDER BY n)
                FROM unnest(ours.proargtypes) WITH ORDINALITY AS types (type, n))
                IS NOT DISTINCT FROM (SELECT array_agg(type ORDER BY n) FROM unnest(theirs.proargtypes) WITH ORDINALITY AS types (type, n))
        -- A function of somebody else in that schema is no function of the extension.
        JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = theirs.oid AND d.deptype = 'e'
            AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')
        WHERE ours.pronamespace = 'mint_sql'::regnamespace
    LOOP
        body := format('%s.%I(%s)', place, f.name, f.arguments);
        EXECUTE format('CREATE OR REPLACE FUNCTION mint_sql.%I(%s) RETURNS %s LANGUAGE sql %s %s PARALLEL %s COST %s %s',
            f.name, pg_get_function_arguments(f.oid), pg_get_function_result(f.oid),
            CASE f.volatility WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
            CASE WHEN f.is_strict THEN 'STRICT' ELSE 'CALLED ON NULL INPUT' END,
            CASE f.parallel WHEN 's' THEN 'SAFE' WHEN 'r' THEN 'RESTRICTED' ELSE 'UNSAFE' END, f.cost,
            CASE WHEN f.returns_set THEN format('BEGIN ATOMIC SELECT * FROM %s; END', body) ELSE 'RETURN ' || body END);
    END LOOP;
END
$$;
COMMIT;
