-- A column and all that refer to it by foreign keys, with their indexes: one jsonb, see src/adopt/convert/online/closure.rs. $1 is the oid of
-- the table, $2 the number of the column.
WITH RECURSIVE
  -- Types that cannot hold the ids, and domains over them.
  narrow AS (SELECT y.oid FROM pg_catalog.pg_type AS y WHERE y.oid OPERATOR(pg_catalog.=) ANY ('{21,23}'::pg_catalog.oid[])
    UNION SELECT y.oid FROM narrow AS z JOIN pg_catalog.pg_type AS y ON y.typbasetype OPERATOR(pg_catalog.=) z.oid AND y.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char"),
  -- The column, and all that refer to it by foreign keys.
  member AS (SELECT $1::pg_catalog.oid AS relation, $2::pg_catalog.int2 AS number
    UNION SELECT k.conrelid, k.conkey[one.n]
    FROM member AS m JOIN pg_catalog.pg_constraint AS k ON k.confrelid OPERATOR(pg_catalog.=) m.relation AND k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char"
      CROSS JOIN LATERAL pg_catalog.generate_subscripts(k.confkey, 1) AS one (n) WHERE k.confkey[one.n] OPERATOR(pg_catalog.=) m.number),
  columns AS (SELECT m.relation, m.number, c.relname, n.nspname, c.relkind, c.relowner, c.relispartition, c.relhassubclass, c.relpersistence, c.relpages,
      a.attname, a.atttypid, a.attnotnull, a.attidentity, a.attgenerated, a.attacl, d.oid AS adoid, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression
    FROM member AS m JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) m.relation JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) m.relation AND a.attnum OPERATOR(pg_catalog.=) m.number
      LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) m.relation AND d.adnum OPERATOR(pg_catalog.=) m.number),
  keys AS (SELECT k.oid, k.conname, k.conrelid, k.confrelid, k.conkey, k.confkey, k.confupdtype, k.confdeltype, k.confmatchtype, k.condeferrable, k.condeferred, k.convalidated, k.confdelsetcols
    FROM pg_catalog.pg_constraint AS k WHERE k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND NOT pg_catalog.starts_with(k.conname::pg_catalog.text, 'mint_fk_'::pg_catalog.text) AND EXISTS (SELECT FROM columns AS x WHERE
      x.relation OPERATOR(pg_catalog.=) k.conrelid AND x.number OPERATOR(pg_catalog.=) ANY (k.conkey) OR x.relation OPERATOR(pg_catalog.=) k.confrelid AND x.number OPERATOR(pg_catalog.=) ANY (k.confkey))),
  indexes AS (SELECT DISTINCT i.indexrelid, i.indrelid FROM columns AS x JOIN pg_catalog.pg_index AS i ON i.indrelid OPERATOR(pg_catalog.=) x.relation AND x.number OPERATOR(pg_catalog.=) ANY (i.indkey::pg_catalog.int2[]))
SELECT pg_catalog.jsonb_build_object(
  'columns', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('relation', x.relation::pg_catalog.int8, 'number', x.number, 'schema', x.nspname, 'table', x.relname, 'name', x.attname,
      'type', x.atttypid::pg_catalog.regtype::pg_catalog.text, 'is_narrow', x.atttypid OPERATOR(pg_catalog.=) ANY (SELECT z.oid FROM narrow AS z), 'not_null', x.attnotnull, 'identity', x.attidentity::pg_catalog.text, 'default', x.expression, 'owner', x.relowner::pg_catalog.int8,
      'owner_name', pg_catalog.pg_get_userbyid(x.relowner), 'kind', x.relkind::pg_catalog.text,
      'is_plain', x.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog."char" AND NOT x.relispartition AND x.attgenerated OPERATOR(pg_catalog.=) ''::pg_catalog."char" AND x.relpersistence OPERATOR(pg_catalog.<>) 't'::pg_catalog."char"
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid OPERATOR(pg_catalog.=) x.relation OR i.inhparent OPERATOR(pg_catalog.=) x.relation),
      'has_privileges', x.attacl IS NOT NULL, 'bytes', pg_catalog.pg_relation_size(x.relation::pg_catalog.regclass), 'comment', pg_catalog.col_description(x.relation, x.number::pg_catalog.int4),
      'new_type', (SELECT a.atttypid::pg_catalog.regtype::pg_catalog.text FROM pg_catalog.pg_attribute AS a WHERE a.attrelid OPERATOR(pg_catalog.=) x.relation AND NOT a.attisdropped AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_new_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text)),
      'old_type', (SELECT a.atttypid::pg_catalog.regtype::pg_catalog.text FROM pg_catalog.pg_attribute AS a WHERE a.attrelid OPERATOR(pg_catalog.=) x.relation AND NOT a.attisdropped AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_old_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text)),
      'has_trigger', EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid OPERATOR(pg_catalog.=) x.relation AND g.tgname::pg_catalog.text OPERATOR(pg_catalog.=) ('~mint_copy_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text) AND g.tgenabled OPERATOR(pg_catalog.=) 'A'::pg_catalog."char"),
      'filled', (SELECT k.convalidated FROM pg_catalog.pg_constraint AS k WHERE k.conrelid OPERATOR(pg_catalog.=) x.relation AND k.conname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_filled_'::pg_catalog.text OPERATOR(pg_catalog.||) x.attname::pg_catalog.text)),
      'dependents', (SELECT pg_catalog.jsonb_agg(DISTINCT pg_catalog.pg_describe_object(p.classid, p.objid, p.objsubid)) FROM pg_catalog.pg_depend AS p
        WHERE p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.refobjid OPERATOR(pg_catalog.=) x.relation AND p.refobjsubid OPERATOR(pg_catalog.=) x.number::pg_catalog.int4
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_attrdef AS d WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid AND d.oid OPERATOR(pg_catalog.=) p.objid AND d.adrelid OPERATOR(pg_catalog.=) x.relation AND d.adnum OPERATOR(pg_catalog.=) x.number)
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND c.oid OPERATOR(pg_catalog.=) p.objid AND c.relkind OPERATOR(pg_catalog.=) 'S'::pg_catalog."char")
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND i.indexrelid OPERATOR(pg_catalog.=) p.objid AND i.indpred IS NULL AND i.indexprs IS NULL)
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid AND k.oid OPERATOR(pg_catalog.=) p.objid
            AND (k.contype OPERATOR(pg_catalog.=) ANY (ARRAY['p'::pg_catalog."char", 'u'::pg_catalog."char", 'f'::pg_catalog."char", 'n'::pg_catalog."char"]) OR pg_catalog.starts_with(k.conname::pg_catalog.text, 'mint_filled_'::pg_catalog.text))))
    ) ORDER BY x.relation OPERATOR(pg_catalog.<>) $1::pg_catalog.oid, x.nspname, x.relname, x.number) FROM columns AS x),
  'indexes', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('oid', i.indexrelid::pg_catalog.int8, 'relation', i.indrelid::pg_catalog.int8, 'name', c.relname, 'schema', n.nspname,
      'is_unique', i.indisunique, 'is_replica_identity', i.indisreplident, 'is_clustered', i.indisclustered, 'is_valid', i.indisvalid, 'method', m.amname,
      'nulls_not_distinct', (pg_catalog.to_jsonb(i) OPERATOR(pg_catalog.->>) 'indnullsnotdistinct'::pg_catalog.text)::pg_catalog.bool, 'key_count', i.indnkeyatts,
      'options', pg_catalog.array_to_string(c.reloptions, ', '::pg_catalog.text), 'tablespace', (SELECT s.spcname FROM pg_catalog.pg_tablespace AS s WHERE s.oid OPERATOR(pg_catalog.=) c.reltablespace),
      'constraint', (SELECT pg_catalog.jsonb_build_object('name', k.conname, 'is_primary', k.contype OPERATOR(pg_catalog.=) 'p'::pg_catalog."char", 'deferrable', k.condeferrable, 'deferred', k.condeferred)
        FROM pg_catalog.pg_constraint AS k WHERE k.conindid OPERATOR(pg_catalog.=) i.indexrelid AND k.contype OPERATOR(pg_catalog.=) ANY (ARRAY['p'::pg_catalog."char", 'u'::pg_catalog."char"])),
      'columns', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('number', i.indkey[one.n], 'text', pg_catalog.pg_get_indexdef(i.indexrelid, one.n OPERATOR(pg_catalog.+) 1::pg_catalog.int4, false),
          'class', (SELECT CASE WHEN NOT o.opcdefault THEN pg_catalog.format('%I.%I'::pg_catalog.text, z.nspname, o.opcname) END FROM pg_catalog.pg_opclass AS o JOIN pg_catalog.pg_namespace AS z ON z.oid OPERATOR(pg_catalog.=) o.opcnamespace WHERE o.oid OPERATOR(pg_catalog.=) i.indclass[one.n]),
          'collation', (SELECT pg_catalog.format('%I.%I'::pg_catalog.text, z.nspname, o.collname) FROM pg_catalog.pg_collation AS o JOIN pg_catalog.pg_namespace AS z ON z.oid OPERATOR(pg_catalog.=) o.collnamespace
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) i.indkey[one.n] AND a.attcollation OPERATOR(pg_catalog.<>) o.oid WHERE o.oid OPERATOR(pg_catalog.=) i.indcollation[one.n]),
          'option', i.indoption[one.n]) ORDER BY one.n)
        FROM pg_catalog.generate_series(0, i.indnatts::pg_catalog.int4 OPERATOR(pg_catalog.-) 1::pg_catalog.int4) AS one (n)),
      'built', (SELECT b.indisvalid FROM pg_catalog.pg_class AS w JOIN pg_catalog.pg_index AS b ON b.indexrelid OPERATOR(pg_catalog.=) w.oid WHERE w.relnamespace OPERATOR(pg_catalog.=) c.relnamespace AND w.relname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_'::pg_catalog.text OPERATOR(pg_catalog.||) i.indexrelid::pg_catalog.text))
    ) ORDER BY i.indrelid, c.relname) FROM indexes AS y JOIN pg_catalog.pg_index AS i ON i.indexrelid OPERATOR(pg_catalog.=) y.indexrelid JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
      JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam WHERE i.indpred IS NULL AND i.indexprs IS NULL AND c.relname::pg_catalog.text OPERATOR(pg_catalog.!~) '^mint_[0-9]+$'::pg_catalog.text),
  'keys', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('oid', k.oid::pg_catalog.int8, 'name', k.conname, 'relation', k.conrelid::pg_catalog.int8, 'to', k.confrelid::pg_catalog.int8,
      'numbers', pg_catalog.to_jsonb(k.conkey), 'to_numbers', pg_catalog.to_jsonb(k.confkey), 'update', k.confupdtype::pg_catalog.text, 'delete', k.confdeltype::pg_catalog.text, 'match', k.confmatchtype::pg_catalog.text,
      'deferrable', k.condeferrable, 'deferred', k.condeferred, 'validated', k.convalidated, 'set_numbers', pg_catalog.to_jsonb(k.confdelsetcols),
      'built', (SELECT b.convalidated FROM pg_catalog.pg_constraint AS b WHERE b.conrelid OPERATOR(pg_catalog.=) k.conrelid AND b.conname::pg_catalog.text OPERATOR(pg_catalog.=) ('mint_fk_'::pg_catalog.text OPERATOR(pg_catalog.||) k.oid::pg_catalog.text))
    ) ORDER BY k.conname, k.oid) FROM keys AS k),
  -- Names of columns by table and number.
  'names', (SELECT pg_catalog.jsonb_object_agg(pg_catalog.format('%s.%s'::pg_catalog.text, a.attrelid, a.attnum), a.attname) FROM pg_catalog.pg_attribute AS a
    WHERE a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped AND EXISTS (SELECT FROM keys AS k WHERE a.attrelid OPERATOR(pg_catalog.=) k.conrelid OR a.attrelid OPERATOR(pg_catalog.=) k.confrelid)),
  'tables', (SELECT pg_catalog.jsonb_object_agg(c.oid::pg_catalog.text, pg_catalog.format('%I.%I'::pg_catalog.text, n.nspname, c.relname)) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE EXISTS (SELECT FROM keys AS k WHERE c.oid OPERATOR(pg_catalog.=) k.conrelid OR c.oid OPERATOR(pg_catalog.=) k.confrelid) OR EXISTS (SELECT FROM columns AS x WHERE x.relation OPERATOR(pg_catalog.=) c.oid))
)
