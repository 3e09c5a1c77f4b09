-- Roles that can insert into a table and cannot execute a function, or draw from a sequence, quoted: one text, or null if
-- there are none. $1 is the oid of the table, $2 that of the function, or $3 that of the sequence. Those that
-- cannot draw from the sequence of before, $4, give ids themselves.
SELECT string_agg(DISTINCT CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END, ', ')
FROM (
  SELECT o.grantee, o.privilege_type
  FROM pg_class AS c
  CROSS JOIN LATERAL aclexplode(c.relacl) AS o
  WHERE c.oid = $1::oid
  UNION ALL
  SELECT o.grantee, o.privilege_type
  FROM pg_attribute AS a
  CROSS JOIN LATERAL aclexplode(a.attacl) AS o
  WHERE a.attrelid = $1::oid
  UNION ALL
  SELECT c.relowner, 'INSERT'
  FROM pg_class AS c
  WHERE c.oid = $1::oid
) AS g
WHERE g.privilege_type = 'INSERT'
  AND CASE
    WHEN $3::oid IS NULL THEN NOT has_function_privilege(g.grantee, $2::oid, 'EXECUTE')
    ELSE NOT has_sequence_privilege(g.grantee, $3::oid, 'USAGE, UPDATE')
      AND ($4::oid IS NULL OR has_sequence_privilege(g.grantee, $4::oid, 'USAGE, UPDATE'))
  END
