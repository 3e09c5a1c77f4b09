-- Tables that foreign keys connect with others, which the server queries when it attaches or detaches a partition, with their
-- partitions, and what these and $3 are partitions of, whose keys it reads as well: one jsonb, see src/adopt/partition/parent.rs.
-- $1 has the oids of these others, $2 is their owner.
WITH RECURSIVE
  -- How a role can use what another may. Since PostgreSQL 16, members might not.
  used AS (
    SELECT CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END
  ),
  keys AS (
    SELECT f.conrelid, f.conkey, f.confrelid, f.confkey
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
  )
SELECT jsonb_build_object(
  -- Their owners have the privileges of $2 anyway.
  'own', (SELECT jsonb_agg(o.oid ORDER BY o.oid) FROM owned AS o WHERE o.is_own),
  'others', (SELECT jsonb_agg(o.oid ORDER BY o.oid) FROM owned AS o WHERE NOT o.is_own),
  -- The server casts the columns of a key to the types of its operators.
  'types', (
    SELECT jsonb_agg(DISTINCT a.atttypid::int8)
    FROM keys AS k
    CROSS JOIN LATERAL (
      SELECT k.conrelid, unnest(k.conkey) UNION ALL SELECT k.confrelid, unnest(k.confkey)
    ) AS p (relation, number)
    JOIN pg_attribute AS a ON a.attrelid = p.relation AND a.attnum = p.number
  )
)
