-- The rows of tables: one jsonb, see src/adopt/convert/online/rows.rs. $1 has the oids of tables, $2 the numbers of columns
-- that become bigint.
WITH
  target AS (
    SELECT t.relation, t.number
    FROM unnest($1::oid[], $2::int2[]) AS t (relation, number)
  )
SELECT jsonb_build_object(
  -- The columns of each table as a list of SELECT, by the oid of the table.
  'lists', (
    SELECT jsonb_object_agg(r.relation::text, r.list)
    FROM (
      SELECT
        a.attrelid AS relation,
        string_agg(
          format(
            'NULL::%s AS %I',
            CASE WHEN t.number IS NULL THEN format_type(a.atttypid, a.atttypmod) ELSE 'bigint' END,
            a.attname
          ),
          ', '
        ) AS list
      FROM pg_attribute AS a
      LEFT JOIN target AS t ON t.relation = a.attrelid AND t.number = a.attnum
      WHERE a.attnum > 0
        AND NOT a.attisdropped
        AND a.attrelid = ANY ($1::oid[])
      GROUP BY a.attrelid
    ) AS r
  ),
  -- Functions that take or return rows of the tables.
  'functions', (
    SELECT jsonb_agg(DISTINCT p.objid::regprocedure::text)
    FROM pg_class AS c
    JOIN pg_type AS y ON c.reltype = ANY (ARRAY[y.oid, y.typelem])
    JOIN pg_depend AS p ON p.refclassid = 'pg_type'::regclass
      AND p.refobjid = y.oid
      AND p.classid = 'pg_proc'::regclass
    WHERE c.oid = ANY ($1::oid[])
  )
)
