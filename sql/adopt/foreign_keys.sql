-- Pairs of columns of foreign keys: one jsonb for each, see src/adopt/catalog/foreign_key.rs. $1 is the oid of a
-- table and $2 the number of its column, whose keys are read on both sides; both are NULL for all of the
-- database.
WITH
  -- Columns by their table and number.
  columns AS NOT MATERIALIZED (
    SELECT
      a.attrelid,
      a.attnum,
      n.nspname,
      c.relname,
      jsonb_build_object(
        'table', a.attrelid::int8,
        'number', a.attnum,
        'table_name', format('%I.%I', n.nspname, c.relname),
        'name', a.attname,
        'type', a.atttypid::int8,
        'type_name', format_type(a.atttypid, a.atttypmod)
      ) AS fields
    FROM pg_attribute AS a
    JOIN pg_class AS c ON c.oid = a.attrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
  )
SELECT jsonb_build_object('from', near.fields, 'to', far.fields)
FROM pg_constraint AS f
CROSS JOIN LATERAL ROWS FROM (unnest(f.conkey), unnest(f.confkey)) AS one (near, far)
JOIN columns AS near ON near.attrelid = f.conrelid AND near.attnum = one.near
JOIN columns AS far ON far.attrelid = f.confrelid AND far.attnum = one.far
WHERE f.contype = 'f'
  AND f.conparentid = 0
  AND (
    $1::oid IS NULL
    OR f.conrelid = $1::oid AND one.near = $2::int2
    OR f.confrelid = $1::oid AND one.far = $2::int2
  )
ORDER BY near.nspname, near.relname, near.attnum, f.conname
