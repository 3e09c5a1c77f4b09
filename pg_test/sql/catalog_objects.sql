-- The extension's objects as the catalogs have them, so that no property of one changes unnoticed.
CREATE EXTENSION pg_mint;
\pset format unaligned
\pset null -
CREATE TEMP VIEW own AS SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'pg_mint';

-- Whether it can be moved, and what of it is dumped.
SELECT extrelocatable, extconfig::regclass[], extcondition FROM pg_extension WHERE extname = 'pg_mint';

-- Every object but functions and types, which are below.
SELECT o.type, o.identity, obj_description(objid, classid::regclass::name) AS comment FROM own, pg_identify_object(classid, objid, 0) o
WHERE o.type NOT IN ('function', 'aggregate', 'type') ORDER BY o.type COLLATE "C", o.identity COLLATE "C";

-- What catalog.sql does not say of functions. One in SQL has its text in place of a symbol, but for a long one.
SELECT p.oid::regprocedure AS function, prokind AS kind, lanname AS language,
       (SELECT CASE WHEN length(s) < 400 THEN s ELSE '...' END FROM coalesce(pg_get_function_sqlbody(p.oid), prosrc) AS s) AS source,
       prosecdef AS definer, proleakproof AS leakproof, proconfig AS settings, prosupport AS support, obj_description(p.oid, 'pg_proc') AS comment
FROM own JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid JOIN pg_language l ON l.oid = prolang
ORDER BY p.oid::regprocedure::text COLLATE "C";

SELECT aggfnoid, aggkind AS kind, aggtransfn AS transition, aggtranstype::regtype AS state, aggfinalfn AS final, aggcombinefn AS combine, aggserialfn AS serial, aggdeserialfn AS deserial,
       aggmtransfn AS moving, aggsortop::regoperator AS sort_operator, agginitval AS initial
FROM own JOIN pg_aggregate ON classid = 'pg_proc'::regclass AND objid = aggfnoid ORDER BY aggfnoid::text COLLATE "C";

SELECT t.oid::regtype AS type, typlen, typbyval, typalign, typstorage, typcategory, typispreferred AS preferred, typcollation <> 0 AS collatable, typdelim,
       typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript, typarray::regtype, obj_description(t.oid, 'pg_type') AS comment
FROM own JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid WHERE typtype = 'b' AND typcategory <> 'A' ORDER BY t.oid::regtype::text COLLATE "C";

SELECT castsource::regtype AS source, casttarget::regtype AS target, nullif(castfunc, 0)::regprocedure AS function, castcontext AS context, castmethod AS method
FROM own JOIN pg_cast c ON classid = 'pg_cast'::regclass AND objid = c.oid ORDER BY castsource::regtype::text COLLATE "C", casttarget::regtype::text COLLATE "C";

SELECT o.oid::regoperator AS operator, oprresult::regtype AS result, oprcode AS function, oprcom::regoperator AS commutator, oprnegate::regoperator AS negator,
       oprrest AS restrict, oprjoin AS join, oprcanhash AS hashes, oprcanmerge AS merges
FROM own JOIN pg_operator o ON classid = 'pg_operator'::regclass AND objid = o.oid ORDER BY o.oid::regoperator::text COLLATE "C";

SELECT amname, opcname, opcintype::regtype AS type, opcdefault AS is_default, nullif(opckeytype, 0)::regtype AS stored, opfname AS family
FROM own JOIN pg_opclass c ON classid = 'pg_opclass'::regclass AND objid = c.oid JOIN pg_am a ON a.oid = opcmethod JOIN pg_opfamily f ON f.oid = opcfamily
ORDER BY amname COLLATE "C", opcname COLLATE "C";
SELECT amname, opfname, amopstrategy AS strategy, amopopr::regoperator AS operator, amoppurpose AS purpose, nullif(amopsortfamily, 0) AS sort_family
FROM own JOIN pg_opfamily f ON classid = 'pg_opfamily'::regclass AND objid = f.oid JOIN pg_am a ON a.oid = opfmethod JOIN pg_amop ON amopfamily = f.oid
ORDER BY amname COLLATE "C", opfname COLLATE "C", amopstrategy, amopopr::regoperator::text COLLATE "C";
SELECT amname, opfname, amprocnum AS number, amproclefttype::regtype AS "left", amprocrighttype::regtype AS "right", amproc::regprocedure AS function
FROM own JOIN pg_opfamily f ON classid = 'pg_opfamily'::regclass AND objid = f.oid JOIN pg_am a ON a.oid = opfmethod JOIN pg_amproc ON amprocfamily = f.oid
ORDER BY amname COLLATE "C", opfname COLLATE "C", amprocnum, amproc::regprocedure::text COLLATE "C";

-- Relations, the columns of views, sequences, which start at the time of CREATE EXTENSION, and triggers.
SELECT c.oid::regclass AS relation, relkind AS kind, relpersistence AS persistence, reloptions AS options
FROM own JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid ORDER BY c.oid::regclass::text COLLATE "C";
SELECT c.oid::regclass AS view, attnum, attname, format_type(atttypid, atttypmod) AS type, col_description(c.oid, attnum) AS comment
FROM own JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid JOIN pg_attribute ON attrelid = c.oid
WHERE relkind <> 'S' AND attnum > 0 ORDER BY c.oid::regclass::text COLLATE "C", attnum;
SELECT seqrelid::regclass AS sequence, seqtypid::regtype AS type, seqincrement, seqmin, seqmax, seqcache, seqcycle
FROM own JOIN pg_sequence ON classid = 'pg_class'::regclass AND objid = seqrelid ORDER BY seqrelid::regclass::text COLLATE "C";
SELECT tgenabled AS enabled, pg_get_triggerdef(t.oid) AS trigger
FROM own JOIN pg_trigger t ON classid = 'pg_class'::regclass AND objid = tgrelid ORDER BY pg_get_triggerdef(t.oid) COLLATE "C";

-- Settings.
LOAD 'pg_mint';
SELECT name, vartype AS type, boot_val, unit, context, min_val, max_val, enumvals, pg_settings_get_flags(name) AS flags, category, short_desc, extra_desc
FROM pg_settings WHERE name LIKE 'pg\_mint.%' ORDER BY name COLLATE "C";
\pset format aligned
DROP EXTENSION pg_mint;
