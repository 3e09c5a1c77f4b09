-- A column and all that refer to it by foreign keys, with their indexes, keys and checks, and with what already takes the
-- place of each: what convert_closure_read.sql reads as one jsonb, see src/adopt/convert/online/closure.rs. $1 is the oid of
-- the table, $2 the number of the column.
--
-- A shadow is a column mint_new_* or mint_old_* of a table that has the trigger ~mint_copy_* of its column, or the check
-- mint_filled_*. A
-- successor is an index mint_N, a foreign key mint_fk_N or a check mint_check_N, of the shape of that with the
-- oid N; after a restore N can be the oid of another. Expressions have the same shape if they are equal but for
-- shadows and the casts that these make.
WITH RECURSIVE
  -- The column, and all that refer to it by foreign keys.
  member AS (
    SELECT $1::oid AS relation, $2::int2 AS number
    UNION
    SELECT k.conrelid, k.conkey[one.n]
    FROM member AS m
    JOIN pg_constraint AS k ON k.confrelid = m.relation AND k.contype = 'f'
    CROSS JOIN LATERAL generate_subscripts(k.confkey, 1) AS one (n)
    JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[one.n]
    WHERE k.confkey[one.n] = m.number
      -- The successor of a key, which is of a shadow, refers to a column that has none.
      AND NOT (k.conname::text ~ '^mint_fk_[0-9]+$' AND a.attname::text ~ '^mint_(new|old)_')
  ),
  -- The same with their tables, their defaults and the functions of their triggers.
  columns AS (
    SELECT
      m.relation,
      m.number,
      c.relname,
      n.nspname,
      c.relkind,
      c.relowner,
      c.relispartition,
      c.relpersistence,
      c.relnamespace,
      c.reltype,
      c.reloftype,
      a.attname,
      a.atttypid,
      a.attnotnull,
      a.attidentity,
      a.attgenerated,
      a.attoptions,
      a.attstattarget,
      d.oid AS adoid,
      pg_get_expr(d.adbin, d.adrelid) AS expression,
      (
        SELECT format('%I.%I', z.nspname, p.proname)
        FROM pg_trigger AS g
        JOIN pg_proc AS p ON p.oid = g.tgfoid
        JOIN pg_namespace AS z ON z.oid = p.pronamespace
        WHERE g.tgrelid = m.relation
          AND g.tgname::text = ('~mint_copy_' || a.attname::text)
          -- TRIGGER on the table is enough to create one of the name: with any function, also of the owner, as that of the
          -- script of another table.
          AND p.proowner = c.relowner
          AND starts_with(p.proname::text, 'mint_copy_')
          AND NOT EXISTS (
            SELECT
            FROM pg_trigger AS o
            JOIN pg_class AS r ON r.oid = o.tgrelid
            WHERE o.tgfoid = g.tgfoid AND o.oid <> g.oid AND r.relowner = c.relowner
          )
      ) AS function,
      EXISTS (
        SELECT
        FROM pg_trigger AS g
        WHERE g.tgrelid = m.relation
          AND g.tgname::text = ('~mint_copy_' || a.attname::text)
      ) AS has_trigger
    FROM member AS m
    JOIN pg_class AS c ON c.oid = m.relation
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = m.relation AND a.attnum = m.number
    LEFT JOIN pg_attrdef AS d ON d.adrelid = m.relation AND d.adnum = m.number
  ),
  -- Checks that prove that a shadow is filled: with the expressions of equality() in src/adopt/convert/online/blocks.rs and no
  -- other, but for spaces and parentheses. A name proves nothing.
  proof AS (
    SELECT k.oid, x.relation, x.number, a.attnum AS shadow, k.convalidated
    FROM columns AS x
    JOIN pg_attribute AS a ON a.attrelid = x.relation
      AND NOT a.attisdropped
      AND a.attname::text = ANY (ARRAY['mint_new_' || x.attname::text, 'mint_old_' || x.attname::text])
    JOIN pg_constraint AS k ON k.conrelid = x.relation
      AND k.conname::text = ('mint_filled_' || x.attname::text)
      AND k.contype = 'c'
    CROSS JOIN LATERAL (SELECT format('%1$I IS NOT NULL AND %1$I = %2$I', a.attname, x.attname) AS equal) AS e
    WHERE (to_jsonb(k) ->> 'conenforced')::bool IS NOT FALSE
      AND regexp_replace(pg_get_expr(k.conbin, k.conrelid), '[[:space:]()]', '', 'g') IN (
        regexp_replace(e.equal, '[[:space:]()]', '', 'g'),
        regexp_replace(
          format('CASE WHEN %I IS NULL THEN %I IS NULL ELSE %s END', x.attname, a.attname, e.equal),
          '[[:space:]()]',
          '',
          'g'
        )
      )
  ),
  -- Other constraints of such names.
  false_proof AS (
    SELECT k.conrelid, k.conname::text AS name
    FROM pg_constraint AS k
    WHERE k.conrelid = ANY (SELECT x.relation FROM columns AS x)
      AND k.oid <> ALL (SELECT p.oid FROM proof AS p)
  ),
  -- Columns that have the name of a shadow, and are one if the column has its trigger or its check.
  shadow AS (
    SELECT
      x.relation,
      x.number AS of,
      a.attnum AS number,
      a.attname,
      a.atttypid::regtype::text AS type,
      starts_with(a.attname::text, 'mint_new_') AS is_new,
      x.function IS NOT NULL OR a.attnum = ANY (
        SELECT p.shadow
        FROM proof AS p
        WHERE p.relation = x.relation AND p.number = x.number
      ) AS is_ours
    FROM columns AS x
    JOIN pg_attribute AS a ON a.attrelid = x.relation
      AND NOT a.attisdropped
      AND a.attname::text = ANY (ARRAY['mint_new_' || x.attname::text, 'mint_old_' || x.attname::text])
  ),
  -- The names of all columns of the tables, and of those that foreign keys lead to or come from.
  named AS (
    SELECT
      a.attrelid,
      a.attnum,
      a.attname::text AS name,
      a.attname::text ~ '^mint_(new|old)_' AS is_shadow
    FROM pg_attribute AS a
    WHERE a.attnum > 0
      AND NOT a.attisdropped
      AND a.attrelid = ANY (ARRAY(
        SELECT x.relation
        FROM columns AS x
        UNION
        SELECT k.conrelid
        FROM columns AS x
        JOIN pg_constraint AS k ON k.contype = 'f' AND k.confrelid = x.relation
        UNION
        SELECT k.confrelid
        FROM columns AS x
        JOIN pg_constraint AS k ON k.contype = 'f' AND k.conrelid = x.relation
      ))
  ),
  -- All foreign keys of the tables, with the columns that a successor has. Those that partitions inherit are
  -- made with theirs.
  any_key AS (
    SELECT
      k.*,
      (to_jsonb(k) ->> 'conenforced')::bool IS NOT FALSE AS is_enforced,
      k.conname::text ~ '^mint_fk_[0-9]+$' AND EXISTS (
        SELECT
        FROM named AS a
        WHERE a.is_shadow
          AND (
            a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
            OR a.attrelid = k.confrelid AND a.attnum = ANY (k.confkey)
          )
      ) AS is_ours,
      ARRAY(
        SELECT CASE WHEN s.number IS NULL THEN one.number ELSE s.number END
        FROM unnest(k.conkey) WITH ORDINALITY AS one (number, n)
        LEFT JOIN shadow AS s ON s.is_ours AND s.relation = k.conrelid AND s.of = one.number
        ORDER BY one.n
      ) AS next_key,
      ARRAY(
        SELECT CASE WHEN s.number IS NULL THEN one.number ELSE s.number END
        FROM unnest(k.confkey) WITH ORDINALITY AS one (number, n)
        LEFT JOIN shadow AS s ON s.is_ours AND s.relation = k.confrelid AND s.of = one.number
        ORDER BY one.n
      ) AS next_far_key
    FROM pg_constraint AS k
    WHERE k.contype = 'f'
      AND k.conparentid = 0
      AND EXISTS (
        SELECT
        FROM columns AS x
        WHERE x.relation = k.conrelid OR x.relation = k.confrelid
      )
  ),
  -- The foreign keys of the columns themselves.
  keys AS (
    SELECT k.*
    FROM any_key AS k
    WHERE NOT k.is_ours
      AND EXISTS (
        SELECT
        FROM columns AS x
        WHERE x.relation = k.conrelid AND x.number = ANY (k.conkey)
          OR x.relation = k.confrelid AND x.number = ANY (k.confkey)
      )
  ),
  -- The successors of these, which are in all equal to them but in their columns.
  key_successor AS (
    SELECT k.oid AS of, b.oid, b.convalidated
    FROM keys AS k
    JOIN any_key AS b ON b.is_ours
      AND b.conname::text = ('mint_fk_' || k.oid::text)
      AND b.conrelid = k.conrelid
      AND b.confrelid = k.confrelid
      AND b.conkey = k.next_key
      AND b.confkey = k.next_far_key
      AND b.confupdtype = k.confupdtype
      AND b.confdeltype = k.confdeltype
      AND b.confmatchtype = k.confmatchtype
      AND b.condeferrable = k.condeferrable
      AND b.condeferred = k.condeferred
      AND b.is_enforced = k.is_enforced
  ),
  -- All indexes of the tables, with the columns that a successor has, and all columns that they name. Arrays of
  -- columns begin at 1, as others do.
  any_index AS (
    SELECT
      i.*,
      EXISTS (
        SELECT
        FROM named AS a
        WHERE a.is_shadow AND a.attrelid = i.indrelid AND a.attnum = ANY (i.mentioned)
      ) AND i.relname::text ~ '^mint_[0-9]+$' AS is_ours,
      ARRAY(
        SELECT CASE WHEN s.number IS NULL THEN one.number ELSE s.number END
        FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS one (number, n)
        LEFT JOIN shadow AS s ON s.is_ours AND s.relation = i.indrelid AND s.of = one.number
        ORDER BY one.n
      ) AS next_numbers,
      regexp_replace(
        concat(
          pg_get_expr(i.indpred, i.indrelid),
          ' WHERE ',
          pg_get_expr(i.indexprs, i.indrelid)
        ),
        '\mmint_(?:new|old)_|::(?:bigint|integer|smallint)|[[:space:]()"]',
        '',
        'g'
      ) AS shape
    FROM (
      SELECT
        i.*,
        c.relname,
        c.relnamespace,
        c.relam,
        c.reloptions,
        ARRAY(SELECT unnest(i.indkey::int2[])) AS numbers,
        ARRAY(
          SELECT unnest(i.indkey::int2[])
          UNION
          SELECT p.refobjsubid::int2
          FROM pg_depend AS p
          WHERE p.classid = 'pg_class'::regclass
            AND p.objid = i.indexrelid
            AND p.refclassid = 'pg_class'::regclass
            AND p.refobjid = i.indrelid
        ) AS mentioned
      FROM pg_index AS i
      JOIN pg_class AS c ON c.oid = i.indexrelid
      WHERE EXISTS (SELECT FROM columns AS x WHERE x.relation = i.indrelid)
    ) AS i
  ),
  -- The indexes of the columns themselves.
  indexes AS (
    SELECT i.*
    FROM any_index AS i
    WHERE NOT i.is_ours
      AND EXISTS (
        SELECT
        FROM columns AS x
        WHERE x.relation = i.indrelid AND x.number = ANY (i.mentioned)
      )
  ),
  -- The successors of these, which are in all equal to them but in their columns.
  successor AS (
    SELECT i.indexrelid AS of, b.indexrelid, b.indisvalid
    FROM indexes AS i
    JOIN any_index AS b ON b.is_ours
      AND b.relname::text = ('mint_' || i.indexrelid::text)
      AND b.indrelid = i.indrelid
      AND b.relam = i.relam
      AND b.reloptions IS NOT DISTINCT FROM i.reloptions
      AND b.numbers = i.next_numbers
      AND b.shape = i.shape
      AND b.indisunique = i.indisunique
      AND b.indnkeyatts = i.indnkeyatts
      AND b.indoption::int2[] = i.indoption::int2[]
  ),
  -- All checks of the tables but those of shadows.
  any_check AS (
    SELECT
      k.*,
      (to_jsonb(k) ->> 'conenforced')::bool IS NOT FALSE AS is_enforced,
      pg_get_expr(k.conbin, k.conrelid) AS text,
      k.conname::text ~ '^mint_check_[0-9]+$' AND EXISTS (
        SELECT
        FROM named AS a
        WHERE a.is_shadow AND a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
      ) AS is_ours,
      regexp_replace(
        pg_get_expr(k.conbin, k.conrelid),
        '\mmint_(?:new|old)_|::(?:bigint|integer|smallint)|[[:space:]()"]',
        '',
        'g'
      ) AS shape
    FROM pg_constraint AS k
    WHERE k.contype = 'c'
      AND k.oid <> ALL (SELECT p.oid FROM proof AS p)
      AND EXISTS (SELECT FROM columns AS x WHERE x.relation = k.conrelid)
  ),
  -- The checks of the columns themselves.
  checks AS (
    SELECT k.*
    FROM any_check AS k
    WHERE NOT k.is_ours
      AND EXISTS (
        SELECT
        FROM columns AS x
        WHERE x.relation = k.conrelid AND x.number = ANY (k.conkey)
      )
  ),
  check_successor AS (
    SELECT k.oid AS of, b.oid, b.convalidated
    FROM checks AS k
    JOIN any_check AS b ON b.is_ours
      AND b.conname::text = ('mint_check_' || k.oid::text)
      AND b.conrelid = k.conrelid
      AND b.shape = k.shape
      AND b.connoinherit = k.connoinherit
      AND b.is_enforced = k.is_enforced
  ),
  -- Views that read whole rows of the tables, and those that read these.
  whole (relation, view) AS (
    SELECT x.relation, w.ev_class
    FROM columns AS x
    JOIN pg_depend AS p ON p.classid = 'pg_rewrite'::regclass
      AND p.refclassid = 'pg_class'::regclass
      AND p.refobjid = x.relation
    JOIN pg_rewrite AS w ON w.oid = p.objid AND strpos(w.ev_action::text, ':varattno 0 ') > 0
    UNION
    SELECT v.relation, w.ev_class
    FROM whole AS v
    JOIN pg_depend AS p ON p.classid = 'pg_rewrite'::regclass
      AND p.refclassid = 'pg_class'::regclass
      AND p.refobjid = v.view
    JOIN pg_rewrite AS w ON w.oid = p.objid AND w.ev_class <> v.view
  )
