-- What the catalogs say of a partitioned table and of its partitions: one jsonb, see
-- src/adopt/partition/parent.rs. $1 is the oid of the table.
SELECT jsonb_build_object(
  'kind', c.relkind::text,
  'persistence', c.relpersistence::text,
  'strategy', k.partstrat::text,
  'columns', k.partnatts,
  'column', a.attname,
  'schema', n.nspname,
  'namespace', n.oid::int8,
  'name', c.relname,
  -- What a new table takes from it besides its columns.
  'storage', concat(' USING ' || quote_ident(m.amname), ' TABLESPACE ' || quote_ident(t.spcname)),
  -- What a row consists of, but for what is computed of it.
  'row', (
    SELECT jsonb_agg(quote_ident(o.attname) ORDER BY o.attnum)
    FROM pg_attribute AS o
    WHERE o.attrelid = c.oid AND o.attnum > 0 AND NOT o.attisdropped AND o.attgenerated = ''
  ),
  -- How many other tables are locked where a partition is attached or detached: those of foreign keys, also of tables above, and
  -- not those of their partitions.
  'foreign_keys', (
    SELECT count(DISTINCT f.oid)
    FROM pg_constraint AS f
    WHERE f.contype = 'f'
      AND c.oid IN (f.conrelid, f.confrelid)
      AND NOT EXISTS (
        SELECT
        FROM pg_constraint AS p
        WHERE p.oid = f.conparentid AND c.oid IN (p.conrelid, p.confrelid)
      )
  ),
  'partitions', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'oid', p.oid::int8,
        'name', format('%I.%I', pn.nspname, p.relname),
        'bound', pg_get_expr(p.relpartbound, 0),
        'is_foreign', p.relkind = 'f',
        'is_detaching', i.inhdetachpending
      )
    )
    FROM pg_inherits AS i
    JOIN pg_class AS p ON p.oid = i.inhrelid
    JOIN pg_namespace AS pn ON pn.oid = p.relnamespace
    WHERE i.inhparent = c.oid
  )
)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_partitioned_table AS k ON k.partrelid = c.oid
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.partattrs[0] AND a.attnum > 0
LEFT JOIN pg_am AS m ON m.oid = c.relam
LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace
WHERE c.oid = $1::oid
