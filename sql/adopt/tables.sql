-- The files of tables and of all partitions below them, with those of indexes and TOAST tables: one jsonb for
-- each, see src/adopt/catalog/table.rs. $1 is the oid of a table, or NULL for all that are not partitions.
WITH RECURSIVE
  -- Each table and the partitions below it.
  tree AS (
    SELECT c.oid AS root, c.oid AS leaf
    FROM pg_class AS c
    WHERE c.relkind IN ('r', 'p')
      AND ($1::oid IS NULL OR c.oid = $1::oid)
      AND (
        $1::oid IS NOT NULL
        OR NOT c.relispartition
        AND c.relnamespace <> ALL ('{pg_catalog,information_schema}'::regnamespace[]::oid[])
      )
    UNION ALL
    SELECT t.root, i.inhrelid
    FROM tree AS t
    JOIN pg_inherits AS i ON i.inhparent = t.leaf
    JOIN pg_class AS c ON c.oid = i.inhrelid AND c.relispartition
  ),
  -- Those of them that have rows.
  part AS (
    SELECT t.root, c.oid, c.reltuples, c.relpages, c.reltoastrelid
    FROM tree AS t
    JOIN pg_class AS c ON c.oid = t.leaf
    WHERE c.relkind = 'r'
  ),
  -- All relations that have a file: the last column is null but of tables.
  file AS (
    SELECT p.root, p.oid, p.relpages, p.reltuples
    FROM part AS p
    UNION ALL
    SELECT p.root, c.oid, c.relpages, NULL
    FROM part AS p
    JOIN pg_class AS c ON c.oid = p.reltoastrelid
    UNION ALL
    SELECT p.root, c.oid, c.relpages, NULL
    FROM part AS p
    JOIN pg_index AS x ON x.indrelid IN (p.oid, p.reltoastrelid)
    JOIN pg_class AS c ON c.oid = x.indexrelid
  )
SELECT jsonb_build_object(
  'root', f.root::int8,
  'oid', f.oid::int8,
  'pages', f.relpages,
  'path', pg_relation_filepath(f.oid::regclass),
  'rows', f.reltuples::float8,
  'inserted', CASE WHEN f.reltuples IS NOT NULL THEN pg_stat_get_tuples_inserted(f.oid) END
)
FROM file AS f
ORDER BY f.reltuples IS NULL, f.oid
