-- What the extension promises the planner and the administrator. Its objects as the catalogs have them: catalog_objects.sql.
CREATE SCHEMA ids;
CREATE EXTENSION pg_mint SCHEMA ids;
SET search_path = ids, public;

SELECT p.oid::regprocedure AS function, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result,
       provolatile AS vol, proisstrict AS strict, proparallel AS par, procost AS cost, prorows AS rows
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid
WHERE extname = 'pg_mint' ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Every function has a comment.
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid
WHERE extname = 'pg_mint' AND obj_description(p.oid, 'pg_proc') IS NULL;

-- Every relation is in schema mint. What PUBLIC cannot call.
SELECT c.oid::regclass AS relation, relkind AS kind,
    (SELECT string_agg(grantee::regrole || ' ' || privilege_type, ', ' ORDER BY grantee, privilege_type)
    FROM aclexplode(relacl) WHERE grantee <> relowner) AS others
    FROM pg_class c
    JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid WHERE extname = 'pg_mint' ORDER BY c.oid::regclass::text COLLATE "C";
SELECT p.oid::regprocedure AS not_public,
    (SELECT string_agg(grantee::regrole::text, ', ') FROM aclexplode(proacl) WHERE grantee <> proowner) AS but
    FROM pg_proc p
    JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON e.oid = d.refobjid
WHERE extname = 'pg_mint' AND NOT has_function_privilege('public', p.oid, 'EXECUTE') ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Every operator has estimators, negator and commutator.
SELECT oid::regoperator FROM pg_operator
WHERE oprleft IN ('snowflake_layout'::regtype, 'objectid'::regtype) AND 0 IN (oprrest::oid, oprjoin::oid, oprnegate, oprcom);

-- No name clashes with those of PostgreSQL itself, but for min and max of another type, and mint.version().
SELECT p.proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid
WHERE extname = 'pg_mint' AND p.prokind <> 'a' AND EXISTS (SELECT FROM pg_proc o WHERE o.proname = p.proname AND o.pronamespace = 'pg_catalog'::regnamespace) ORDER BY 1;

-- Settings are at their defaults.
SELECT name, setting, boot_val FROM pg_settings WHERE name LIKE 'pg_mint.%' AND setting IS DISTINCT FROM boot_val;
SET pg_mint.typo = 1;
SELECT has_function_privilege('pg_monitor', 'mint.lanes()', 'EXECUTE') AS monitor,
       has_table_privilege('pg_monitor', 'mint.lanes', 'SELECT') AS monitor_view,
       has_function_privilege('pg_database_owner', 'mint.accept_clock()', 'EXECUTE') AS others_accept;

SELECT mint.version() = extversion AS same_version FROM pg_extension WHERE extname = 'pg_mint';

-- The view.
SELECT snowflake_shard(snowflake_next_id(4242));
SELECT layout, shard, snowflake_shard(last_id) AS decoded, at = snowflake_time(last_id) AS at, ahead < interval '1 s' AS ahead, waits, largest_step
FROM mint.lanes WHERE shard = 4242 GROUP BY layout, shard, last_id, at, ahead, waits, largest_step;
SELECT mint.accept_clock() < interval '1 s' AS accepted;
-- Its schema mint is fixed, and so it moves no more.
ALTER EXTENSION pg_mint SET SCHEMA public;
DROP EXTENSION pg_mint;
