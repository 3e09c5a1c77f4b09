-- From the extension back to ids in SQL, in one transaction, for a database that moves to a server without the extension:
--
--     psql -v ON_ERROR_STOP=1 -f from_extension.sql       (pg_mint_sql.sql is in the same folder)
--
-- Stop the applications first. The functions of mint_sql get their bodies in SQL again and keep their oids. The shards that this server
-- has used since it started, for any of its databases, are declared, each above its last id. Then DROP EXTENSION pg_mint succeeds, and a dump of the database can be
-- restored anywhere. What only the extension has is refused, with its name.
BEGIN;
SET LOCAL mint_sql.back = 'on';
DO $$ BEGIN
    IF NOT pg_catalog.has_table_privilege('mint.lanes', 'SELECT') OR NOT pg_catalog.has_function_privilege('mint.lanes()', 'EXECUTE') THEN
        RAISE EXCEPTION 'permission denied for view mint.lanes' USING ERRCODE = 'insufficient_privilege',
            HINT = pg_catalog.format('It shows the last ids. Run GRANT pg_monitor TO %s, and revoke that afterwards.', current_user::pg_catalog.regrole);
    END IF;
END $$;
\ir pg_mint_sql.sql
SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
    f bigint[];
    lane record;
    user_of record;
    sequence text;
BEGIN
    FOR user_of IN
        -- The extension, its members, and what belongs to them, such as types of arrays. DROP EXTENSION drops these, whatever their class.
        WITH RECURSIVE own AS (
            SELECT tableoid AS classid, oid AS objid FROM pg_extension WHERE extname = 'pg_mint'
            UNION
            SELECT d.classid, d.objid FROM pg_depend AS d JOIN own ON d.refclassid = own.classid AND d.refobjid = own.objid
            WHERE d.deptype IN ('e', 'x', 'i', 'a', 'P', 'S')
        )
        SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS what, pg_describe_object(d.refclassid, d.refobjid, 0)
            || CASE d.refclassid WHEN 'pg_extension'::regclass THEN '' ELSE ' of the extension' END AS needs, d.deptype = 'x' AS goes
        FROM pg_depend AS d JOIN own ON d.refclassid = own.classid AND d.refobjid = own.objid
        WHERE d.deptype = 'x' OR (d.deptype = 'n' AND (d.classid, d.objid) NOT IN (SELECT classid, objid FROM own))
        ORDER BY d.refclassid = 'pg_type'::regclass DESC, what
    LOOP
        IF user_of.goes THEN
            RAISE NOTICE '% is dropped with %', user_of.what, user_of.needs;
            CONTINUE;
        END IF;
        RAISE EXCEPTION '% depends on %', user_of.what, user_of.needs USING ERRCODE = 'feature_not_supported',
            HINT = 'Change it to the function of the same name in schema "mint_sql", or drop it. Types of the extension have none.';
    END LOOP;
    -- Those that to_extension.sql has closed.
    FOR sequence IN SELECT format('%I.%I', 'mint_sql', left(relname, -6)) FROM pg_class JOIN pg_sequence ON seqrelid = oid
        WHERE relnamespace = 'mint_sql'::regnamespace AND relname ~ '_[0-9]+_floor$' AND seqcycle
    LOOP
        EXECUTE format('DROP SEQUENCE %1$s, %1$s_floor, %1$s_ceiling', sequence);
    END LOOP;
    IF EXISTS (SELECT FROM mint.lanes AS l WHERE l.layout IS NOT NULL AND l.shard IS NULL AND l.ids > 0) THEN
        RAISE WARNING 'shards without a lane of their own are not declared'
            USING DETAIL = 'The extension does not know which shards have used a lane that they share.',
            HINT = 'Declare them with mint_sql.shard_create, and run mint_sql.snowflake_start_above with the largest id of each.';
    END IF;
    FOR lane IN SELECT l.layout::text AS layout, l.shard::integer AS shard, l.last_id FROM mint.lanes AS l WHERE l.last_id IS NOT NULL LOOP
        f := mint_sql.layout_fields(lane.layout);
        IF mint_sql.lane(lane.layout, f, lane.shard, '') IS NULL THEN
            PERFORM mint_sql.shard_create(lane.shard, lane.layout);
        END IF;
        PERFORM mint_sql.raise_floor(mint_sql.lane(lane.layout, f, lane.shard, ''), mint_sql.lane(lane.layout, f, lane.shard, '_floor'),
            mint_sql.lane(lane.layout, f, lane.shard, '_ceiling'), f, mint_sql.word_of(lane.last_id, f));
    END LOOP;
END
$$;
COMMIT;
