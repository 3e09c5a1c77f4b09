-- What the server plans with statements on tables, and calls what a user has made, or has a type of a user: one jsonb with a list
-- of objects, see src/adopt/catalog/casts.rs. $1 has the oids of tables.
SELECT jsonb_agg(jsonb_build_object(
  'object', CASE
    WHEN c.class = 'pg_class'::regclass AND c.object = ANY ($1::oid[])
      THEN 'partition key of ' || pg_describe_object(c.class, c.object, 0)
    ELSE pg_describe_object(c.class, c.object, 0)
  END,
  'is_written', c.is_written,
  'types', coalesce(c.types, '[]'),
  'functions', coalesce(c.functions, '[]'),
  'operators', coalesce(c.operators, '[]')
))
FROM (
  SELECT
    o.class,
    o.object,
    bool_or(o.tree IS NOT NULL AND o.tree <> '') AS is_written,
    -- The parser, the planner and functions of the server run what the owner of a type adds to it: casts, checks of domains, input
    -- functions of what a composite, an array or a range contains. Which of them do has been asked in vain.
    jsonb_agg(p.refobjid::int8) FILTER (WHERE p.refclassid = 'pg_type'::regclass) AS types,
    jsonb_agg(p.refobjid::int8) FILTER (WHERE p.refclassid = 'pg_proc'::regclass) AS functions,
    jsonb_agg(p.refobjid::int8) FILTER (WHERE p.refclassid = 'pg_operator'::regclass) AS operators
  FROM (
    -- A query reads those of indexes, checks, keys of partitions and statistics, also where it has none of their columns.
    SELECT 'pg_class'::regclass, i.indexrelid, concat(i.indexprs::text, i.indpred::text)
    FROM pg_index AS i
    WHERE i.indrelid = ANY ($1::oid[])
    UNION ALL
    SELECT 'pg_constraint'::regclass, k.oid, k.conbin::text
    FROM pg_constraint AS k
    WHERE k.conrelid = ANY ($1::oid[])
    UNION ALL
    SELECT 'pg_class'::regclass, r.partrelid, r.partexprs::text
    FROM pg_partitioned_table AS r
    WHERE r.partrelid = ANY ($1::oid[])
    UNION ALL
    SELECT 'pg_statistic_ext'::regclass, e.oid, e.stxexprs::text
    FROM pg_statistic_ext AS e
    WHERE e.stxrelid = ANY ($1::oid[])
    UNION ALL
    -- The UPDATE of a backfill has those of generated columns, triggers and rules as well.
    SELECT 'pg_attrdef'::regclass, d.oid, d.adbin::text
    FROM pg_attrdef AS d
    JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated <> ''
    WHERE d.adrelid = ANY ($1::oid[])
    UNION ALL
    SELECT 'pg_trigger'::regclass, g.oid, g.tgqual::text
    FROM pg_trigger AS g
    WHERE g.tgrelid = ANY ($1::oid[])
    UNION ALL
    SELECT 'pg_rewrite'::regclass, w.oid, concat(w.ev_qual::text, w.ev_action::text)
    FROM pg_rewrite AS w
    WHERE w.ev_class = ANY ($1::oid[])
  ) AS o (class, object, tree)
  CROSS JOIN LATERAL (
    SELECT d.refclassid, d.refobjid
    FROM pg_depend AS d
    WHERE d.classid = o.class
      AND d.objid = o.object
      AND d.objsubid = 0
      AND d.refclassid IN ('pg_type'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
    UNION
    -- Types of columns have no row there, nor have what JSON_VALUE() returns and an array without elements.
    SELECT 'pg_type'::regclass, y.oid
    FROM regexp_matches(o.tree, ':[a-z_]*typ(?:e|id|eid)? ([0-9]+)', 'gi') AS m (oids)
    JOIN pg_type AS y ON y.oid = m.oids[1]::oid
  ) AS p
  -- The function of a trigger is not planned.
  WHERE p.refobjid >= 16384 AND NOT EXISTS (
    SELECT
    FROM pg_trigger AS g
    WHERE o.class = 'pg_trigger'::regclass AND g.oid = o.object AND g.tgfoid = p.refobjid
  )
  GROUP BY o.class, o.object
) AS c
