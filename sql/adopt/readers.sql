-- Expressions that read a column: one jsonb for each, see src/adopt/audit/readers.rs. $1 is the oid of a table and
-- $2 the number of its column, $3 the most bytes of a tree, which is read only if it is not longer as it is stored.
WITH
  expression AS (
    SELECT 'pg_class'::regclass AS class, i.indexrelid AS object, i.indexprs::text AS tree
    FROM pg_index AS i
    WHERE i.indrelid = $1::oid AND pg_column_size(i.indexprs) <= $3::int4
    UNION ALL
    SELECT 'pg_class'::regclass, i.indexrelid, i.indpred::text
    FROM pg_index AS i
    WHERE i.indrelid = $1::oid AND pg_column_size(i.indpred) <= $3::int4
    UNION ALL
    SELECT 'pg_constraint'::regclass, k.oid, k.conbin::text
    FROM pg_constraint AS k
    WHERE k.conrelid = $1::oid AND k.contype = 'c' AND pg_column_size(k.conbin) <= $3::int4
    UNION ALL
    SELECT 'pg_attrdef'::regclass, d.oid, d.adbin::text
    FROM pg_attrdef AS d
    JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated <> ''
    WHERE d.adrelid = $1::oid AND pg_column_size(d.adbin) <= $3::int4
    UNION ALL
    -- Views of the column that read no other relation's column of the same number, as a tree has only this number.
    SELECT 'pg_class'::regclass, r.ev_class, r.ev_action::text
    FROM pg_rewrite AS r
    WHERE r.ev_type = '1'
      AND pg_column_size(r.ev_action) <= $3::int4
      AND EXISTS (
        SELECT
        FROM pg_depend AS d
        WHERE d.classid = 'pg_rewrite'::regclass
          AND d.objid = r.oid
          AND d.refclassid = 'pg_class'::regclass
          AND d.refobjid = $1::oid
          AND d.refobjsubid = $2::int2::int4
      )
      AND NOT EXISTS (
        SELECT
        FROM pg_depend AS d
        WHERE d.classid = 'pg_rewrite'::regclass
          AND d.objid = r.oid
          AND d.refclassid = 'pg_class'::regclass
          AND d.refobjid <> $1::oid
          AND d.refobjid <> r.ev_class
          AND d.refobjsubid = $2::int2::int4
      )
  )
SELECT jsonb_build_object(
  'name', pg_describe_object(e.class::oid, e.object, 0),
  'tree', e.tree
)
FROM expression AS e
WHERE octet_length(e.tree) <= $3::int4
ORDER BY pg_describe_object(e.class::oid, e.object, 0)
LIMIT 100
