-- Tables that foreign keys connect with others, which the server queries when it attaches or detaches a partition, with their
-- partitions, and what these and $3 are partitions of, whose keys it reads as well: one jsonb, see src/adopt/catalog/ends.rs.
-- $1 has the oids of these others, $2 is their owner.
WITH RECURSIVE
  -- How a role can use what another may. Since PostgreSQL 16, members might not.
  used AS (
    SELECT CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END
  ),
  keys AS (
    SELECT
      f.conrelid,
      f.conkey,
      f.confrelid,
      f.confkey,
      f.conpfeqop || f.conppeqop || f.conffeqop AS operators
    FROM pg_constraint AS f
    WHERE f.contype = 'f' AND (f.conrelid = ANY ($1::oid[]) OR f.confrelid = ANY ($1::oid[]))
  ),
  ends (oid) AS (
    SELECT unnest(ARRAY[k.conrelid, k.confrelid])
    FROM keys AS k
    UNION
    SELECT i.inhrelid
    FROM ends AS e
    JOIN pg_class AS c ON c.oid = e.oid AND c.relkind = 'p'
    JOIN pg_inherits AS i ON i.inhparent = e.oid
  ),
  above (oid) AS (
    SELECT i.inhparent
    FROM (SELECT $3::oid AS oid UNION SELECT e.oid FROM ends AS e) AS b
    JOIN pg_class AS c ON c.oid = b.oid AND c.relispartition
    JOIN pg_inherits AS i ON i.inhrelid = b.oid
    UNION
    SELECT i.inhparent
    FROM above AS a
    JOIN pg_class AS c ON c.oid = a.oid AND c.relispartition
    JOIN pg_inherits AS i ON i.inhrelid = a.oid
  ),
  owned AS (
    SELECT e.oid::int8 AS oid, pg_has_role(c.relowner, $2::oid, (TABLE used)) AS is_own
    FROM (SELECT e.oid FROM ends AS e UNION SELECT a.oid FROM above AS a) AS e
    JOIN pg_class AS c ON c.oid = e.oid
  ),
  -- The query of a table that refers to $3 has its key and those of what that is a partition of.
  key_tables (oid) AS (
    SELECT $3::oid
    WHERE EXISTS (SELECT FROM keys AS k WHERE k.confrelid = ANY ($1::oid[]))
    UNION
    SELECT i.inhparent
    FROM key_tables AS t
    JOIN pg_class AS c ON c.oid = t.oid AND c.relispartition
    JOIN pg_inherits AS i ON i.inhrelid = t.oid
  ),
  -- An expression has no type here.
  key_columns (type, class, sorting) AS (
    SELECT a.atttypid, p.class, p.sorting
    FROM key_tables AS t
    JOIN pg_partitioned_table AS r ON r.partrelid = t.oid
    CROSS JOIN LATERAL unnest(r.partattrs::int2[], r.partclass::oid[], r.partcollation::oid[]) AS p (number, class, sorting)
    LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = p.number AND p.number <> 0
  ),
  columns (type) AS (
    SELECT a.atttypid
    FROM keys AS k
    CROSS JOIN LATERAL (
      SELECT k.conrelid, unnest(k.conkey) UNION ALL SELECT k.confrelid, unnest(k.confkey)
    ) AS p (relation, number)
    JOIN pg_attribute AS a ON a.attrelid = p.relation AND a.attnum = p.number
  ),
  key_operators (class, schema) AS (
    SELECT c.oid, o.oprnamespace
    FROM key_columns AS k
    JOIN pg_opclass AS c ON c.oid = k.class
    JOIN pg_amop AS m ON m.amopfamily = c.opcfamily
    JOIN pg_operator AS o ON o.oid = m.amopopr
  ),
  places (schema) AS (
    SELECT c.relnamespace FROM ends AS e JOIN pg_class AS c ON c.oid = e.oid
    UNION
    SELECT y.typnamespace
    FROM (SELECT c.type FROM columns AS c UNION SELECT k.type FROM key_columns AS k) AS t (oid)
    JOIN pg_type AS y ON y.oid = t.oid
    UNION
    SELECT o.oprnamespace
    FROM keys AS k
    JOIN pg_operator AS o ON o.oid = ANY (k.operators)
    UNION
    SELECT o.schema FROM key_operators AS o
    UNION
    SELECT l.collnamespace FROM key_columns AS k JOIN pg_collation AS l ON l.oid = k.sorting
  )
SELECT jsonb_build_object(
  -- Their owners have the privileges of $2 anyway.
  'own', (SELECT jsonb_agg(o.oid ORDER BY o.oid) FROM owned AS o WHERE o.is_own),
  'others', (SELECT jsonb_agg(o.oid ORDER BY o.oid) FROM owned AS o WHERE NOT o.is_own),
  -- The server casts the columns of a key to the types of its operators.
  'types', (SELECT jsonb_agg(DISTINCT c.type::int8) FROM columns AS c),
  'key_types', (SELECT jsonb_agg(DISTINCT k.type::int8) FROM key_columns AS k WHERE k.type IS NOT NULL),
  -- The key is a text in a query: what that means must not be another role's to say. It can make what the constants of an array
  -- or a row are made of, and an operator that fits a type better than the one of another type.
  'key', (
    SELECT coalesce('of type ' || format_type(y.oid, NULL), 'an expression')
    FROM key_columns AS k
    JOIN pg_opclass AS c ON c.oid = k.class
    LEFT JOIN pg_type AS y ON y.oid = k.type
    WHERE y.oid IS NULL
      OR y.oid >= 16384
      AND NOT (y.typtype IN ('b', 'e') AND y.typelem = 0)
      AND NOT (y.typtype = 'd' AND y.typbasetype < 16384)
      OR y.oid <> c.opcintype
      AND EXISTS (
        SELECT
        FROM key_operators AS o
        WHERE o.class = k.class AND o.schema <> 'pg_catalog'::regnamespace
      )
    LIMIT 1
  ),
  'schemas', (
    SELECT jsonb_agg(n.oid::int8 ORDER BY n.oid)
    FROM places AS p
    JOIN pg_namespace AS n ON n.oid = p.schema
    WHERE NOT pg_has_role(
      CASE
        WHEN n.nspowner = 'pg_database_owner'::regrole
          THEN (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
        ELSE n.nspowner
      END,
      $2::oid,
      (TABLE used)
    )
  )
)
