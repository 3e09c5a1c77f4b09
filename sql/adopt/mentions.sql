-- Functions that use sequences, or take or return ids as integers: one jsonb, see src/adopt/mentions.rs. $1 has the oids
-- of tables, $2 those of sequences.
WITH
  -- The name of each relation as part of a regular expression, which no longer name matches.
  name AS (
    SELECT
      c.oid,
      '(^|[^[:alnum:]_$])'
        || regexp_replace(c.relname::text, '([^[:alnum:]_])', '\\\1', 'g')
        || '($|[^[:alnum:]_$])' AS pattern
    FROM pg_class AS c
    WHERE c.oid = ANY ($1::oid[] || $2::oid[])
  ),
  -- Regular expressions for all tables, all sequences, and calls of the functions of sequences: one row.
  pattern AS (
    SELECT
      string_agg(
        CASE WHEN n.oid = ANY ($1::oid[]) THEN n.pattern END,
        '|' ORDER BY n.pattern
      ) AS tables,
      string_agg(
        CASE WHEN n.oid = ANY ($2::oid[]) THEN n.pattern END,
        '|' ORDER BY n.pattern
      ) AS sequences,
      '(^|[^[:alnum:]_$])(nextval|currval|lastval|setval)[[:space:]]*[(]' AS calls
    FROM name AS n
  ),
  -- The functions of users with their texts, without those of sessions and of extensions. Any role can create
  -- a function of 1 GB, at which a search of all would fail.
  function AS (
    SELECT
      p.oid,
      p.oid::regprocedure::text AS name,
      p.proargtypes::oid[] || p.proallargtypes || p.prorettype AS types,
      CASE WHEN p.prosqlbody IS NULL THEN p.prosrc ELSE pg_get_function_sqlbody(p.oid) END AS body
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE p.prolang > 13
      AND octet_length(p.prosrc) <= 100000
      AND (p.prosqlbody IS NULL OR octet_length(p.prosqlbody::text) <= 1000000)
      AND NOT starts_with(n.nspname::text, 'pg_temp_')
      AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND NOT EXISTS (
        SELECT
        FROM pg_depend AS e
        WHERE e.classid = p.tableoid AND e.objid = p.oid AND e.deptype = 'e'
      )
  )
SELECT jsonb_build_object(
  'functions', (
    SELECT jsonb_agg(f.name ORDER BY f.name)
    FROM function AS f, pattern AS p
    WHERE cardinality($2::oid[]) > 0
      AND (f.body ~* p.sequences OR f.body ~* p.calls AND f.body ~* p.tables)
  ),
  'narrow', (
    SELECT jsonb_agg(f.name ORDER BY f.name)
    FROM function AS f, pattern AS p
    WHERE f.types && '{21,23,1005,1007}'::oid[] AND f.body ~* p.tables
  ),
  -- Columns of integers of the same owner that have the name of one that refers to the first table, or that of the table.
  'unlinked', (
    SELECT jsonb_agg(u.name ORDER BY u.name)
    FROM (
      SELECT format('%s.%I', c.oid::regclass, a.attname) AS name
      FROM pg_class AS t
      JOIN pg_class AS c ON c.relowner = t.relowner AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.atttypid = ANY ('{int2,int4}'::regtype[]) AND a.attnum > 0
      WHERE t.oid = ($1::oid[])[1]
        AND (
          a.attname IN (t.relname || '_id', rtrim(t.relname, 's') || '_id')
          OR a.attname IN (
            SELECT b.attname
            FROM pg_constraint AS k
            JOIN pg_attribute AS b ON b.attrelid = k.conrelid AND b.attnum = ANY (k.conkey)
            WHERE k.contype = 'f'
              AND k.confrelid = t.oid
              AND NOT EXISTS (SELECT FROM pg_attribute AS o WHERE o.attrelid = t.oid AND o.attname = b.attname)
          )
        )
        AND NOT EXISTS (
          SELECT FROM pg_constraint AS k WHERE k.contype = 'f' AND k.conrelid = c.oid AND a.attnum = ANY (k.conkey)
        )
      ORDER BY 1
      LIMIT 10
    ) AS u
  ),
  'pattern', (SELECT concat_ws('|', p.calls, p.sequences) FROM pattern AS p),
  -- The view of pg_stat_statements, if the extension is installed, its library was loaded at the start, and
  -- the user may read it.
  'view', (
    SELECT c.oid::int8
    FROM pg_extension AS e
    JOIN pg_depend AS d ON d.refclassid = e.tableoid AND d.refobjid = e.oid AND d.deptype = 'e'
    JOIN pg_class AS c ON c.tableoid = d.classid
      AND c.oid = d.objid
      AND c.relkind = 'v'
      AND c.relname = 'pg_stat_statements'
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE e.extname = 'pg_stat_statements'
      AND has_schema_privilege(n.oid, 'USAGE')
      AND has_table_privilege(c.oid, 'SELECT')
      AND EXISTS (
        SELECT
        FROM pg_settings AS s
        WHERE s.name = 'pg_stat_statements.max' AND s.vartype = 'integer'
      )
    LIMIT 1
  )
)
