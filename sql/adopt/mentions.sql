-- Functions that use sequences or take ids as integers: one jsonb, see src/adopt/mentions.rs. $1 has the oids of tables, $2 those of
-- sequences.
WITH
  -- A name as part of a regular expression: no part of a longer name.
  name AS (SELECT c.oid, '(^|[^[:alnum:]_$])'::pg_catalog.text
      OPERATOR(pg_catalog.||) pg_catalog.regexp_replace(c.relname::pg_catalog.text,
        '([^[:alnum:]_])'::pg_catalog.text, '\\\1'::pg_catalog.text, 'g'::pg_catalog.text)
      OPERATOR(pg_catalog.||) '($|[^[:alnum:]_$])'::pg_catalog.text AS pattern
    FROM pg_catalog.pg_class AS c
    WHERE c.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[] OPERATOR(pg_catalog.||) $2::pg_catalog.oid[])),
  pattern AS (SELECT
      pg_catalog.string_agg(CASE WHEN n.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[]) THEN n.pattern END,
        '|'::pg_catalog.text ORDER BY n.pattern) AS tables,
      pg_catalog.string_agg(CASE WHEN n.oid OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.oid[]) THEN n.pattern END,
        '|'::pg_catalog.text ORDER BY n.pattern) AS sequences,
      '(^|[^[:alnum:]_$])(nextval|currval|lastval|setval)[[:space:]]*[(]'::pg_catalog.text AS calls
    FROM name AS n),
  -- Functions of users, by their text: but for those of sessions, and those that no person has written. Any role can create a function of
  -- 1 GB, which the search of all would fail at.
  function AS (SELECT p.oid, p.oid::pg_catalog.regprocedure::pg_catalog.text AS name, p.proargtypes::pg_catalog.oid[] AS types,
      CASE WHEN p.prosqlbody IS NULL THEN p.prosrc ELSE pg_catalog.pg_get_function_sqlbody(p.oid) END AS body
    FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
    WHERE p.prolang OPERATOR(pg_catalog.>) 13::pg_catalog.oid
      AND pg_catalog.octet_length(p.prosrc) OPERATOR(pg_catalog.<=) 100000::pg_catalog.int4
      AND (p.prosqlbody IS NULL OR pg_catalog.octet_length(p.prosqlbody::pg_catalog.text) OPERATOR(pg_catalog.<=) 1000000::pg_catalog.int4)
      AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_temp_'::pg_catalog.text)
      AND n.nspname OPERATOR(pg_catalog.<>) ALL ('{pg_catalog,information_schema}'::pg_catalog.name[])
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS e WHERE e.classid OPERATOR(pg_catalog.=) p.tableoid
        AND e.objid OPERATOR(pg_catalog.=) p.oid AND e.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char"))
SELECT pg_catalog.jsonb_build_object(
  'functions', (SELECT pg_catalog.jsonb_agg(f.name ORDER BY f.name) FROM function AS f, pattern AS p
    WHERE pg_catalog.cardinality($2::pg_catalog.oid[]) OPERATOR(pg_catalog.>) 0::pg_catalog.int4
      AND (f.body OPERATOR(pg_catalog.~*) p.sequences OR f.body OPERATOR(pg_catalog.~*) p.calls AND f.body OPERATOR(pg_catalog.~*) p.tables)),
  'narrow', (SELECT pg_catalog.jsonb_agg(f.name ORDER BY f.name) FROM function AS f, pattern AS p
    WHERE f.types OPERATOR(pg_catalog.&&) '{21,23,1005,1007}'::pg_catalog.oid[] AND f.body OPERATOR(pg_catalog.~*) p.tables),
  'pattern', (SELECT pg_catalog.concat_ws('|'::pg_catalog.text, p.calls, p.sequences) FROM pattern AS p),
  -- The view of pg_stat_statements, where the extension is installed, its library was loaded at the start, and the user may read it.
  'view', (SELECT c.oid::pg_catalog.int8 FROM pg_catalog.pg_extension AS e
    JOIN pg_catalog.pg_depend AS d ON d.refclassid OPERATOR(pg_catalog.=) e.tableoid AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char"
    JOIN pg_catalog.pg_class AS c ON c.tableoid OPERATOR(pg_catalog.=) d.classid AND c.oid OPERATOR(pg_catalog.=) d.objid AND c.relkind OPERATOR(pg_catalog.=) 'v'::pg_catalog."char"
      AND c.relname OPERATOR(pg_catalog.=) 'pg_stat_statements'::pg_catalog.name
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'pg_stat_statements'::pg_catalog.name
      AND pg_catalog.has_schema_privilege(n.oid, 'USAGE'::pg_catalog.text)
      AND pg_catalog.has_table_privilege(c.oid, 'SELECT'::pg_catalog.text)
      AND EXISTS (SELECT FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'pg_stat_statements.max'::pg_catalog.text
        AND s.vartype OPERATOR(pg_catalog.=) 'integer'::pg_catalog.text)
    LIMIT 1::pg_catalog.int8)
)
