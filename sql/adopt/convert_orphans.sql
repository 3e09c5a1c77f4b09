-- Columns with a shadow that a script would not find, or that is of another conversion: one jsonb, see
-- src/adopt/convert/checks/orphans.rs. $1 is the oid of the table that it begins with, $2 the number of its column, $3 the owner.
-- $4 has the oids of the tables that foreign keys connect with it, $5 the numbers of the columns.
SELECT jsonb_agg(DISTINCT jsonb_build_object(
  'name', format('%s.%I', c.oid::regclass, n.name),
  'begun_by', CASE WHEN w.is_member AND w.is_led_to THEN b.oid::regclass::text END
))
FROM pg_proc AS p
JOIN pg_trigger AS g ON g.tgfoid = p.oid AND starts_with(g.tgname::text, '~mint_copy_')
JOIN pg_class AS c ON c.oid = g.tgrelid AND c.relowner = p.proowner
CROSS JOIN LATERAL (
  SELECT
    substr(g.tgname::text, length('~mint_copy_') + 1),
    regexp_match(p.prosrc, '^-- Of the conversion of table ([0-9]+), ([^\n]*)\n-- and of its column ([0-9]{1,4}), ([^\n]*)\n'),
    -- After a restore an oid can be that of another table.
    starts_with(p.proname::text, format('mint_copy_%s_', c.oid))
) AS n (name, label, has_oids)
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped AND a.attname::text = n.name
-- The column that the conversion began with. One that was an integer has another number since the swap.
LEFT JOIN LATERAL (
  SELECT r.oid, f.attnum
  FROM pg_class AS r
  JOIN pg_namespace AS z ON z.oid = r.relnamespace
  LEFT JOIN pg_attribute AS f ON f.attrelid = r.oid
    AND NOT f.attisdropped
    AND (
      regexp_replace(f.attname, '[\x01-\x1f\x7f]', ' ', 'g') = n.label[4]
      OR n.has_oids AND f.attnum = n.label[3]::int2 AND f.attname !~ '^mint_(new|old)_'
    )
  WHERE r.relowner = p.proowner
    AND r.relkind IN ('r', 'p')
    AND CASE
      WHEN n.has_oids THEN r.oid = n.label[1]::oid
      ELSE regexp_replace(concat(z.nspname, '.', r.relname), '[\x01-\x1f\x7f]', ' ', 'g') = n.label[2]
    END
  ORDER BY n.has_oids AND f.attnum = n.label[3]::int2 DESC
  LIMIT 1
) AS b ON true
CROSS JOIN LATERAL (
  SELECT
    EXISTS (
      SELECT
      FROM unnest($4::oid[], $5::int2[]) AS m (relation, number)
      WHERE m.relation = c.oid AND m.number = a.attnum
    ) AS is_member,
    (b.oid, b.attnum) IS NOT DISTINCT FROM ($1::oid, $2::int2) AS is_own,
    EXISTS (
      WITH RECURSIVE
        led (relation, number) AS (
          SELECT c.oid, a.attnum
          UNION
          SELECT k.confrelid, k.confkey[one.n]
          FROM led AS l
          JOIN pg_constraint AS k ON k.conrelid = l.relation AND k.contype = 'f'
          CROSS JOIN LATERAL generate_subscripts(k.conkey, 1) AS one (n)
          WHERE k.conkey[one.n] = l.number
        )
      SELECT
      FROM led AS l
      WHERE (l.relation, l.number) = (b.oid, b.attnum)
    ) AS is_led_to
) AS w
WHERE p.proowner = $3::oid
  AND starts_with(p.proname::text, 'mint_copy_')
  AND CASE
    -- The script of a column itself ends what the one of before cannot find.
    WHEN w.is_member THEN NOT w.is_own
      AND (w.is_led_to OR n.has_oids AND b.oid IS NOT NULL AND (c.oid, a.attnum) <> ($1::oid, $2::int2))
    -- It has another name now.
    WHEN a.attnum IS NULL AND c.oid = ANY ($4::oid[]) THEN true
    -- A copy of the tables in this database has keys of its own.
    ELSE w.is_own AND (n.has_oids OR NOT EXISTS (
      SELECT
      FROM pg_constraint AS f
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey)
    ))
  END
