-- What the partitions of a tree take: one jsonb, see src/adopt/convert/checks/partitions.rs. $1 has the oids of its tables, the
-- root first. Where a table has expressions in its key, the server would evaluate them with the rights of the caller.
SELECT jsonb_agg(
  jsonb_build_object(
    'relation', i.inhrelid::int8,
    'parent', i.inhparent::int8,
    'parent_name', p.relname,
    -- The only partition of all has none. Each partition of a hash takes some of all ids.
    'text', coalesce(nullif(b.text, substring(b.text FROM '.*satisfies_hash_partition[(].*')), 'true')
  )
  ORDER BY array_position($1::oid[], i.inhparent), i.inhrelid
)
FROM pg_class AS c
JOIN pg_inherits AS i ON i.inhrelid = c.oid
JOIN pg_class AS p ON p.oid = i.inhparent
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN NOT EXISTS (
      SELECT
      FROM pg_partitioned_table AS r
      WHERE r.partrelid = ANY ($1::oid[]) AND r.partexprs IS NOT NULL
    )
      THEN pg_get_partition_constraintdef(c.oid)
  END AS text
) AS b
WHERE c.oid = ANY ($1::oid[])
  AND c.relispartition
  AND NOT (SELECT r.relispartition FROM pg_class AS r WHERE r.oid = ($1::oid[])[1])
