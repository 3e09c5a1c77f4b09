-- What evaluates expressions for the new ids of a column: one jsonb, see src/adopt/convert/checks/expressions.rs. $1 has the oids of
-- the tables that get the default, the root first, $2 the numbers that the column has in them.
WITH RECURSIVE
  member AS (
    SELECT
      m.relation,
      m.number,
      m.place,
      n.nspname,
      c.relname,
      a.attname,
      a.atttypid
    FROM unnest($1::oid[], $2::int2[]) WITH ORDINALITY AS m (relation, number, place)
    JOIN pg_class AS c ON c.oid = m.relation
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = m.relation AND a.attnum = m.number
  ),
  -- The domain of the column, and those that it is over: but for what a role without the privileges of the owner has written,
  -- which is not run as the owner. Since PostgreSQL 16, members might not have them.
  domains AS (
    SELECT y.oid, y.typbasetype, y.typowner, c.relowner
    FROM member AS m
    JOIN pg_class AS c ON c.oid = m.relation
    JOIN pg_type AS y ON y.oid = m.atttypid AND y.typtype = 'd'
    WHERE m.place = 1
    UNION ALL
    SELECT y.oid, y.typbasetype, y.typowner, d.relowner
    FROM domains AS d
    JOIN pg_type AS y ON y.oid = d.typbasetype AND y.typtype = 'd'
  ),
  trusted AS (
    SELECT d.oid
    FROM domains AS d
    WHERE pg_has_role(
      d.typowner,
      d.relowner,
      CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END
    )
  ),
  -- In an order in which messages are of use. A check has a text.
  expression (relation, number, place, rank, what, class, object, remedy, names, text, expressions, predicate, tree) AS (
    SELECT
      m.relation,
      m.number,
      m.place,
      1,
      format('check constraint "%s" of table "%s"', k.conname, m.relname),
      'pg_constraint'::regclass,
      k.oid,
      format('ALTER TABLE %I.%I DROP CONSTRAINT %I', m.nspname, m.relname, k.conname),
      ARRAY[quote_ident(m.relname)],
      pg_get_expr(k.conbin, k.conrelid),
      pg_get_expr(k.conbin, k.conrelid),
      NULL,
      k.conbin::text
    FROM member AS m
    JOIN pg_constraint AS k ON k.conrelid = m.relation AND k.contype = 'c'
    WHERE (to_jsonb(k) ->> 'conenforced')::bool IS NOT FALSE
    UNION ALL
    SELECT
      m.relation,
      m.number,
      m.place,
      2,
      format('check constraint "%s" of domain %s', k.conname, k.contypid::regtype),
      'pg_constraint'::regclass,
      k.oid,
      format('ALTER DOMAIN %s DROP CONSTRAINT %I', k.contypid::regtype, k.conname),
      ARRAY[quote_ident(m.relname)],
      pg_get_expr(k.conbin, 0),
      format('(SELECT %s FROM (SELECT %I AS value) AS one)', pg_get_expr(k.conbin, 0), m.attname),
      NULL,
      format('%s :varattno %s ', k.conbin, m.number)
    FROM member AS m
    JOIN pg_constraint AS k ON k.contypid = ANY (ARRAY(SELECT o.oid FROM trusted AS o))
    WHERE m.place = 1
    UNION ALL
    SELECT
      m.relation,
      m.number,
      m.place,
      3,
      format('index "%s" of table "%s"', c.relname, m.relname),
      'pg_class'::regclass,
      i.indexrelid,
      format('DROP INDEX %I.%I', x.nspname, c.relname),
      ARRAY[quote_ident(m.relname)],
      NULL,
      pg_get_expr(i.indexprs, i.indrelid),
      pg_get_expr(i.indpred, i.indrelid),
      concat(i.indexprs::text, i.indpred::text)
    FROM member AS m
    JOIN pg_index AS i ON i.indrelid = m.relation
    JOIN pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_namespace AS x ON x.oid = c.relnamespace
    UNION ALL
    SELECT
      m.relation,
      m.number,
      m.place,
      3,
      format('statistics object "%s" of table "%s"', s.stxname, m.relname),
      'pg_statistic_ext'::regclass,
      s.oid,
      format('DROP STATISTICS %I.%I', x.nspname, s.stxname),
      ARRAY[quote_ident(m.relname)],
      NULL,
      pg_get_expr(s.stxexprs, s.stxrelid),
      NULL,
      s.stxexprs::text
    FROM member AS m
    JOIN pg_statistic_ext AS s ON s.stxrelid = m.relation
    JOIN pg_namespace AS x ON x.oid = s.stxnamespace
    UNION ALL
    SELECT
      m.relation,
      m.number,
      m.place,
      3,
      format('generated column "%s" of table "%s"', a.attname, m.relname),
      'pg_attrdef'::regclass,
      d.oid,
      format('ALTER TABLE %I.%I DROP COLUMN %I', m.nspname, m.relname, a.attname),
      ARRAY[quote_ident(m.relname)],
      CASE WHEN a.attnotnull THEN v.value END,
      v.value,
      NULL,
      d.adbin::text
    FROM member AS m
    JOIN pg_attribute AS a ON a.attrelid = m.relation AND a.attgenerated <> ''
    JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    CROSS JOIN LATERAL format(
      CASE WHEN a.attnotnull THEN '(%s)::%s IS NOT NULL' ELSE '(%s)::%s' END,
      pg_get_expr(d.adbin, d.adrelid),
      format_type(a.atttypid, a.atttypmod)
    ) AS v (value)
    UNION ALL
    SELECT
      m.relation,
      m.number,
      m.place,
      3,
      format('policy "%s" of table "%s"', y.polname, m.relname),
      'pg_policy'::regclass,
      y.oid,
      format('DROP POLICY %I ON %I.%I', y.polname, m.nspname, m.relname),
      ARRAY[quote_ident(m.relname)],
      NULL,
      concat_ws(', ', pg_get_expr(y.polqual, y.polrelid), pg_get_expr(y.polwithcheck, y.polrelid)),
      NULL,
      concat(y.polqual::text, y.polwithcheck::text)
    FROM member AS m
    JOIN pg_policy AS y ON y.polrelid = m.relation
    UNION ALL
    SELECT
      m.relation,
      m.number,
      m.place,
      3,
      format('partition key of table "%s"', m.relname),
      'pg_class'::regclass,
      m.relation,
      NULL,
      ARRAY[quote_ident(m.relname)],
      NULL,
      pg_get_expr(r.partexprs, r.partrelid),
      NULL,
      r.partexprs::text
    FROM member AS m
    JOIN pg_partitioned_table AS r ON r.partrelid = m.relation
  ),
  -- What a table has from the root is looked at there.
  own AS (
    SELECT
      e.*,
      w.is_indirect,
      bool_or(e.place = 1) OVER (PARTITION BY e.expressions, e.predicate) AS is_of_root
    FROM expression AS e
    CROSS JOIN LATERAL (
      SELECT strpos(e.tree, ':varattno 0 ') > 0 OR EXISTS (
        SELECT
        FROM pg_attribute AS a
        JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = e.relation
          AND a.attgenerated <> ''
          AND strpos(d.adbin::text, format(':varattno %s ', e.number)) > 0
          AND strpos(e.tree, format(':varattno %s ', a.attnum)) > 0
      ) AS is_indirect
    ) AS w
    WHERE w.is_indirect OR strpos(e.tree, format(':varattno %s ', e.number)) > 0
  )
SELECT jsonb_agg(
  jsonb_build_object(
    'relation', o.relation::int8,
    'number', o.number,
    'what', o.what,
    'key', jsonb_build_array(o.class::oid::int8, o.object::int8),
    'remedy', o.remedy,
    'names', o.names,
    'text', o.text,
    'expressions', o.expressions,
    'predicate', o.predicate,
    -- Of the column alone, and with the same value each time. A check is evaluated for each row anyway.
    'is_alone', NOT EXISTS (
      SELECT
      FROM regexp_matches(o.tree, ':varattno (-?[0-9]+) ', 'g') AS m (part)
      WHERE m.part[1] <> o.number::text
    )
    AND (o.text IS NOT NULL OR f.is_volatile IS NOT TRUE),
    -- Of the whole row, or of a column that is generated of the id: a row of new ids has neither.
    'is_indirect', o.is_indirect,
    -- With a condition, which other columns can decide.
    'is_guarded', o.predicate IS NOT NULL
    OR o.tree ~ '{(CASE|COALESCE|BOOLEXPR :boolop (and|or))'
    OR f.has_body IS TRUE
  )
  ORDER BY o.rank, o.place, o.what
)
FROM own AS o
CROSS JOIN LATERAL (
  SELECT bool_or(p.provolatile = 'v') AS is_volatile, bool_or(l.lanname = 'sql') AS has_body
  FROM regexp_matches(o.tree, ':(?:funcid|opfuncid) ([0-9]+) ', 'g') AS m (part)
  JOIN pg_proc AS p ON p.oid = m.part[1]::oid
  JOIN pg_language AS l ON l.oid = p.prolang
) AS f
WHERE o.place = 1 OR NOT o.is_of_root
