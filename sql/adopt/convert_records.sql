-- The sequences whose comment is the record of a conversion, with their rules: a jsonb for each, see src/adopt/convert/record.rs. $1 is
-- what the comment begins with, $2 the owner or NULL, $3 the most bytes of a comment: the length is known before a comment is read.
SELECT pg_catalog.jsonb_build_object(
  'oid', c.oid::pg_catalog.int8, 'schema', n.nspname, 'name', c.relname, 'owner', c.relowner::pg_catalog.int8,
  'persistence', c.relpersistence::pg_catalog.text, 'type', s.seqtypid::pg_catalog.regtype::pg_catalog.text,
  'start', s.seqstart, 'increment', s.seqincrement, 'min', s.seqmin, 'max', s.seqmax, 'cache', s.seqcache, 'cycle', s.seqcycle,
  'comment', d.description,
  'acl', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'role', CASE WHEN g.grantee OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN pg_catalog.pg_get_userbyid(g.grantee) END,
      'privilege', g.privilege_type, 'is_grantable', g.is_grantable, 'is_owners', g.grantor OPERATOR(pg_catalog.=) c.relowner)
      ORDER BY pg_catalog.pg_get_userbyid(g.grantee), g.privilege_type) FROM pg_catalog.aclexplode(c.relacl) AS g)
)
FROM pg_catalog.pg_description AS d
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.objoid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
JOIN pg_catalog.pg_sequence AS s ON s.seqrelid OPERATOR(pg_catalog.=) c.oid
WHERE d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
  AND d.objsubid OPERATOR(pg_catalog.=) 0::pg_catalog.int4
  AND c.relpersistence OPERATOR(pg_catalog.<>) 't'::pg_catalog."char"
  AND ($2::pg_catalog.oid IS NULL OR c.relowner OPERATOR(pg_catalog.=) $2::pg_catalog.oid)
  AND CASE WHEN pg_catalog.octet_length(d.description) OPERATOR(pg_catalog.<=) $3::pg_catalog.int4
    THEN pg_catalog.starts_with(d.description, $1::pg_catalog.text) END
ORDER BY n.nspname, c.relname
