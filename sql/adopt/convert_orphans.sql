-- Columns with a shadow of after a swap that no foreign key leads to any more: one jsonb with a list of names, see
-- src/adopt/convert/online/orphans.rs. $1 has the oids of the tables of the closure, $2 the numbers of its columns, $3 is the
-- owner.
WITH
  member AS (
    SELECT m.relation, m.number, a.attname
    FROM unnest($1::oid[], $2::int2[]) AS m (relation, number)
    JOIN pg_attribute AS a ON a.attrelid = m.relation AND a.attnum = m.number
  ),
  shadowed AS (
    SELECT a.attrelid, a.attnum, a.attname, a.atthasdef, a.attidentity, s.attnum AS shadow
    FROM pg_class AS c
    JOIN pg_trigger AS g ON g.tgrelid = c.oid
    JOIN pg_proc AS p ON p.oid = g.tgfoid AND p.proowner = c.relowner
    JOIN pg_attribute AS a ON a.attrelid = c.oid
      AND a.attnum > 0
      AND g.tgname::text = ('~mint_copy_' || a.attname::text)
    JOIN pg_attribute AS s ON s.attrelid = c.oid AND s.attname::text = ('mint_old_' || a.attname::text)
    WHERE c.relowner = $3::oid
      AND starts_with(p.proname::text, 'mint_copy_')
      AND NOT EXISTS (
        SELECT
        FROM member AS m
        WHERE m.relation = a.attrelid AND m.number = a.attnum
      )
  )
SELECT jsonb_agg(format('%s.%I', x.attrelid::regclass, x.attname) ORDER BY x.attrelid::regclass::text, x.attname)
FROM shadowed AS x
WHERE
  -- A way back that was begun has a key of its own between the two shadows.
  EXISTS (
    SELECT
    FROM pg_constraint AS k
    JOIN member AS m ON m.relation = k.confrelid
    JOIN pg_attribute AS s ON s.attrelid = m.relation
      AND s.attname::text = ('mint_old_' || m.attname::text)
      AND s.attnum = ANY (k.confkey)
    WHERE k.contype = 'f' AND k.conrelid = x.attrelid AND x.shadow = ANY (k.conkey)
  )
  -- Without one, the first column of another script looks the same but for its default and its key.
  OR NOT x.atthasdef
    AND x.attidentity = ''
    AND NOT EXISTS (
      SELECT
      FROM pg_constraint AS k
      WHERE k.contype = 'f' AND k.conrelid = x.attrelid AND x.attnum = ANY (k.conkey)
    )
    AND NOT EXISTS (
      SELECT
      FROM pg_index AS i
      WHERE i.indrelid = x.attrelid AND i.indisunique AND i.indkey[0] = x.attnum
    )
