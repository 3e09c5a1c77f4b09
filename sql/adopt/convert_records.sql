-- The sequences whose comment is the record of a conversion, with their rules: a jsonb for each, see
-- src/adopt/convert/record.rs. $1 is what the comment begins with, $2 the owner or NULL, $3 the most bytes of
-- a comment: the length is known before a comment is read.
SELECT jsonb_build_object(
  'oid', c.oid::int8,
  'schema', n.nspname,
  'name', c.relname,
  'owner', c.relowner::int8,
  'persistence', c.relpersistence::text,
  'type', s.seqtypid::regtype::text,
  'start', s.seqstart,
  'increment', s.seqincrement,
  'min', s.seqmin,
  'max', s.seqmax,
  'cache', s.seqcache,
  'cycle', s.seqcycle,
  'comment', d.description,
  'has_column_grants', EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attacl IS NOT NULL),
  'acl', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'role', CASE WHEN g.grantee <> 0 THEN pg_get_userbyid(g.grantee) END,
        'privilege', g.privilege_type,
        'is_grantable', g.is_grantable,
        'is_owners', g.grantor = c.relowner
      )
      ORDER BY pg_get_userbyid(g.grantee), g.privilege_type
    )
    FROM aclexplode(c.relacl) AS g
  )
)
FROM pg_description AS d
JOIN pg_class AS c ON c.oid = d.objoid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_sequence AS s ON s.seqrelid = c.oid
WHERE d.classoid = 'pg_class'::regclass
  AND d.objsubid = 0
  AND c.relpersistence <> 't'
  AND ($2::oid IS NULL OR c.relowner = $2::oid)
  AND CASE
    WHEN octet_length(d.description) <= $3::int4 THEN starts_with(d.description, $1::text)
  END
ORDER BY n.nspname, c.relname
