-- What is read of each object of convert_closure.sql, which comes before: one jsonb.
SELECT jsonb_build_object(
  'columns', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'relation', x.relation::int8,
        'number', x.number,
        'schema', x.nspname,
        'table', x.relname,
        'name', x.attname,
        'type', x.atttypid::regtype::text,
        'type_oid', x.atttypid::int8,
        'not_null', x.attnotnull,
        -- From PostgreSQL 18 on it is a constraint.
        'not_null_constraint', (
          SELECT jsonb_build_object(
            'name', k.conname,
            'comment', obj_description(k.oid, 'pg_constraint'),
            'validated', k.convalidated,
            'no_inherit', k.connoinherit
          )
          FROM pg_constraint AS k
          WHERE k.conrelid = x.relation
            AND k.contype = 'n'
            AND k.conkey = ARRAY[x.number]
        ),
        'identity', x.attidentity::text,
        'default', x.expression,
        'owner', x.relowner::int8,
        'owner_name', pg_get_userbyid(x.relowner),
        'is_plain', x.relkind = 'r'
          AND NOT x.relispartition
          AND x.reloftype = 0
          AND x.attgenerated = ''
          AND x.relpersistence <> 't'
          AND NOT EXISTS (
            SELECT
            FROM pg_inherits AS i
            WHERE i.inhrelid = x.relation OR i.inhparent = x.relation
          ),
        'publications', (
          SELECT jsonb_agg(DISTINCT p.pubname)
          FROM pg_publication AS p
          LEFT JOIN pg_publication_rel AS r ON r.prpubid = p.oid
          LEFT JOIN pg_publication_namespace AS z ON z.pnpubid = p.oid
          WHERE p.puballtables
            OR r.prrelid = x.relation
            OR z.pnnspid = x.relnamespace
        ),
        -- NULL of a table that is dropped meanwhile.
        'bytes', coalesce(pg_relation_size(x.relation::regclass), 0),
        'comment', col_description(x.relation, x.number::int4),
        -- Those that users set: a build of PostgreSQL may keep others there.
        'options', (
          SELECT string_agg(o, ', ')
          FROM unnest(x.attoptions) AS o
          WHERE starts_with(o, 'n_distinct')
        ),
        'statistics', CASE WHEN x.attstattarget >= 0 THEN x.attstattarget END,
        'function', x.function,
        'new_type', (
          SELECT s.type
          FROM shadow AS s
          WHERE s.is_ours AND s.is_new AND s.relation = x.relation AND s.of = x.number
        ),
        'old_type', (
          SELECT s.type
          FROM shadow AS s
          WHERE s.is_ours AND NOT s.is_new AND s.relation = x.relation AND s.of = x.number
        ),
        'taken', (
          SELECT jsonb_agg(s.attname ORDER BY s.attname)
          FROM shadow AS s
          WHERE NOT s.is_ours AND s.relation = x.relation AND s.of = x.number
        ),
        'has_other_trigger', x.has_trigger AND x.function IS NULL,
        -- A shadow of another script, before its swap: both would build one index.
        'other_shadow', (
          SELECT min(a.name)
          FROM named AS a
          WHERE a.attrelid = x.relation
            AND starts_with(a.name, 'mint_new_')
            AND NOT EXISTS (
              SELECT
              FROM shadow AS s
              WHERE s.relation = a.attrelid AND s.number = a.attnum
            )
        ),
        'is_copied', EXISTS (
          SELECT
          FROM pg_trigger AS g
          WHERE g.tgrelid = x.relation
            AND g.tgname::text = ('~mint_copy_' || x.attname::text)
            AND g.tgenabled = 'A'
        ),
        -- Triggers BEFORE ... FOR EACH ROW that fire after it.
        'late_triggers', (
          SELECT jsonb_agg(g.tgname ORDER BY g.tgname)
          FROM pg_trigger AS g
          WHERE g.tgrelid = x.relation
            AND NOT g.tgisinternal
            AND (g.tgtype & 3) = 3
            AND g.tgname > '~mint_copy_'
            AND NOT starts_with(g.tgname::text, '~mint_copy_')
        ),
        'filled', (SELECT p.convalidated FROM proof AS p WHERE p.relation = x.relation AND p.number = x.number),
        'has_other_check', ('mint_filled_' || x.attname::text) = ANY (
          SELECT f.name FROM false_proof AS f WHERE f.conrelid = x.relation
        ),
        'dependents', (
          SELECT jsonb_agg(DISTINCT one.name ORDER BY one.name)
          FROM (
            SELECT pg_describe_object(p.classid, p.objid, p.objsubid)
            FROM pg_depend AS p
            WHERE p.refclassid = 'pg_class'::regclass
              AND p.refobjid = x.relation
              AND p.refobjsubid = x.number::int4
              AND NOT EXISTS (
                SELECT
                FROM pg_attrdef AS d
                WHERE p.classid = 'pg_attrdef'::regclass
                  AND d.oid = p.objid
                  AND d.adrelid = x.relation
                  AND d.adnum = x.number
              )
              AND NOT EXISTS (
                SELECT
                FROM pg_class AS c
                WHERE p.classid = 'pg_class'::regclass AND c.oid = p.objid AND c.relkind = 'S'
              )
              -- What convert_recreated.sql has.
              AND p.classid <> 'pg_statistic_ext'::regclass
              AND NOT EXISTS (
                SELECT
                FROM pg_trigger AS g
                WHERE p.classid = 'pg_trigger'::regclass AND g.oid = p.objid AND g.tgrelid = x.relation
              )
              AND NOT EXISTS (
                SELECT
                FROM pg_rewrite AS r
                JOIN pg_class AS c ON c.oid = r.ev_class AND c.relkind = 'v'
                WHERE p.classid = 'pg_rewrite'::regclass AND r.oid = p.objid
              )
              AND NOT EXISTS (
                SELECT
                FROM any_index AS i
                WHERE p.classid = 'pg_class'::regclass AND i.indexrelid = p.objid
              )
              AND NOT EXISTS (
                SELECT
                FROM pg_constraint AS k
                WHERE p.classid = 'pg_constraint'::regclass
                  AND k.oid = p.objid
                  AND k.contype <> 'x'
              )
            -- Rules, which would redirect or suppress the backfill.
            UNION
            SELECT pg_describe_object(r.tableoid, r.oid, 0)
            FROM pg_rewrite AS r
            WHERE r.ev_class = x.relation
            -- What has whole rows, which are others as soon as there is a shadow.
            UNION
            SELECT pg_describe_object(w.class, w.oid, 0)
            FROM (
              SELECT i.indexrelid, 'pg_class'::regclass, concat(i.indexprs::text, i.indpred::text)
              FROM pg_index AS i
              WHERE i.indrelid = x.relation
              UNION ALL
              SELECT k.oid, 'pg_constraint'::regclass, k.conbin::text
              FROM pg_constraint AS k
              WHERE k.conrelid = x.relation
              UNION ALL
              SELECT y.oid, 'pg_policy'::regclass, concat(y.polqual::text, y.polwithcheck::text)
              FROM pg_policy AS y
              WHERE y.polrelid = x.relation
                OR EXISTS (
                  SELECT
                  FROM pg_depend AS p
                  WHERE p.classid = 'pg_policy'::regclass
                    AND p.objid = y.oid
                    AND p.refclassid = 'pg_class'::regclass
                    AND p.refobjid = x.relation
                )
              UNION ALL
              SELECT p.objid, p.classid, ':varattno 0 '
              FROM whole AS v
              JOIN pg_depend AS p ON p.refclassid = 'pg_class'::regclass AND p.refobjid = v.view
              WHERE v.relation = x.relation AND p.classid = 'pg_policy'::regclass
            ) AS w (oid, class, tree)
            WHERE strpos(w.tree, ':varattno 0 ') > 0
            -- Columns and domains of its row type: what they have stored has the columns by their place.
            UNION
            SELECT pg_describe_object(p.classid, p.objid, p.objsubid)
            FROM pg_depend AS p
            JOIN pg_type AS y ON y.oid = p.refobjid
            WHERE p.refclassid = 'pg_type'::regclass
              AND x.reltype = ANY (ARRAY[y.oid, y.typelem])
              AND p.deptype = 'n'
              AND p.classid IN ('pg_class'::regclass, 'pg_type'::regclass)
            UNION
            SELECT concat('label of security provider ', l.provider)
            FROM pg_seclabel AS l
            WHERE l.classoid = 'pg_class'::regclass
              AND l.objoid = x.relation
              AND l.objsubid = x.number::int4
          ) AS one (name)
        )
      )
      ORDER BY x.relation <> $1::oid, x.nspname, x.relname, x.number
    )
    FROM columns AS x
  ),
  'indexes', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'oid', i.indexrelid::int8,
        'relation', i.indrelid::int8,
        'name', c.relname,
        'schema', n.nspname,
        'comment', obj_description(i.indexrelid, 'pg_class'),
        'is_unique', i.indisunique,
        'is_replica_identity', i.indisreplident,
        'is_clustered', i.indisclustered,
        'is_valid', i.indisvalid,
        'method', m.amname,
        'tablespace', (
          SELECT s.spcname
          FROM pg_tablespace AS s
          WHERE s.oid = CASE c.reltablespace
            WHEN 0 THEN (SELECT d.dattablespace FROM pg_database AS d WHERE d.datname = current_database())
            ELSE c.reltablespace
          END
        ),
        -- What follows its name.
        'after', (
          SELECT jsonb_agg(s.text ORDER BY s.text)
          FROM (
            SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', n.nspname, c.relname, a.attnum, a.attstattarget)
            FROM pg_attribute AS a
            WHERE a.attrelid = i.indexrelid AND a.attstattarget >= 0 AND i.indkey[a.attnum - 1] = 0
            UNION ALL
            SELECT format('ALTER INDEX %I.%I DEPENDS ON EXTENSION %I', n.nspname, c.relname, e.extname)
            FROM pg_depend AS p
            JOIN pg_extension AS e ON e.oid = p.refobjid AND p.refclassid = 'pg_extension'::regclass
            WHERE p.classid = 'pg_class'::regclass AND p.objid = i.indexrelid AND p.deptype = 'x'
          ) AS s (text)
        ),
        'constraint', (
          SELECT jsonb_build_object(
            'name', k.conname,
            'is_primary', k.contype = 'p',
            'deferrable', k.condeferrable,
            'deferred', k.condeferred,
            'comment', obj_description(k.oid, 'pg_constraint')
          )
          FROM pg_constraint AS k
          WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
        ),
        'has_class', EXISTS (
          SELECT
          FROM generate_series(0, i.indnkeyatts::int4 - 1) AS one (n)
          JOIN pg_opclass AS o ON o.oid = i.indclass[one.n] AND NOT o.opcdefault
          JOIN columns AS x ON x.relation = i.indrelid AND x.number = i.indkey[one.n]
        ),
        -- What comes behind the name of the table, without the predicate.
        'definition', (
          SELECT substr(d.text, length(d.head) + 1, length(d.text) - length(d.head) - length(d.tail))
          FROM (
            SELECT
              pg_get_indexdef(i.indexrelid, 0, false) AS text,
              format(
                'CREATE %sINDEX %I ON %I.%I ',
                CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END,
                c.relname,
                z.nspname,
                t.relname
              ) AS head,
              CASE WHEN i.indpred IS NULL THEN ''
                ELSE ' WHERE ' || pg_get_expr(i.indpred, i.indrelid) END AS tail
            FROM pg_class AS t
            JOIN pg_namespace AS z ON z.oid = t.relnamespace
            WHERE t.oid = i.indrelid
          ) AS d
          WHERE starts_with(d.text, d.head)
            AND right(d.text, length(d.tail)) = d.tail
        ),
        'predicate', pg_get_expr(i.indpred, i.indrelid),
        'expressions', pg_get_expr(i.indexprs, i.indrelid),
        -- How often it names each column.
        'counts', (
          SELECT jsonb_object_agg(
            x.number,
            cardinality(array_positions(i.numbers, x.number))
            + regexp_count(
              concat(i.indpred::text, i.indexprs::text),
              format(':varattno %s ', x.number)
            )
          )
          FROM columns AS x
          WHERE x.relation = i.indrelid
        ),
        'built', (SELECT s.indisvalid FROM successor AS s WHERE s.of = i.indexrelid)
      )
      ORDER BY i.indrelid, c.relname
    )
    FROM indexes AS i
    JOIN pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_am AS m ON m.oid = c.relam
  ),
  'keys', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'oid', k.oid::int8,
        'name', k.conname,
        'comment', obj_description(k.oid, 'pg_constraint'),
        'relation', k.conrelid::int8,
        'to', k.confrelid::int8,
        'numbers', to_jsonb(k.conkey),
        'to_numbers', to_jsonb(k.confkey),
        'update', k.confupdtype::text,
        'delete', k.confdeltype::text,
        'match', k.confmatchtype::text,
        'deferrable', k.condeferrable,
        'deferred', k.condeferred,
        'validated', k.convalidated,
        'is_enforced', k.is_enforced,
        'has_period', (to_jsonb(k) ->> 'conperiod')::bool IS TRUE,
        'set_numbers', to_jsonb(k.confdelsetcols),
        'is_disabled', EXISTS (
          SELECT
          FROM pg_trigger AS g
          WHERE g.tgconstraint = k.oid AND g.tgenabled <> 'O'
        ),
        'built', (SELECT s.convalidated FROM key_successor AS s WHERE s.of = k.oid)
      )
      ORDER BY k.conname, k.oid
    )
    FROM keys AS k
  ),
  'checks', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'oid', k.oid::int8,
        'name', k.conname,
        'comment', obj_description(k.oid, 'pg_constraint'),
        'relation', k.conrelid::int8,
        'text', k.text,
        'validated', k.convalidated,
        'is_enforced', k.is_enforced,
        'no_inherit', k.connoinherit,
        'counts', (
          SELECT jsonb_object_agg(
            x.number,
            regexp_count(k.conbin::text, format(':varattno %s ', x.number))
          )
          FROM columns AS x
          WHERE x.relation = k.conrelid
        ),
        'built', (SELECT s.convalidated FROM check_successor AS s WHERE s.of = k.oid)
      )
      ORDER BY k.conname, k.oid
    )
    FROM checks AS k
  ),
  -- Successors of this script's columns that are of no index, check or key, as after a restore or after the index of
  -- before was dropped.
  'stale_indexes', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'relation', i.indrelid::int8,
        'name', format('%I.%I', n.nspname, i.relname)
      )
      ORDER BY i.relname
    )
    FROM any_index AS i
    JOIN pg_namespace AS n ON n.oid = i.relnamespace
    WHERE i.is_ours
      AND i.indexrelid <> ALL (SELECT s.indexrelid FROM successor AS s)
      AND EXISTS (
        SELECT
        FROM shadow AS s
        WHERE s.is_ours AND s.relation = i.indrelid AND s.number = ANY (i.mentioned)
      )
  ),
  'stale_constraints', (
    SELECT jsonb_agg(
      jsonb_build_object('relation', k.conrelid::int8, 'name', k.conname)
      ORDER BY k.conname
    )
    FROM (
      SELECT b.conname, b.conrelid, b.conkey, b.confrelid, b.confkey
      FROM any_key AS b
      WHERE b.is_ours AND b.oid <> ALL (SELECT s.oid FROM key_successor AS s)
      UNION ALL
      SELECT b.conname, b.conrelid, b.conkey, NULL, NULL
      FROM any_check AS b
      WHERE b.is_ours AND b.oid <> ALL (SELECT s.oid FROM check_successor AS s)
    ) AS k
    WHERE EXISTS (
      SELECT
      FROM shadow AS s
      WHERE s.is_ours
        AND (
          s.relation = k.conrelid AND s.number = ANY (k.conkey)
          OR s.relation = k.confrelid AND s.number = ANY (k.confkey)
        )
    )
  ),
  -- Names of columns by table and number.
  'names', (
    SELECT jsonb_object_agg(format('%s.%s', a.attrelid, a.attnum), a.name)
    FROM named AS a
    WHERE EXISTS (
      SELECT
      FROM keys AS k
      WHERE a.attrelid = k.conrelid OR a.attrelid = k.confrelid
    )
  ),
  -- Names of tables by oid.
  'tables', (
    SELECT jsonb_object_agg(c.oid::text, format('%I.%I', n.nspname, c.relname))
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE EXISTS (SELECT FROM any_key AS k WHERE c.oid = k.conrelid OR c.oid = k.confrelid)
      OR EXISTS (SELECT FROM columns AS x WHERE x.relation = c.oid)
  )
)
