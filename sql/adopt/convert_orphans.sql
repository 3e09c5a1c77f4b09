-- Columns with a shadow that a script would not find, or that is of another conversion: one jsonb, see
-- src/adopt/convert/checks/orphans.rs. $1 is the oid of the table that it begins with, $2 the quoted name of its column, $3
-- that with its table, $4 the owner. $5 has the oids of the tables that foreign keys connect with it, $6 the numbers of the columns.
SELECT jsonb_agg(DISTINCT jsonb_build_object(
  'name', format('%s.%I', c.oid::regclass, n.name),
  'begun_by', CASE WHEN m.is_member THEN o.oid::regclass::text END
))
FROM pg_proc AS p
JOIN pg_trigger AS g ON g.tgfoid = p.oid AND starts_with(g.tgname::text, '~mint_copy_')
JOIN pg_class AS c ON c.oid = g.tgrelid AND c.relowner = p.proowner
CROSS JOIN LATERAL (
  SELECT
    substr(g.tgname::text, length('~mint_copy_') + 1),
    regexp_match(p.prosrc, '^-- Of the conversion of table ([0-9]+), ([^\n]*)'),
    -- After a restore an oid can be that of another table.
    starts_with(p.proname::text, format('mint_copy_%s_', c.oid))
) AS n (name, label, has_oids)
LEFT JOIN pg_class AS o ON n.has_oids AND o.oid = n.label[1]::oid AND o.relowner = p.proowner
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped AND a.attname::text = n.name
CROSS JOIN LATERAL (
  SELECT EXISTS (
    SELECT
    FROM unnest($5::oid[], $6::int2[]) AS m (relation, number)
    WHERE m.relation = c.oid AND m.number = a.attnum
  )
) AS m (is_member)
WHERE p.proowner = $4::oid
  AND starts_with(p.proname::text, 'mint_copy_')
  AND CASE
    WHEN m.is_member THEN o.oid <> $1::oid
    -- It has another name now.
    WHEN a.attnum IS NULL AND c.oid = ANY ($5::oid[]) THEN true
    -- A copy of the tables in this database has keys of its own.
    ELSE CASE
      WHEN o.oid IS NULL THEN n.label[2] = $3::text
      ELSE o.oid = $1::oid AND right(n.label[2], length($2::text) + 1) = '.' || $2::text
    END
    AND NOT EXISTS (
      SELECT
      FROM pg_constraint AS f
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey)
    )
  END
