-- What the server plans with statements on tables, and has a cast to a domain: one jsonb with a list of objects and types, see
-- src/adopt/catalog/casts.rs. $1 has the oids of tables.
SELECT jsonb_agg(DISTINCT jsonb_build_object(
  'object', CASE
    WHEN o.class = 'pg_class'::regclass AND o.object = ANY ($1::oid[])
      THEN 'partition key of ' || pg_describe_object(o.class, o.object, 0)
    ELSE pg_describe_object(o.class, o.object, 0)
  END,
  'type', p.refobjid::int8
))
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
JOIN pg_depend AS p ON p.classid = o.class
  AND p.objid = o.object
  AND p.objsubid = 0
  AND p.refclassid = 'pg_type'::regclass
-- A cast of a text to a composite, an array or a range runs the input functions of what these contain.
WHERE o.tree ~ '[{](COERCETODOMAIN|COERCEVIAIO|JSONEXPR) '
