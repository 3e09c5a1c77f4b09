-- Columns: one jsonb for each, see src/adopt/catalog/column.rs. $1 is the oid of a table and $2 the name of its
-- column; both are NULL for all columns of the database that can be of ids. $3 has the types of ids, $4 is the
-- most bytes of a default's tree, $5 that of all trees of an owner, the shortest first.
WITH RECURSIVE
  -- Types, and what a domain is of at the bottom.
  base AS (
    SELECT t.oid, t.oid AS base
    FROM pg_type AS t
    WHERE t.typtype <> 'd'
    UNION ALL
    SELECT t.oid, b.base
    FROM base AS b
    JOIN pg_type AS t ON t.typbasetype = b.oid AND t.typtype = 'd'
  )
SELECT jsonb_build_object(
  'table', c.oid::int8,
  'number', a.attnum,
  'name', a.attname,
  'type', a.atttypid::int8,
  'type_name', format_type(a.atttypid, a.atttypmod),
  'base_type', b.base::int8,
  'identity', a.attidentity::text,
  'is_key', k.oid IS NOT NULL,
  'default', CASE
    WHEN octet_length(d.adbin::text) <= $4::int4
      AND sum(octet_length(d.adbin::text)) OVER (
        PARTITION BY c.relowner
        ORDER BY octet_length(d.adbin::text), d.oid
      ) <= $5::int8
    THEN jsonb_build_object(
      'text', pg_get_expr(d.adbin, 0),
      'tree', d.adbin::text
    )
  END,
  -- The sequence that the column draws from, by its default or as an identity.
  'source', (
    SELECT jsonb_build_object(
      'sequence', q.seqrelid::int8,
      'max', q.seqmax,
      'increment', q.seqincrement,
      'is_owned', EXISTS (
        SELECT
        FROM pg_depend AS o
        WHERE o.classid = 'pg_class'::regclass
          AND o.objid = q.seqrelid
          AND o.refclassid = 'pg_class'::regclass
          AND o.refobjid = c.oid
          AND o.refobjsubid = a.attnum::int4
          AND o.deptype IN ('a', 'i')
      )
    )
    FROM (
      SELECT e.objid AS oid, 1 AS place
      FROM pg_depend AS e
      WHERE e.classid = 'pg_class'::regclass
        AND e.refclassid = 'pg_class'::regclass
        AND e.refobjid = c.oid
        AND e.refobjsubid = a.attnum::int4
        AND e.deptype = 'i'
      UNION ALL
      SELECT e.refobjid, 2
      FROM pg_depend AS e
      WHERE e.classid = 'pg_attrdef'::regclass
        AND e.objid = d.oid
        AND e.refclassid = 'pg_class'::regclass
    ) AS used
    JOIN pg_sequence AS q ON q.seqrelid = used.oid
    ORDER BY used.place, q.seqrelid DESC
    LIMIT 1
  )
)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid
JOIN base AS b ON b.oid = a.atttypid
LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum AND a.attgenerated = ''
LEFT JOIN pg_constraint AS k ON k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY (k.conkey)
WHERE a.attnum > 0
  AND NOT a.attisdropped
  AND ($1::oid IS NULL OR c.oid = $1::oid)
  AND ($2::text IS NULL OR a.attname = $2::text::name)
  AND (
    $1::oid IS NOT NULL
    OR c.relkind IN ('r', 'p')
    AND NOT c.relispartition
    AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND a.attgenerated = ''
    AND b.base = ANY ($3::oid[])
    -- Keys, columns that have a default, and all of tables that others refer to.
    AND (
      d.oid IS NOT NULL
      OR k.oid IS NOT NULL
      OR a.attidentity <> ''
      OR c.oid IN (
        SELECT f.confrelid
        FROM pg_constraint AS f
        WHERE f.contype = 'f' AND f.conparentid = 0
      )
    )
    AND NOT EXISTS (
      SELECT
      FROM pg_depend AS e
      WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e'
    )
  )
ORDER BY n.nspname, c.relname, a.attnum
