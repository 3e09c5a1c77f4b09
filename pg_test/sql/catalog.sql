-- Every object of the extension with all that the catalogs say of it, one a line, so that no property changes unnoticed.
CREATE SCHEMA ids;
CREATE EXTENSION pg_mint SCHEMA ids;
SET search_path = ids, public;
\set ECHO none
\pset format unaligned
\pset tuples_only on
\pset null -
CREATE TEMP VIEW own AS SELECT d.classid, d.objid, obj_description(d.objid, d.classid::regclass::name) AS comment
    FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'pg_mint';
-- An owner differs from one installation to another, and PUBLIC is "-".
CREATE TEMP VIEW granted AS SELECT objid, string_agg(grantee::regrole || ' ' || privileges, '; ' ORDER BY grantee) AS "to"
    FROM (SELECT objid, grantee, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS privileges
        FROM own LEFT JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid
        LEFT JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid,
            aclexplode(coalesce(proacl, acldefault('f', proowner), relacl))
        WHERE grantee <> coalesce(proowner, relowner) GROUP BY objid, grantee) g GROUP BY objid;

\echo -- Whether it can be moved, and which tables are dumped.
SELECT extrelocatable, extconfig::regclass[], extcondition FROM pg_extension WHERE extname = 'pg_mint';

\echo -- Functions: result, kind, volatility, strictness, parallel safety, cost, rows, language, symbol or text unless it is long,
\echo -- SECURITY DEFINER, LEAKPROOF, settings, support function, grants, comment.
SELECT format('%s.%s(%s)', pronamespace::regnamespace, proname, pg_get_function_arguments(p.oid)) AS function, pg_get_function_result(p.oid) AS result,
       prokind, provolatile, proisstrict, proparallel, procost, prorows, lanname AS language,
       (SELECT CASE WHEN length(s) < 400 THEN regexp_replace(s, '\s+', ' ', 'g') ELSE '...' END FROM coalesce(pg_get_function_sqlbody(p.oid), prosrc) AS s) AS source,
       prosecdef, proleakproof, proconfig, prosupport, "to", comment
FROM own JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid JOIN pg_language l ON l.oid = prolang LEFT JOIN granted USING (objid)
ORDER BY p.oid::regprocedure::text COLLATE "C";

\echo -- Aggregates: kind, transition, state, final, combine, serial, deserial, moving, sort operator, initial.
SELECT aggfnoid, aggkind, aggtransfn, aggtranstype::regtype, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn,
       aggmtransfn, aggsortop::regoperator, agginitval
FROM own JOIN pg_aggregate ON classid = 'pg_proc'::regclass AND objid = aggfnoid ORDER BY aggfnoid::text COLLATE "C";

\echo -- Types.
SELECT t.oid::regtype AS type, typlen, typbyval, typalign, typstorage, typcategory, typispreferred, typcollation <> 0 AS collatable, typdelim,
       typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript, typarray::regtype, comment
FROM own JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid WHERE typtype = 'b' AND typcategory <> 'A' ORDER BY t.oid::regtype::text COLLATE "C";

\echo -- Casts: function, context, method.
SELECT castsource::regtype, casttarget::regtype, nullif(castfunc, 0)::regprocedure, castcontext, castmethod, comment
FROM own JOIN pg_cast c ON classid = 'pg_cast'::regclass AND objid = c.oid ORDER BY castsource::regtype::text COLLATE "C", casttarget::regtype::text COLLATE "C";

\echo -- Operators: result, function, commutator, negator, restriction, join, hashes, merges.
SELECT o.oid::regoperator AS operator, oprresult::regtype, oprcode, oprcom::regoperator, oprnegate::regoperator, oprrest, oprjoin, oprcanhash, oprcanmerge, comment
FROM own JOIN pg_operator o ON classid = 'pg_operator'::regclass AND objid = o.oid ORDER BY o.oid::regoperator::text COLLATE "C";

\echo -- Operator classes: method, type, default, stored type, family. Families: operators with strategy, purpose and order; functions with number and types.
SELECT opcname, amname, opcintype::regtype, opcdefault, nullif(opckeytype, 0)::regtype, opfname, comment
FROM own JOIN pg_opclass c ON classid = 'pg_opclass'::regclass AND objid = c.oid JOIN pg_am a ON a.oid = opcmethod JOIN pg_opfamily f ON f.oid = opcfamily
ORDER BY amname COLLATE "C", opcname COLLATE "C";
SELECT opfname, amname, comment,
    (SELECT string_agg(concat_ws(' ', amopstrategy, amopopr::regoperator, amoppurpose, nullif(amopsortfamily, 0)), '; '
        ORDER BY amopstrategy, amopopr::regoperator::text COLLATE "C") FROM pg_amop WHERE amopfamily = f.oid) AS operators,
    (SELECT string_agg(concat_ws(' ', amprocnum, amproclefttype::regtype, amprocrighttype::regtype, amproc::regprocedure), '; '
        ORDER BY amprocnum, amproc::regprocedure::text COLLATE "C") FROM pg_amproc WHERE amprocfamily = f.oid) AS functions
FROM own JOIN pg_opfamily f ON classid = 'pg_opfamily'::regclass AND objid = f.oid JOIN pg_am a ON a.oid = opfmethod
ORDER BY amname COLLATE "C", opfname COLLATE "C";

\echo -- Relations: kind, persistence, options, grants, columns, comment. Sequences start at the time of CREATE EXTENSION.
SELECT c.oid::regclass AS relation, relkind, relpersistence, reloptions, "to",
    (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), col_description(c.oid, attnum)), ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND relkind <> 'S') AS columns, comment
FROM own JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid LEFT JOIN granted USING (objid) ORDER BY c.oid::regclass::text COLLATE "C";
SELECT seqrelid::regclass AS sequence, seqtypid::regtype, seqincrement, seqmin, seqmax, seqcache, seqcycle
FROM own JOIN pg_sequence ON classid = 'pg_class'::regclass AND objid = seqrelid ORDER BY seqrelid::regclass::text COLLATE "C";
SELECT tgenabled, pg_get_triggerdef(t.oid)
FROM own JOIN pg_trigger t ON classid = 'pg_class'::regclass AND objid = tgrelid ORDER BY pg_get_triggerdef(t.oid) COLLATE "C";

\echo -- Objects of other kinds.
SELECT o.type, o.identity, comment FROM own, pg_identify_object(classid, objid, 0) o
WHERE classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass, 'pg_class'::regclass)
ORDER BY o.type COLLATE "C", o.identity COLLATE "C";

\echo -- What must not be: functions, types and relations without a comment, operators without estimators, negator and commutator, and
\echo -- names of PostgreSQL itself, but for min and max of another type, and mint.version().
SELECT pg_describe_object(classid, objid, 0) FROM own
WHERE comment IS NULL AND (classid IN ('pg_proc'::regclass, 'pg_class'::regclass, 'pg_namespace'::regclass)
    OR classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type WHERE oid = objid AND typrelid = 0 AND typelem = 0));
SELECT oid::regoperator FROM pg_operator
WHERE oprleft IN ('snowflake_layout'::regtype, 'objectid'::regtype) AND 0 IN (oprrest::oid, oprjoin::oid, oprnegate, oprcom);
SELECT p.oid::regprocedure FROM own JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid
WHERE p.prokind <> 'a' AND EXISTS (SELECT FROM pg_proc o WHERE o.proname = p.proname AND o.pronamespace = 'pg_catalog'::regnamespace) ORDER BY 1;

\echo -- Settings: type, default, unit, context, least, most, values, flags, category, descriptions. They are at their defaults.
LOAD 'pg_mint';
SELECT name, vartype, boot_val, unit, context, min_val, max_val, enumvals, pg_settings_get_flags(name) AS flags, category, short_desc, extra_desc
FROM pg_settings WHERE name LIKE 'pg\_mint.%' ORDER BY name COLLATE "C";

\echo -- Of this session and its ids.
SELECT name, setting, boot_val FROM pg_settings WHERE name LIKE 'pg_mint.%' AND setting IS DISTINCT FROM boot_val;
\set ECHO all
SET pg_mint.typo = 1;
SELECT mint.version() = extversion AS same_version FROM pg_extension WHERE extname = 'pg_mint';
SELECT snowflake_shard(snowflake_next_id(4242));
SELECT layout, shard, snowflake_shard(last_id) AS decoded, at = snowflake_time(last_id) AS at, ahead < interval '1 s' AS ahead, waits, largest_step
FROM mint.lanes WHERE shard = 4242 GROUP BY layout, shard, last_id, at, ahead, waits, largest_step;
SELECT mint.accept_clock() < interval '1 s' AS accepted;
-- Its schema mint is fixed, and so it moves no more.
ALTER EXTENSION pg_mint SET SCHEMA public;
DROP EXTENSION pg_mint;
