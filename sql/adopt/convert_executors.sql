-- Roles that can insert into a table and cannot execute a function, quoted: one text, or null if there are none. $1 is
-- the oid of the table, $2 that of the function.
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
  AND NOT has_function_privilege(g.grantee, $2::oid, 'EXECUTE')
