-- What texts call: one jsonb with a list for each text by its name, see src/adopt/convert/online/meanings.rs. $1 has the
-- names of tables and of views, $2 and $3 the names and the trees of other texts: trees of one name are one text.
--
-- The server prints no operator for JOIN USING, NULLIF, IS DISTINCT FROM and CASE, and no types of the parameters of a
-- function. So trees are compared: the functions and operators in them. Those of the server itself are here by their names,
-- and with one name for all types of integers and of their arrays; its casts are left out, as they follow from the types.
-- Functions that take any type and return another value for each one are here with the type of their argument, and constants
-- with theirs.

WITH
  relation AS (
    SELECT c.oid, c.relkind, one.name
    FROM unnest($1::text[]) AS one (name)
    -- to_regclass() is for names that the caller can use.
    CROSS JOIN parse_ident(one.name) AS part
    JOIN pg_namespace AS n ON n.nspname::text = part[1]
    JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = part[2]::name
  ),
  tree AS (
    SELECT t.name, t.tree
    FROM unnest($2::text[], $3::text[]) AS t (name, tree)
    UNION ALL
    SELECT format('constraint "%s" of table %s', k.conname, r.name), k.conbin::text
    FROM relation AS r
    JOIN pg_constraint AS k ON k.conrelid = r.oid AND k.contype = 'c'
    UNION ALL
    SELECT format('index "%s" of table %s', c.relname, r.name), concat(i.indexprs::text, i.indpred::text)
    FROM relation AS r
    JOIN pg_index AS i ON i.indrelid = r.oid
    JOIN pg_class AS c ON c.oid = i.indexrelid
    UNION ALL
    SELECT format('trigger %I on %s', g.tgname, r.name), g.tgqual::text
    FROM relation AS r
    JOIN pg_trigger AS g ON g.tgrelid = r.oid
    WHERE NOT g.tgisinternal
    UNION ALL
    SELECT format('default of column "%s" of %s', a.attname, r.name), d.adbin::text
    FROM relation AS r
    JOIN pg_attrdef AS d ON d.adrelid = r.oid
    JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum = d.adnum
    UNION ALL
    SELECT format('statistics object %I.%I', n.nspname, e.stxname), e.stxexprs::text
    FROM relation AS r
    JOIN pg_statistic_ext AS e ON e.stxrelid = r.oid
    JOIN pg_namespace AS n ON n.oid = e.stxnamespace
    UNION ALL
    SELECT
      CASE w.rulename WHEN '_RETURN' THEN 'view ' || r.name ELSE format('rule "%s" of view %s', w.rulename, r.name) END,
      concat(w.ev_action::text, w.ev_qual::text)
    FROM relation AS r
    JOIN pg_rewrite AS w ON w.ev_class = r.oid AND r.relkind = 'v'
  ),
  called AS (
    SELECT t.name, m.part[1] LIKE '%op%' AS is_operator, n.oid::oid AS oid
    FROM tree AS t
    CROSS JOIN LATERAL regexp_matches(
      t.tree,
      ':(opno|opnos|eqop|sortop|funcid|aggfnoid|winfnoid) (?:[(]o )?([0-9 ]+)',
      'g'
    ) AS m (part)
    CROSS JOIN LATERAL regexp_split_to_table(trim(m.part[2]), ' ') AS n (oid)
  ),
  -- The same with their names and types.
  named AS (
    SELECT c.name, 'operator' AS kind, o.oid, o.oprname AS called, ARRAY[o.oprleft, o.oprright] AS types
    FROM called AS c
    JOIN pg_operator AS o ON o.oid = c.oid
    WHERE c.is_operator
    UNION ALL
    SELECT c.name, 'function', p.oid, p.proname, p.proargtypes::oid[]
    FROM called AS c
    JOIN pg_proc AS p ON p.oid = c.oid
    WHERE NOT c.is_operator
      AND NOT EXISTS (
        SELECT
        FROM pg_cast AS k
        WHERE k.castfunc = p.oid AND p.oid < 16384 AND k.casttarget <> 'bytea'::regtype
      )
  ),
  meaning AS (
    SELECT
      n.name,
      CASE WHEN n.oid < 16384
        THEN format('%s %s (%s)', n.kind, n.called, w.types)
        ELSE format('%s %s', n.kind, n.oid)
      END AS text
    FROM named AS n
    CROSS JOIN LATERAL (
      SELECT string_agg(
        CASE
          -- The bits of the types differ.
          WHEN n.called IN ('<<', '>>', 'bytea', 'to_hex', 'to_oct', 'to_bin') THEN y.oid::regtype::text
          WHEN y.oid IN ('int2'::regtype, 'int4'::regtype) THEN 'bigint'
          WHEN y.oid IN ('int2[]'::regtype, 'int4[]'::regtype) THEN 'bigint[]'
          ELSE y.oid::regtype::text
        END,
        ','
        ORDER BY y.n
      ) AS types
      FROM unnest(n.types) WITH ORDINALITY AS y (oid, n)
    ) AS w
    UNION ALL
    -- pg_typeof() and pg_column_size(): the first quantifier makes the whole expression match as little as it can.
    SELECT t.name, format('argument of type %s of %s', f.part[2]::oid::regtype, f.part[1]::oid::regproc)
    FROM tree AS t
    CROSS JOIN LATERAL regexp_matches(
      t.tree,
      ':funcid +?(1619|1269) [^()]*?:args [(].*?:[a-z]*type ([0-9]+) ',
      'g'
    ) AS f (part)
    UNION ALL
    -- Constants by their bytes, unless these name an object: a type can print a value that it reads as another.
    SELECT
      t.name,
      format(
        'constant of type %s%s',
        y.oid::regtype,
        CASE WHEN e.typtype <> 'c' AND NOT starts_with(e.typname::text, 'reg') THEN ' ' || f.part[2] END
      )
    FROM tree AS t
    CROSS JOIN LATERAL regexp_matches(t.tree, ':consttype ([0-9]+) [^{}]*:constvalue (<>|[0-9]+ [[][-0-9 ]+)', 'g') AS f (part)
    JOIN pg_type AS y ON y.oid = f.part[1]::oid
    JOIN pg_type AS e ON e.oid = CASE y.typelem WHEN 0 THEN y.oid ELSE y.typelem END
    UNION ALL
    -- Under a name of its own, as the server prints some casts that nobody has written: that a text has written ones of an
    -- integer, but a constant, to bigint.
    SELECT format('casts of %s', t.name), 'bigint'
    FROM tree AS t
    WHERE t.tree ~ ':funcid (?:481|754) :funcresulttype 20 [^{}]*:funcformat [01] [^{}]*:args [(]{(?!CONST )'
  )
SELECT jsonb_object_agg(
  t.name,
  ARRAY(SELECT m.text FROM meaning AS m WHERE m.name = t.name ORDER BY m.text)
)
FROM (
  SELECT t.name
  FROM tree AS t
  UNION
  SELECT m.name
  FROM meaning AS m
) AS t
