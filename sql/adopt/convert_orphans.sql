-- Columns whose shadow a swap has kept, and which no foreign key leads to any more: one jsonb with a list of names, see
-- src/adopt/convert/online/orphans.rs. $1 has the oids of the tables of the closure, $2 the numbers of its columns, $3 is the
-- owner. The swap gives all that it keeps one comment.
WITH
  kept AS (
    SELECT a.attrelid, a.attname, d.description, m.number IS NOT NULL AS is_member
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_attribute AS s ON s.attrelid = c.oid
      AND s.attname::text = ANY (ARRAY['mint_new_' || a.attname::text, 'mint_old_' || a.attname::text])
    JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass
      AND d.objoid = s.attrelid
      AND d.objsubid = s.attnum::int4
      AND starts_with(d.description, 'Kept until the cleanup of ')
    LEFT JOIN unnest($1::oid[], $2::int2[]) AS m (relation, number) ON m.relation = a.attrelid AND m.number = a.attnum
    WHERE c.relowner = $3::oid
  )
SELECT jsonb_agg(format('%s.%I', x.attrelid::regclass, x.attname) ORDER BY x.attrelid::regclass::text, x.attname)
FROM kept AS x
WHERE NOT x.is_member
  AND x.description = ANY (SELECT m.description FROM kept AS m WHERE m.is_member)
