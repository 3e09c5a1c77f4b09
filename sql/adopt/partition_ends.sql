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
  -- The query of an end, where there is one, has the keys of $3 and of what that is a partition of.
  key_tables (oid) AS (
    SELECT $3::oid
    WHERE EXISTS (SELECT FROM ends)
    UNION
    SELECT i.inhparent
    FROM key_tables AS t
    JOIN pg_class AS c ON c.oid = t.oid AND c.relispartition
    JOIN pg_inherits AS i ON i.inhrelid = t.oid
  ),
  -- An expression can have the type of any column, without a dependency of its own on it.
  key_parts (class, oid) AS (
    SELECT 'pg_type'::regclass, a.atttypid
    FROM key_tables AS t
    JOIN pg_partitioned_table AS r ON r.partrelid = t.oid
    JOIN pg_attribute AS a ON a.attrelid = t.oid
      AND a.attnum > 0
      AND NOT a.attisdropped
      AND (r.partexprs IS NOT NULL OR a.attnum = ANY (r.partattrs::int2[]))
    UNION
    SELECT p.refclassid, p.refobjid
    FROM key_tables AS t
    JOIN pg_depend AS p ON p.classid = 'pg_class'::regclass AND p.objid = t.oid AND p.objsubid = 0
    WHERE p.refclassid IN ('pg_type'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
  ),
  -- What these types are made of: a key can be one field of a column.
  key_types (oid) AS (
    SELECT p.oid FROM key_parts AS p WHERE p.class = 'pg_type'::regclass
    UNION
    SELECT n.oid
    FROM key_types AS t
    JOIN pg_type AS y ON y.oid = t.oid
    CROSS JOIN LATERAL (
      SELECT unnest(ARRAY[y.typelem, y.typbasetype])
      UNION ALL
      SELECT a.atttypid
      FROM pg_attribute AS a
      WHERE a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    ) AS n (oid)
    WHERE n.oid >= 16384
  ),
  columns (type) AS (
    SELECT a.atttypid
    FROM keys AS k
    CROSS JOIN LATERAL (
      SELECT k.conrelid, unnest(k.conkey) UNION ALL SELECT k.confrelid, unnest(k.confkey)
    ) AS p (relation, number)
    JOIN pg_attribute AS a ON a.attrelid = p.relation AND a.attnum = p.number
  ),
  operators (oid) AS (
    SELECT unnest(k.operators) FROM keys AS k
    UNION
    SELECT m.amopopr
    FROM key_tables AS t
    JOIN pg_partitioned_table AS r ON r.partrelid = t.oid
    JOIN pg_opclass AS c ON c.oid = ANY (r.partclass::oid[])
    JOIN pg_amop AS m ON m.amopfamily = c.opcfamily
  ),
  places (schema) AS (
    SELECT c.relnamespace FROM ends AS e JOIN pg_class AS c ON c.oid = e.oid
    UNION
    SELECT y.typnamespace
    FROM (SELECT c.type FROM columns AS c UNION SELECT k.oid FROM key_types AS k) AS t (oid)
    JOIN pg_type AS y ON y.oid = t.oid
    UNION
    SELECT o.oprnamespace FROM operators AS q JOIN pg_operator AS o ON o.oid = q.oid
  )
SELECT jsonb_build_object(
  -- Their owners have the privileges of $2 anyway.
  'own', (SELECT jsonb_agg(o.oid ORDER BY o.oid) FROM owned AS o WHERE o.is_own),
  'others', (SELECT jsonb_agg(o.oid ORDER BY o.oid) FROM owned AS o WHERE NOT o.is_own),
  -- The server casts the columns of a key to the types of its operators.
  'types', (SELECT jsonb_agg(DISTINCT c.type::int8) FROM columns AS c),
  'key_types', (SELECT jsonb_agg(k.oid::int8) FROM key_types AS k),
  -- Those of the server are in no row of pg_depend.
  'key_call', (
    SELECT pg_describe_object(p.class, p.oid, 0)
    FROM key_parts AS p
    WHERE p.class IN ('pg_proc'::regclass, 'pg_operator'::regclass)
    LIMIT 1
  ),
  -- A user can make an operator of a domain wherever those of its base type are: the text would mean that.
  'key_domain', (
    SELECT format_type(y.oid, NULL)
    FROM key_types AS k
    JOIN pg_type AS y ON y.oid = k.oid AND y.typtype = 'd'
    WHERE EXISTS (
      SELECT
      FROM operators AS q
      JOIN pg_operator AS o ON o.oid = q.oid
      WHERE o.oprnamespace <> 'pg_catalog'::regnamespace
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
