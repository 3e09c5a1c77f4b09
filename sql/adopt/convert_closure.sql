-- A column and all that refer to it by foreign keys, with their indexes: one jsonb, see src/adopt/convert/online/closure.rs. $1 is the oid of
-- the table, $2 the number of the column.
--
-- A shadow is a column mint_new_* or mint_old_* of a table that has the trigger ~mint_copy_* of its column. A successor is an index mint_N or
-- a foreign key mint_fk_N, of the shape of that with the oid N; after a restore N can be the oid of another.
WITH RECURSIVE
  -- Types that cannot hold the ids, and domains over them.
  narrow AS (SELECT y.oid FROM pg_catalog.pg_type AS y WHERE y.oid OPERATOR(pg_catalog.=) ANY ('{21,23}'::pg_catalog.oid[])
    UNION SELECT y.oid FROM narrow AS z JOIN pg_catalog.pg_type AS y
      ON y.typbasetype OPERATOR(pg_catalog.=) z.oid AND y.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char"),
  -- The column, and all that refer to it by foreign keys.
  member AS (SELECT $1::pg_catalog.oid AS relation, $2::pg_catalog.int2 AS number
    UNION SELECT k.conrelid, k.conkey[one.n]
    FROM member AS m JOIN pg_catalog.pg_constraint AS k
        ON k.confrelid OPERATOR(pg_catalog.=) m.relation AND k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char"
      CROSS JOIN LATERAL pg_catalog.generate_subscripts(k.confkey, 1) AS one (n)
    WHERE k.confkey[one.n] OPERATOR(pg_catalog.=) m.number),
  columns AS (SELECT m.relation, m.number, c.relname, n.nspname, c.relkind, c.relowner, c.relispartition, c.relpersistence, c.reltype, c.reloftype,
      a.attname, a.atttypid, a.attnotnull, a.attidentity, a.attgenerated, a.attacl, a.attoptions, a.attstattarget,
      d.oid AS adoid, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression,
      -- The function of its trigger.
      (SELECT pg_catalog.format('%I.%I'::pg_catalog.text, z.nspname, p.proname) FROM pg_catalog.pg_trigger AS g
        JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) g.tgfoid
        JOIN pg_catalog.pg_namespace AS z ON z.oid OPERATOR(pg_catalog.=) p.pronamespace
        WHERE g.tgrelid OPERATOR(pg_catalog.=) m.relation
          AND g.tgname::pg_catalog.text OPERATOR(pg_catalog.=) ('~mint_copy_'::pg_catalog.text OPERATOR(pg_catalog.||) a.attname::pg_catalog.text)
      ) AS function
    FROM member AS m JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) m.relation
      JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) m.relation AND a.attnum OPERATOR(pg_catalog.=) m.number
      LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) m.relation AND d.adnum OPERATOR(pg_catalog.=) m.number),
  -- Columns that have the name of a shadow, and are one if the column has its trigger.
  shadow AS (SELECT x.relation, x.number AS of, a.attnum AS number, a.attname, a.atttypid::pg_catalog.regtype::pg_catalog.text AS type,
      pg_catalog.starts_with(a.attname::pg_catalog.text, 'mint_new_'::pg_catalog.text) AS is_new, x.function IS NOT NULL AS is_ours
    FROM columns AS x JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) x.relation AND NOT a.attisdropped
      AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) ANY (ARRAY[
        'mint_new_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text,
        'mint_old_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text])),
  named AS (SELECT a.attrelid, a.attnum, a.attname::pg_catalog.text AS name,
      a.attname::pg_catalog.text OPERATOR(pg_catalog.~) '^mint_(new|old)_'::pg_catalog.text AS is_shadow
    FROM pg_catalog.pg_attribute AS a WHERE a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
      AND a.attrelid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT x.relation FROM columns AS x
        UNION SELECT k.conrelid FROM columns AS x JOIN pg_catalog.pg_constraint AS k
          ON k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND k.confrelid OPERATOR(pg_catalog.=) x.relation
        UNION SELECT k.confrelid FROM columns AS x JOIN pg_catalog.pg_constraint AS k
          ON k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND k.conrelid OPERATOR(pg_catalog.=) x.relation))),
  -- Foreign keys of the columns and of their shadows; those that partitions inherit are made with theirs.
  any_key AS (SELECT k.oid, k.conname, k.conrelid, k.confrelid, k.conkey, k.confkey, k.confupdtype, k.confdeltype, k.confmatchtype,
      k.condeferrable, k.condeferred, k.convalidated, k.confdelsetcols,
      (pg_catalog.to_jsonb(k) OPERATOR(pg_catalog.->>) 'conenforced'::pg_catalog.text)::pg_catalog.bool IS NOT FALSE AS is_enforced,
      k.conname::pg_catalog.text OPERATOR(pg_catalog.~) '^mint_fk_[0-9]+$'::pg_catalog.text AND EXISTS (SELECT FROM named AS a WHERE a.is_shadow
        AND (a.attrelid OPERATOR(pg_catalog.=) k.conrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (k.conkey)
          OR a.attrelid OPERATOR(pg_catalog.=) k.confrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (k.confkey))) AS is_ours,
      -- The columns of its successor.
      ARRAY(SELECT CASE WHEN s.number IS NULL THEN one.number ELSE s.number END FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY AS one (number, n) LEFT JOIN shadow AS s
        ON s.is_ours AND s.relation OPERATOR(pg_catalog.=) k.conrelid AND s.of OPERATOR(pg_catalog.=) one.number ORDER BY one.n) AS next_key,
      ARRAY(SELECT CASE WHEN s.number IS NULL THEN one.number ELSE s.number END FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY AS one (number, n) LEFT JOIN shadow AS s
        ON s.is_ours AND s.relation OPERATOR(pg_catalog.=) k.confrelid AND s.of OPERATOR(pg_catalog.=) one.number ORDER BY one.n) AS next_far_key
    FROM pg_catalog.pg_constraint AS k
    WHERE k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND k.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
      AND EXISTS (SELECT FROM columns AS x WHERE x.relation OPERATOR(pg_catalog.=) k.conrelid OR x.relation OPERATOR(pg_catalog.=) k.confrelid)),
  keys AS (SELECT k.oid, k.conname, k.conrelid, k.confrelid, k.conkey, k.confkey, k.confupdtype, k.confdeltype, k.confmatchtype,
      k.condeferrable, k.condeferred, k.convalidated, k.confdelsetcols, k.is_enforced, k.next_key, k.next_far_key
    FROM any_key AS k WHERE NOT k.is_ours AND EXISTS (SELECT FROM columns AS x WHERE
      x.relation OPERATOR(pg_catalog.=) k.conrelid AND x.number OPERATOR(pg_catalog.=) ANY (k.conkey)
      OR x.relation OPERATOR(pg_catalog.=) k.confrelid AND x.number OPERATOR(pg_catalog.=) ANY (k.confkey))),
  key_successor AS (SELECT k.oid AS of, b.oid, b.convalidated FROM keys AS k JOIN any_key AS b
    ON b.is_ours AND b.conname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_fk_'::pg_catalog.text OPERATOR(pg_catalog.||) k.oid::pg_catalog.text)
      AND b.conrelid OPERATOR(pg_catalog.=) k.conrelid AND b.confrelid OPERATOR(pg_catalog.=) k.confrelid
      AND b.conkey OPERATOR(pg_catalog.=) k.next_key AND b.confkey OPERATOR(pg_catalog.=) k.next_far_key
      AND b.confupdtype OPERATOR(pg_catalog.=) k.confupdtype AND b.confdeltype OPERATOR(pg_catalog.=) k.confdeltype
      AND b.confmatchtype OPERATOR(pg_catalog.=) k.confmatchtype
      AND b.condeferrable OPERATOR(pg_catalog.=) k.condeferrable AND b.condeferred OPERATOR(pg_catalog.=) k.condeferred),
  -- Indexes of the tables.
  any_index AS (SELECT i.indexrelid, i.indrelid, c.relname, c.relnamespace, c.relam, i.indisunique, i.indisvalid, i.indnkeyatts, i.indoption,
      -- From 1 on, as other arrays are.
      ARRAY(SELECT pg_catalog.unnest(i.indkey::pg_catalog.int2[])) AS numbers,
      c.relname::pg_catalog.text OPERATOR(pg_catalog.~) '^mint_[0-9]+$'::pg_catalog.text AND EXISTS (SELECT FROM named AS a WHERE a.is_shadow
        AND a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (i.indkey::pg_catalog.int2[])) AS is_ours,
      -- The columns of its successor.
      ARRAY(SELECT CASE WHEN s.number IS NULL THEN one.number ELSE s.number END
        FROM pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS one (number, n) LEFT JOIN shadow AS s
        ON s.is_ours AND s.relation OPERATOR(pg_catalog.=) i.indrelid AND s.of OPERATOR(pg_catalog.=) one.number ORDER BY one.n) AS next_numbers
    FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
    WHERE i.indpred IS NULL AND i.indexprs IS NULL AND EXISTS (SELECT FROM columns AS x WHERE x.relation OPERATOR(pg_catalog.=) i.indrelid)),
  indexes AS (SELECT i.indexrelid, i.indrelid, i.relam, i.indisunique, i.indnkeyatts, i.indoption, i.next_numbers
    FROM any_index AS i WHERE NOT i.is_ours AND EXISTS (SELECT FROM columns AS x
      WHERE x.relation OPERATOR(pg_catalog.=) i.indrelid AND x.number OPERATOR(pg_catalog.=) ANY (i.numbers))),
  successor AS (SELECT i.indexrelid AS of, b.indexrelid, b.indisvalid FROM indexes AS i JOIN any_index AS b
    ON b.is_ours AND b.relname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_'::pg_catalog.text OPERATOR(pg_catalog.||) i.indexrelid::pg_catalog.text)
      AND b.indrelid OPERATOR(pg_catalog.=) i.indrelid AND b.relam OPERATOR(pg_catalog.=) i.relam AND b.numbers OPERATOR(pg_catalog.=) i.next_numbers
      AND b.indisunique OPERATOR(pg_catalog.=) i.indisunique AND b.indnkeyatts OPERATOR(pg_catalog.=) i.indnkeyatts
      AND b.indoption::pg_catalog.int2[] OPERATOR(pg_catalog.=) i.indoption::pg_catalog.int2[])
SELECT pg_catalog.jsonb_build_object(
  'columns', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'relation', x.relation::pg_catalog.int8, 'number', x.number, 'schema', x.nspname, 'table', x.relname, 'name', x.attname,
      'type', x.atttypid::pg_catalog.regtype::pg_catalog.text,
      'is_narrow', x.atttypid OPERATOR(pg_catalog.=) ANY (SELECT z.oid FROM narrow AS z), 'not_null', x.attnotnull,
      -- From 18 on it is a constraint.
      'not_null_constraint', (SELECT pg_catalog.jsonb_build_object('name', k.conname,
          'comment', pg_catalog.obj_description(k.oid, 'pg_constraint'::pg_catalog.name)) FROM pg_catalog.pg_constraint AS k WHERE k.conrelid OPERATOR(pg_catalog.=) x.relation
        AND k.contype OPERATOR(pg_catalog.=) 'n'::pg_catalog."char" AND k.conkey OPERATOR(pg_catalog.=) ARRAY[x.number]),
      'identity', x.attidentity::pg_catalog.text, 'default', x.expression, 'owner', x.relowner::pg_catalog.int8,
      'owner_name', pg_catalog.pg_get_userbyid(x.relowner),
      'is_plain', x.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog."char" AND NOT x.relispartition AND x.reloftype OPERATOR(pg_catalog.=) 0::pg_catalog.oid
        AND x.attgenerated OPERATOR(pg_catalog.=) ''::pg_catalog."char" AND x.relpersistence OPERATOR(pg_catalog.<>) 't'::pg_catalog."char"
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS i
          WHERE i.inhrelid OPERATOR(pg_catalog.=) x.relation OR i.inhparent OPERATOR(pg_catalog.=) x.relation),
      'has_privileges', x.attacl IS NOT NULL, 'bytes', pg_catalog.pg_relation_size(x.relation::pg_catalog.regclass),
      'comment', pg_catalog.col_description(x.relation, x.number::pg_catalog.int4),
      -- Those that users set: a build of PostgreSQL may keep others there.
      'options', (SELECT pg_catalog.string_agg(o, ', '::pg_catalog.text) FROM pg_catalog.unnest(x.attoptions) AS o
        WHERE pg_catalog.starts_with(o, 'n_distinct'::pg_catalog.text)),
      'statistics', CASE WHEN x.attstattarget OPERATOR(pg_catalog.>=) 0::pg_catalog.int4 THEN x.attstattarget END,
      'function', x.function,
      'new_type', (SELECT s.type FROM shadow AS s WHERE s.is_ours AND s.is_new
        AND s.relation OPERATOR(pg_catalog.=) x.relation AND s.of OPERATOR(pg_catalog.=) x.number),
      'old_type', (SELECT s.type FROM shadow AS s WHERE s.is_ours AND NOT s.is_new
        AND s.relation OPERATOR(pg_catalog.=) x.relation AND s.of OPERATOR(pg_catalog.=) x.number),
      'taken', (SELECT pg_catalog.jsonb_agg(s.attname ORDER BY s.attname) FROM shadow AS s WHERE NOT s.is_ours
        AND s.relation OPERATOR(pg_catalog.=) x.relation AND s.of OPERATOR(pg_catalog.=) x.number),
      -- A shadow of another script, before its swap: both would build one index.
      'other_shadow', (SELECT pg_catalog.min(a.name) FROM named AS a WHERE a.attrelid OPERATOR(pg_catalog.=) x.relation
        AND pg_catalog.starts_with(a.name, 'mint_new_'::pg_catalog.text)
        AND NOT EXISTS (SELECT FROM shadow AS s WHERE s.relation OPERATOR(pg_catalog.=) a.attrelid AND s.number OPERATOR(pg_catalog.=) a.attnum)),
      'is_copied', EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid OPERATOR(pg_catalog.=) x.relation
        AND g.tgname::pg_catalog.text OPERATOR(pg_catalog.=) ('~mint_copy_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text)
        AND g.tgenabled OPERATOR(pg_catalog.=) 'A'::pg_catalog."char"),
      -- Triggers BEFORE ... FOR EACH ROW that fire after it.
      'late_triggers', (SELECT pg_catalog.jsonb_agg(g.tgname ORDER BY g.tgname) FROM pg_catalog.pg_trigger AS g
        WHERE g.tgrelid OPERATOR(pg_catalog.=) x.relation AND NOT g.tgisinternal
          AND (g.tgtype OPERATOR(pg_catalog.&) 3::pg_catalog.int2) OPERATOR(pg_catalog.=) 3::pg_catalog.int2
          AND g.tgname OPERATOR(pg_catalog.>) '~mint_copy_'::pg_catalog.name
          AND NOT pg_catalog.starts_with(g.tgname::pg_catalog.text, '~mint_copy_'::pg_catalog.text)),
      'filled', (SELECT k.convalidated FROM pg_catalog.pg_constraint AS k WHERE k.conrelid OPERATOR(pg_catalog.=) x.relation
        AND k.conname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_filled_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text)),
      'dependents', (SELECT pg_catalog.jsonb_agg(DISTINCT one.name ORDER BY one.name) FROM (
        SELECT pg_catalog.pg_describe_object(p.classid, p.objid, p.objsubid) FROM pg_catalog.pg_depend AS p
        WHERE p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
          AND p.refobjid OPERATOR(pg_catalog.=) x.relation AND p.refobjsubid OPERATOR(pg_catalog.=) x.number::pg_catalog.int4
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_attrdef AS d
            WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid AND d.oid OPERATOR(pg_catalog.=) p.objid
              AND d.adrelid OPERATOR(pg_catalog.=) x.relation AND d.adnum OPERATOR(pg_catalog.=) x.number)
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c
            WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND c.oid OPERATOR(pg_catalog.=) p.objid
              AND c.relkind OPERATOR(pg_catalog.=) 'S'::pg_catalog."char")
          AND NOT EXISTS (SELECT FROM any_index AS i
            WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND i.indexrelid OPERATOR(pg_catalog.=) p.objid)
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k
            WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid AND k.oid OPERATOR(pg_catalog.=) p.objid
              AND (k.contype OPERATOR(pg_catalog.=) ANY ('{p,u,f,n}'::pg_catalog."char"[])
                OR pg_catalog.starts_with(k.conname::pg_catalog.text, 'mint_filled_'::pg_catalog.text)))
        -- Rules, which would redirect or suppress the backfill.
        UNION SELECT pg_catalog.pg_describe_object(r.tableoid, r.oid, 0) FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class OPERATOR(pg_catalog.=) x.relation
        -- Columns and domains of its row type: what they have stored has the columns by their place.
        UNION SELECT pg_catalog.pg_describe_object(p.classid, p.objid, p.objsubid) FROM pg_catalog.pg_depend AS p
          JOIN pg_catalog.pg_type AS y ON y.oid OPERATOR(pg_catalog.=) p.refobjid
        WHERE p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid
          AND x.reltype OPERATOR(pg_catalog.=) ANY (ARRAY[y.oid, y.typelem])
          AND p.deptype OPERATOR(pg_catalog.=) 'n'::pg_catalog."char"
          AND p.classid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, 'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid])
        UNION SELECT pg_catalog.concat('label of security provider '::pg_catalog.text, l.provider) FROM pg_catalog.pg_seclabel AS l
        WHERE l.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
          AND l.objoid OPERATOR(pg_catalog.=) x.relation AND l.objsubid OPERATOR(pg_catalog.=) x.number::pg_catalog.int4
        ) AS one (name))
    ) ORDER BY x.relation OPERATOR(pg_catalog.<>) $1::pg_catalog.oid, x.nspname, x.relname, x.number) FROM columns AS x),
  'indexes', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('oid', i.indexrelid::pg_catalog.int8, 'relation', i.indrelid::pg_catalog.int8,
      'name', c.relname, 'schema', n.nspname, 'comment', pg_catalog.obj_description(i.indexrelid, 'pg_class'::pg_catalog.name),
      'is_unique', i.indisunique, 'is_replica_identity', i.indisreplident, 'is_clustered', i.indisclustered, 'is_valid', i.indisvalid, 'method', m.amname,
      'nulls_not_distinct', (pg_catalog.to_jsonb(i) OPERATOR(pg_catalog.->>) 'indnullsnotdistinct'::pg_catalog.text)::pg_catalog.bool,
      'key_count', i.indnkeyatts, 'options', pg_catalog.array_to_string(c.reloptions, ', '::pg_catalog.text),
      'tablespace', (SELECT s.spcname FROM pg_catalog.pg_tablespace AS s WHERE s.oid OPERATOR(pg_catalog.=) c.reltablespace),
      'constraint', (SELECT pg_catalog.jsonb_build_object('name', k.conname, 'is_primary', k.contype OPERATOR(pg_catalog.=) 'p'::pg_catalog."char",
          'deferrable', k.condeferrable, 'deferred', k.condeferred, 'comment', pg_catalog.obj_description(k.oid, 'pg_constraint'::pg_catalog.name))
        FROM pg_catalog.pg_constraint AS k
        WHERE k.conindid OPERATOR(pg_catalog.=) i.indexrelid AND k.contype OPERATOR(pg_catalog.=) ANY ('{p,u}'::pg_catalog."char"[])),
      'columns', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('number', i.indkey[one.n],
          'text', pg_catalog.pg_get_indexdef(i.indexrelid, one.n OPERATOR(pg_catalog.+) 1::pg_catalog.int4, false),
          'class', (SELECT CASE WHEN NOT o.opcdefault THEN pg_catalog.format('%I.%I'::pg_catalog.text, z.nspname, o.opcname) END
            FROM pg_catalog.pg_opclass AS o JOIN pg_catalog.pg_namespace AS z ON z.oid OPERATOR(pg_catalog.=) o.opcnamespace
            WHERE o.oid OPERATOR(pg_catalog.=) i.indclass[one.n]),
          'collation', (SELECT pg_catalog.format('%I.%I'::pg_catalog.text, z.nspname, o.collname)
            FROM pg_catalog.pg_collation AS o JOIN pg_catalog.pg_namespace AS z ON z.oid OPERATOR(pg_catalog.=) o.collnamespace
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) i.indkey[one.n]
              AND a.attcollation OPERATOR(pg_catalog.<>) o.oid
            WHERE o.oid OPERATOR(pg_catalog.=) i.indcollation[one.n]),
          'option', i.indoption[one.n]) ORDER BY one.n)
        FROM pg_catalog.generate_series(0, i.indnatts::pg_catalog.int4 OPERATOR(pg_catalog.-) 1::pg_catalog.int4) AS one (n)),
      'built', (SELECT s.indisvalid FROM successor AS s WHERE s.of OPERATOR(pg_catalog.=) i.indexrelid)
    ) ORDER BY i.indrelid, c.relname)
    FROM indexes AS y JOIN pg_catalog.pg_index AS i ON i.indexrelid OPERATOR(pg_catalog.=) y.indexrelid
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
      JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
      JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam),
  'keys', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('oid', k.oid::pg_catalog.int8, 'name', k.conname,
      'comment', pg_catalog.obj_description(k.oid, 'pg_constraint'::pg_catalog.name),
      'relation', k.conrelid::pg_catalog.int8, 'to', k.confrelid::pg_catalog.int8,
      'numbers', pg_catalog.to_jsonb(k.conkey), 'to_numbers', pg_catalog.to_jsonb(k.confkey),
      'update', k.confupdtype::pg_catalog.text, 'delete', k.confdeltype::pg_catalog.text, 'match', k.confmatchtype::pg_catalog.text,
      'deferrable', k.condeferrable, 'deferred', k.condeferred, 'validated', k.convalidated, 'is_enforced', k.is_enforced,
      'set_numbers', pg_catalog.to_jsonb(k.confdelsetcols),
      'built', (SELECT s.convalidated FROM key_successor AS s WHERE s.of OPERATOR(pg_catalog.=) k.oid)
    ) ORDER BY k.conname, k.oid) FROM keys AS k),
  -- Successors of this script's columns that are nobody's, as after a restore or after the index of before was dropped.
  'stale_indexes', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('relation', i.indrelid::pg_catalog.int8,
      'name', pg_catalog.format('%I.%I'::pg_catalog.text, n.nspname, i.relname)) ORDER BY i.relname)
    FROM any_index AS i JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) i.relnamespace
    WHERE i.is_ours AND i.indexrelid OPERATOR(pg_catalog.<>) ALL (SELECT s.indexrelid FROM successor AS s)
      AND EXISTS (SELECT FROM shadow AS s WHERE s.is_ours
        AND s.relation OPERATOR(pg_catalog.=) i.indrelid AND s.number OPERATOR(pg_catalog.=) ANY (i.numbers))),
  'stale_keys', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('relation', k.conrelid::pg_catalog.int8, 'name', k.conname) ORDER BY k.conname)
    FROM any_key AS k WHERE k.is_ours AND k.oid OPERATOR(pg_catalog.<>) ALL (SELECT s.oid FROM key_successor AS s)
      AND EXISTS (SELECT FROM shadow AS s WHERE s.is_ours
        AND (s.relation OPERATOR(pg_catalog.=) k.conrelid AND s.number OPERATOR(pg_catalog.=) ANY (k.conkey)
          OR s.relation OPERATOR(pg_catalog.=) k.confrelid AND s.number OPERATOR(pg_catalog.=) ANY (k.confkey)))),
  -- Names of columns by table and number.
  'names', (SELECT pg_catalog.jsonb_object_agg(pg_catalog.format('%s.%s'::pg_catalog.text, a.attrelid, a.attnum), a.name) FROM named AS a
    WHERE EXISTS (SELECT FROM keys AS k WHERE a.attrelid OPERATOR(pg_catalog.=) k.conrelid OR a.attrelid OPERATOR(pg_catalog.=) k.confrelid)),
  'tables', (SELECT pg_catalog.jsonb_object_agg(c.oid::pg_catalog.text, pg_catalog.format('%I.%I'::pg_catalog.text, n.nspname, c.relname))
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE EXISTS (SELECT FROM any_key AS k WHERE c.oid OPERATOR(pg_catalog.=) k.conrelid OR c.oid OPERATOR(pg_catalog.=) k.confrelid)
      OR EXISTS (SELECT FROM columns AS x WHERE x.relation OPERATOR(pg_catalog.=) c.oid))
)
