-- From the ids in SQL to the extension, in one transaction, without touching a table:
--
--     psql -v ON_ERROR_STOP=1 -f to_extension.sql
--
-- CREATE EXTENSION pg_mint comes first, in any schema other than mint_sql. Then each function of mint_sql that the extension
-- has too becomes a call of the extension's. It keeps its oid, arguments, result and volatility: so defaults, indexes, generated
-- columns, constraints and views stay as they are. Shards continue above their last ids. The extension's shards need no declaration.
--
-- The transactions that have drawn ids must end first. The script waits for them for 100 ms at a time, in which nobody draws, lets others
-- draw in between, and gives up after a minute (SET mint_sql.patience), with nothing changed. Then the sequences are closed: a session that is still within an
-- older function gets an error of class 40 and can repeat its transaction. A second run of the file, later, drops them.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL lock_timeout = '100ms';
DO $$
DECLARE
    place constant text := (SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'pg_mint');
    patience constant interval := coalesce(nullif(current_setting('mint_sql.patience', true), ''), '1 min');
    layout_type constant text := place || '.snowflake_layout';
    f record;
    shard record;
    sequence text;
    lock_holders text;
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
    FOR f IN
        SELECT ours.oid, ours.proname AS name, ours.prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql') AS is_plpgsql,
            ours.proretset AS returns_set, ours.proisstrict AS is_strict, theirs.provolatile AS volatility, theirs.proparallel AS parallel,
            theirs.procost AS cost, (
                SELECT string_agg(format(CASE ours.proargtypes[n - 1] WHEN 'mint_sql.snowflake_layout'::regtype
                    THEN '$%s::pg_catalog.text::' || layout_type ELSE '$%s' END, n), ', ' ORDER BY n)
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
        -- A statement that has begun calls a function by the language that it had, so one that generates keeps it.
        body := CASE WHEN f.volatility = 'v' AND f.is_plpgsql
            THEN format('LANGUAGE plpgsql AS %L', format('BEGIN RETURN %s; END', CASE WHEN f.returns_set THEN 'QUERY SELECT * FROM ' ELSE '' END || body))
            WHEN f.returns_set THEN format('LANGUAGE sql BEGIN ATOMIC SELECT * FROM %s; END', body)
            ELSE 'LANGUAGE sql RETURN ' || body END;
        EXECUTE format('CREATE OR REPLACE FUNCTION mint_sql.%I(%s) RETURNS %s %s %s PARALLEL %s COST %s %s',
            f.name, pg_get_function_arguments(f.oid), pg_get_function_result(f.oid),
            CASE f.volatility WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
            CASE WHEN f.is_strict THEN 'STRICT' ELSE 'CALLED ON NULL INPUT' END,
            CASE f.parallel WHEN 's' THEN 'SAFE' WHEN 'r' THEN 'RESTRICTED' ELSE 'UNSAFE' END, f.cost, body);
    END LOOP;

    -- Of an earlier run.
    FOR sequence IN SELECT format('%I.%I', 'mint_sql', left(relname, -6)) FROM pg_class JOIN pg_sequence ON seqrelid = oid
        WHERE relnamespace = 'mint_sql'::regnamespace AND relname ~ '_[0-9]+_floor$' AND seqcycle
    LOOP
        EXECUTE format('DROP SEQUENCE %1$s, %1$s_floor, %1$s_ceiling', sequence);
    END LOOP;
    LOOP
        BEGIN
            FOR shard IN SELECT s.shard, s.layout, 'mint_sql.' || s.name AS floor FROM mint_sql.shards AS s ORDER BY s.name LOOP
                sequence := shard.floor;
                IF shard.layout IS NULL THEN
                    RAISE EXCEPTION 'layout of sequence "%" is not known', shard.floor USING ERRCODE = 'object_not_in_prerequisite_state',
                        HINT = format('Run COMMENT ON SEQUENCE %s IS ''...'' with its layout, which a dump without comments has lost.', shard.floor);
                END IF;
                -- Every call reads the floor first.
                EXECUTE format('ALTER SEQUENCE %s CYCLE', shard.floor);
                IF mint_sql.last_id(shard.shard, shard.layout) IS NOT NULL THEN
                    EXECUTE format('SELECT %s.snowflake_start_above($1, $2::%s)', place, layout_type)
                        USING mint_sql.last_id(shard.shard, shard.layout), shard.layout;
                END IF;
                EXECUTE format('ALTER SEQUENCE %s RESTART', shard.floor);
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() > now() + patience THEN
                lock_holders := (SELECT string_agg(DISTINCT coalesce(pid::text, 'prepared'), ', ') FROM pg_lock_status()
                    WHERE relation = sequence::regclass AND granted);
                RAISE EXCEPTION 'transactions that have drawn ids have not ended' USING ERRCODE = 'lock_not_available',
                    DETAIL = format('Processes that have drawn from sequence %s: %s.', sequence, lock_holders),
                    HINT = 'Run the file again when these transactions have ended.';
            END IF;
            PERFORM pg_sleep(0.1);
        END;
    END LOOP;
END
$$;
COMMIT;
