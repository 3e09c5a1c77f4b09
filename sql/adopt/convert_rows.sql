-- The rows of tables: one jsonb, see src/adopt/convert/rows.rs. $1 has the oids of tables, $2 the numbers of columns
-- that become bigint, or 0. $3 is the value of these, or NULL; with one, the values of other columns are not known to the
-- planner, and those of the types $4 are left out.
WITH
  target AS (
    SELECT t.relation, t.number
    FROM unnest($1::oid[], $2::int2[]) AS t (relation, number)
  )
SELECT jsonb_build_object(
  -- The columns of each table as a list of SELECT, by the oid of the table.
  'lists', (
    SELECT jsonb_object_agg(r.relation::text, r.list)
    FROM (
      SELECT
        a.attrelid AS relation,
        string_agg(
          CASE
            WHEN t.number IS NULL
              THEN format(
                CASE WHEN $3::int8 IS NULL THEN 'NULL::%s AS %I' ELSE '(SELECT NULL::%s) AS %I' END,
                format_type(a.atttypid, a.atttypmod),
                a.attname
              )
            ELSE format('%L::bigint AS %I', $3::int8, a.attname)
          END,
          ', '
        ) AS list
      FROM pg_attribute AS a
      LEFT JOIN target AS t ON t.relation = a.attrelid AND t.number = a.attnum
      WHERE a.attnum > 0
        AND NOT a.attisdropped
        AND a.attrelid = ANY ($1::oid[])
        AND (t.number IS NOT NULL OR a.atttypid <> ALL ($4::oid[]))
      GROUP BY a.attrelid
    ) AS r
  ),
  'lacking', (
    SELECT jsonb_agg(DISTINCT a.attrelid::int8)
    FROM pg_attribute AS a
    WHERE a.attrelid = ANY ($1::oid[]) AND a.atttypid = ANY ($4::oid[])
  ),
  -- Functions that take or return rows of the tables.
  'functions', (
    SELECT jsonb_agg(DISTINCT p.objid::regprocedure::text)
    FROM pg_class AS c
    JOIN pg_type AS y ON c.reltype = ANY (ARRAY[y.oid, y.typelem])
    JOIN pg_depend AS p ON p.refclassid = 'pg_type'::regclass
      AND p.refobjid = y.oid
      AND p.classid = 'pg_proc'::regclass
    WHERE c.oid = ANY ($1::oid[])
  ),
  -- Views and functions with rows of the tables, or of others that they read as well, and triggers with a condition on them.
  'whole', (
    SELECT jsonb_agg(o.name ORDER BY o.name)
    FROM (
      SELECT DISTINCT pg_describe_object('pg_class'::regclass, w.ev_class, 0)
      FROM pg_depend AS p
      JOIN pg_rewrite AS w ON w.oid = p.objid AND w.ev_class <> p.refobjid
      WHERE p.classid = 'pg_rewrite'::regclass
        AND p.refclassid = 'pg_class'::regclass
        AND p.refobjid = ANY ($1::oid[])
        AND w.ev_action::text ~ '{VAR :varno [0-9]+ :varattno 0 '
      UNION
      SELECT pg_describe_object('pg_proc'::regclass, q.oid, 0)
      FROM pg_depend AS p
      JOIN pg_proc AS q ON q.oid = p.objid
      WHERE p.classid = 'pg_proc'::regclass
        AND p.refclassid = 'pg_class'::regclass
        AND p.refobjid = ANY ($1::oid[])
        AND strpos(q.prosqlbody::text, ':varattno 0 ') > 0
      UNION
      SELECT pg_describe_object('pg_trigger'::regclass, g.oid, 0)
      FROM pg_trigger AS g
      WHERE g.tgrelid = ANY ($1::oid[]) AND strpos(g.tgqual::text, ':varattno 0 ') > 0
    ) AS o (name)
  ),
  -- Functions of triggers of the tables, which sessions have compiled with the types of before: a statement that changes
  -- nothing makes each session compile one again. Those that the owner cannot alter have none.
  'compiled', (
    SELECT jsonb_agg(DISTINCT jsonb_build_object(
      'name', p.oid::regprocedure::text,
      'again', CASE
        WHEN p.proowner = c.relowner AND has_schema_privilege(p.proowner, p.pronamespace, 'USAGE')
          THEN format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, p.procost)
      END
    ))
    FROM pg_trigger AS g
    JOIN pg_class AS c ON c.oid = g.tgrelid
    JOIN pg_proc AS p ON p.oid = g.tgfoid
    JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
    WHERE g.tgrelid = ANY ($1::oid[])
      AND NOT g.tgisinternal
      AND NOT starts_with(g.tgname::text, '~mint_copy_')
  ),
  -- Functions of triggers that mention all columns of a row, of which there is one more from the first step on.
  'starred', (
    SELECT jsonb_agg(DISTINCT p.oid::regprocedure::text)
    FROM pg_trigger AS g
    JOIN pg_proc AS p ON p.oid = g.tgfoid
    WHERE g.tgrelid = ANY ($1::oid[])
      AND NOT g.tgisinternal
      AND NOT starts_with(g.tgname::text, '~mint_copy_')
      AND p.prosrc ~* '\m(new|old)[[:space:]]*[)]?[[:space:]]*[.][[:space:]]*[*]|\mselect[[:space:]]+([a-z0-9_"$]+[.])?[*]'
  ),
  -- Checks that rows of before might not meet, quoted with their tables.
  'unvalidated', (
    SELECT jsonb_agg(DISTINCT format('%I of %s', k.conname, k.conrelid::regclass))
    FROM pg_constraint AS k
    WHERE k.contype = 'c'
      AND NOT k.convalidated
      AND (to_jsonb(k) ->> 'conenforced')::bool IS NOT FALSE
      AND k.conrelid = ANY ($1::oid[])
      AND k.conname::text !~ '^mint_(filled|check)_'
  )
)
