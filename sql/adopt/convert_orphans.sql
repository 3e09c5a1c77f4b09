-- Columns with a shadow to which no foreign key leads any more: one jsonb with a list of names, see
-- src/adopt/convert/checks/orphans.rs. $1 is what the functions of their triggers begin with, $2 the owner.
SELECT jsonb_agg(format('%s.%I', c.oid::regclass, a.attname) ORDER BY c.oid::regclass::text, a.attname)
FROM pg_proc AS p
JOIN pg_trigger AS g ON g.tgfoid = p.oid
JOIN pg_class AS c ON c.oid = g.tgrelid AND c.relowner = p.proowner
JOIN pg_attribute AS a ON a.attrelid = c.oid
  AND NOT a.attisdropped
  AND g.tgname::text = ('~mint_copy_' || a.attname::text)
WHERE p.proowner = $2::oid
  AND starts_with(p.prosrc, $1::text)
  AND NOT EXISTS (
    SELECT
    FROM pg_constraint AS f
    WHERE f.conrelid = c.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey)
  )
