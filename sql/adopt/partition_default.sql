-- Why rows cannot be moved from a default partition to another one: sentences, see src/adopt/partition/moving.rs. $1 is
-- the oid of the partitioned table, $2 that of the default partition, $3 that of the partition that an earlier step has
-- begun, or 0.
WITH RECURSIVE moved (oid) AS (
  SELECT $2::oid
  UNION
  SELECT i.inhrelid FROM pg_inherits AS i JOIN moved AS m ON m.oid = i.inhparent
), begun (oid) AS (
  SELECT $3::oid
  UNION
  SELECT i.inhrelid FROM pg_inherits AS i JOIN begun AS b ON b.oid = i.inhparent
), above (oid) AS (
  SELECT $2::oid
  UNION
  SELECT i.inhparent FROM pg_inherits AS i JOIN above AS a ON a.oid = i.inhrelid
)
SELECT 'Foreign keys refer to the table.'
WHERE EXISTS (
  SELECT FROM pg_constraint AS f
  WHERE f.contype = 'f' AND (f.confrelid IN (SELECT oid FROM moved) OR f.confrelid = $1::oid)
)
UNION ALL
SELECT 'The table has a constraint that is checked at the end of the transaction.'
WHERE EXISTS (
  SELECT FROM pg_constraint AS f
  WHERE f.condeferred
    AND (f.conrelid IN (SELECT oid FROM moved) OR f.conrelid IN (SELECT oid FROM begun) OR f.conrelid = $1::oid)
)
UNION ALL
SELECT 'The default partition has triggers on DELETE.'
WHERE EXISTS (
  SELECT FROM pg_trigger AS t
  WHERE t.tgrelid IN (SELECT oid FROM moved) AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 8::int2 <> 0::int2
)
UNION ALL
SELECT 'The default partition has rules.'
WHERE EXISTS (SELECT FROM pg_rewrite AS r WHERE r.ev_class IN (SELECT oid FROM moved))
UNION ALL
-- Those of the table go when it is detached.
SELECT 'The partition that has a part of the rows has triggers on INSERT.'
WHERE EXISTS (
  SELECT FROM pg_trigger AS t
  WHERE t.tgrelid IN (SELECT oid FROM begun)
    AND NOT t.tgisinternal
    AND t.tgparentid = 0::oid
    AND t.tgenabled <> 'D'
    AND t.tgtype & 4::int2 <> 0::int2
)
UNION ALL
SELECT 'The partition that has a part of the rows has rules.'
WHERE EXISTS (SELECT FROM pg_rewrite AS r WHERE r.ev_class IN (SELECT oid FROM begun))
UNION ALL
SELECT 'The default partition is a foreign table.'
WHERE EXISTS (SELECT FROM pg_class AS c WHERE c.oid IN (SELECT oid FROM moved) AND c.relkind = 'f')
UNION ALL
SELECT 'The table is published.'
WHERE EXISTS (SELECT FROM pg_publication AS p WHERE p.puballtables)
  OR EXISTS (SELECT FROM pg_publication_rel AS p WHERE p.prrelid IN (SELECT oid FROM above))
  OR EXISTS (
    SELECT FROM pg_publication_namespace AS p
    JOIN pg_class AS c ON c.relnamespace = p.pnnspid
    WHERE c.oid IN (SELECT oid FROM above)
  )
