-- What the catalogs say of a table and of its column: one jsonb, see src/adopt/convert/table.rs. $1 is the oid of the table, $2 the name
-- of the column.
WITH RECURSIVE
  target AS (SELECT c.oid, c.relname, c.relnamespace, c.relkind, c.relpersistence, c.relowner, c.relforcerowsecurity,
      c.relispartition, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attidentity, a.attgenerated
    FROM pg_catalog.pg_class AS c LEFT JOIN pg_catalog.pg_attribute AS a
      ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attname OPERATOR(pg_catalog.=) $2::pg_catalog.name AND NOT a.attisdropped AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2
    WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.oid),
  base AS (SELECT t.atttypid AS type FROM target AS t
    UNION ALL SELECT y.typbasetype FROM base AS b JOIN pg_catalog.pg_type AS y ON y.oid OPERATOR(pg_catalog.=) b.type WHERE y.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char"),
  -- The table and all below it.
  tree AS (SELECT t.oid, 0::pg_catalog.int4 AS depth FROM target AS t
    UNION ALL SELECT i.inhrelid, r.depth OPERATOR(pg_catalog.+) 1::pg_catalog.int4 FROM tree AS r JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) r.oid),
  member AS (SELECT r.oid, pg_catalog.min(r.depth) AS depth FROM tree AS r GROUP BY r.oid),
  columns AS (SELECT m.oid, m.depth, c.relname, c.relnamespace, c.relkind, c.relowner, c.relforcerowsecurity,
      a.attnum, a.attidentity, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression, d.oid AS adoid
    FROM member AS m JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) m.oid CROSS JOIN target AS t
    LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) m.oid AND a.attname OPERATOR(pg_catalog.=) t.attname AND NOT a.attisdropped
    LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) m.oid AND d.adnum OPERATOR(pg_catalog.=) a.attnum),
  -- Types that cannot hold the ids, and domains over them.
  narrow AS (SELECT y.oid FROM pg_catalog.pg_type AS y WHERE y.oid OPERATOR(pg_catalog.=) ANY ('{21,23}'::pg_catalog.oid[])
    UNION SELECT y.oid FROM narrow AS z JOIN pg_catalog.pg_type AS y ON y.typbasetype OPERATOR(pg_catalog.=) z.oid AND y.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char"),
  -- Sequences that the column is, owns, or takes its default from, in any table of the tree.
  used AS (SELECT p.objid AS oid, 'identity'::pg_catalog.text AS how, x.oid AS relation FROM columns AS x JOIN pg_catalog.pg_depend AS p
      ON p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
        AND p.refobjid OPERATOR(pg_catalog.=) x.oid AND p.refobjsubid OPERATOR(pg_catalog.=) x.attnum::pg_catalog.int4 AND p.deptype OPERATOR(pg_catalog.=) 'i'::pg_catalog."char"
    UNION SELECT p.objid, 'owned'::pg_catalog.text, x.oid FROM columns AS x JOIN pg_catalog.pg_depend AS p
      ON p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
        AND p.refobjid OPERATOR(pg_catalog.=) x.oid AND p.refobjsubid OPERATOR(pg_catalog.=) x.attnum::pg_catalog.int4 AND p.deptype OPERATOR(pg_catalog.=) 'a'::pg_catalog."char"
    UNION SELECT p.refobjid, 'default'::pg_catalog.text, x.oid FROM columns AS x JOIN pg_catalog.pg_depend AS p
      ON p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid AND p.objid OPERATOR(pg_catalog.=) x.adoid
        AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.deptype OPERATOR(pg_catalog.=) 'n'::pg_catalog."char"),
  sequences AS (SELECT u.oid, pg_catalog.bool_or(u.how OPERATOR(pg_catalog.=) 'identity'::pg_catalog.text) AS is_identity, pg_catalog.bool_or(u.how OPERATOR(pg_catalog.=) 'owned'::pg_catalog.text) AS is_owned,
      pg_catalog.bool_or(u.how OPERATOR(pg_catalog.=) 'default'::pg_catalog.text) AS in_default
    FROM used AS u JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) u.oid AND c.relkind OPERATOR(pg_catalog.=) 'S'::pg_catalog."char" GROUP BY u.oid),
  -- The columns that refer to this one by foreign keys, and those that refer to them.
  referring AS (SELECT k.conrelid AS relation, k.conkey[one.n] AS number, k.conname
    FROM pg_catalog.pg_constraint AS k CROSS JOIN LATERAL pg_catalog.generate_subscripts(k.confkey, 1) AS one (n) JOIN target AS t
      ON k.confrelid OPERATOR(pg_catalog.=) t.oid AND k.confkey[one.n] OPERATOR(pg_catalog.=) t.attnum WHERE k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND k.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
    UNION SELECT k.conrelid, k.conkey[one.n], k.conname
    FROM referring AS r JOIN pg_catalog.pg_constraint AS k ON k.confrelid OPERATOR(pg_catalog.=) r.relation AND k.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog."char" AND k.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
      CROSS JOIN LATERAL pg_catalog.generate_subscripts(k.confkey, 1) AS one (n) WHERE k.confkey[one.n] OPERATOR(pg_catalog.=) r.number)
SELECT pg_catalog.jsonb_build_object(
  'oid', t.oid::pg_catalog.int8, 'schema', n.nspname, 'name', t.relname,
  'persistence', t.relpersistence::pg_catalog.text, 'owner', t.relowner::pg_catalog.int8, 'owner_name', pg_catalog.pg_get_userbyid(t.relowner),
  'can_create', pg_catalog.has_schema_privilege(t.relowner, t.relnamespace, 'CREATE'::pg_catalog.text),
  'parent', (SELECT i.inhparent::pg_catalog.regclass::pg_catalog.text FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid OPERATOR(pg_catalog.=) t.oid LIMIT 1::pg_catalog.int8),
  'column', CASE WHEN t.attnum IS NOT NULL THEN pg_catalog.jsonb_build_object(
    'number', t.attnum, 'name', t.attname, 'type', (SELECT b.type::pg_catalog.regtype::pg_catalog.text FROM base AS b JOIN pg_catalog.pg_type AS y ON y.oid OPERATOR(pg_catalog.=) b.type AND y.typtype OPERATOR(pg_catalog.<>) 'd'::pg_catalog."char"),
    'type_name', pg_catalog.format_type(t.atttypid, t.atttypmod), 'type_oid', t.atttypid::pg_catalog.int8, 'type_modifier', t.atttypmod,
    'identity', t.attidentity::pg_catalog.text, 'generated', t.attgenerated::pg_catalog.text,
    'default', (SELECT x.expression FROM columns AS x WHERE x.depth OPERATOR(pg_catalog.=) 0::pg_catalog.int4)) END,
  'below', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'oid', x.oid::pg_catalog.int8, 'schema', y.nspname, 'name', x.relname, 'kind', x.relkind::pg_catalog.text, 'owner', x.relowner::pg_catalog.int8,
      'identity', x.attidentity::pg_catalog.text, 'default', x.expression) ORDER BY x.depth, y.nspname, x.relname)
    FROM columns AS x JOIN pg_catalog.pg_namespace AS y ON y.oid OPERATOR(pg_catalog.=) x.relnamespace WHERE x.depth OPERATOR(pg_catalog.>) 0::pg_catalog.int4),
  'force_row_security', (SELECT pg_catalog.bool_or(x.relforcerowsecurity) FROM columns AS x),
  'unindexed', (SELECT pg_catalog.jsonb_agg(x.oid::pg_catalog.regclass::pg_catalog.text ORDER BY x.oid::pg_catalog.regclass::pg_catalog.text) FROM columns AS x
    WHERE x.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog."char" AND NOT EXISTS (SELECT FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS ic ON ic.oid OPERATOR(pg_catalog.=) i.indexrelid JOIN pg_catalog.pg_am AS am ON am.oid OPERATOR(pg_catalog.=) ic.relam
      WHERE i.indrelid OPERATOR(pg_catalog.=) x.oid AND i.indisvalid AND i.indpred IS NULL AND i.indkey[0] OPERATOR(pg_catalog.=) x.attnum AND am.amname OPERATOR(pg_catalog.=) 'btree'::pg_catalog.name)),
  'narrow', (SELECT pg_catalog.jsonb_agg(DISTINCT pg_catalog.format('%s.%I'::pg_catalog.text, r.relation::pg_catalog.regclass, a.attname)) FROM referring AS r
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) r.relation AND a.attnum OPERATOR(pg_catalog.=) r.number
    WHERE a.atttypid OPERATOR(pg_catalog.=) ANY (SELECT z.oid FROM narrow AS z)),
  'sequences', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'oid', q.oid::pg_catalog.int8, 'schema', y.nspname, 'name', c.relname, 'owner', c.relowner::pg_catalog.int8, 'persistence', c.relpersistence::pg_catalog.text,
      'is_identity', q.is_identity, 'is_owned', q.is_owned, 'in_default', q.in_default,
      'type', s.seqtypid::pg_catalog.regtype::pg_catalog.text, 'start', s.seqstart, 'increment', s.seqincrement, 'min', s.seqmin, 'max', s.seqmax,
      'cache', s.seqcache, 'cycle', s.seqcycle, 'comment', pg_catalog.obj_description(q.oid, 'pg_class'::pg_catalog.name),
      'acl', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('role', CASE WHEN g.grantee OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN pg_catalog.pg_get_userbyid(g.grantee) END, 'privilege', g.privilege_type,
          'is_grantable', g.is_grantable, 'is_owners', g.grantor OPERATOR(pg_catalog.=) c.relowner) ORDER BY pg_catalog.pg_get_userbyid(g.grantee), g.privilege_type) FROM pg_catalog.aclexplode(c.relacl) AS g),
      'owned_by', (SELECT pg_catalog.format('%s.%I'::pg_catalog.text, p.refobjid::pg_catalog.regclass, a.attname) FROM pg_catalog.pg_depend AS p JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) p.refobjid AND a.attnum::pg_catalog.int4 OPERATOR(pg_catalog.=) p.refobjsubid
        WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.objid OPERATOR(pg_catalog.=) q.oid AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.deptype OPERATOR(pg_catalog.=) ANY (ARRAY['a'::pg_catalog."char", 'i'::pg_catalog."char"]) LIMIT 1::pg_catalog.int8),
      'others', (SELECT pg_catalog.jsonb_agg(DISTINCT pg_catalog.format('%s.%I'::pg_catalog.text, d.adrelid::pg_catalog.regclass, a.attname)) FROM pg_catalog.pg_depend AS p JOIN pg_catalog.pg_attrdef AS d ON d.oid OPERATOR(pg_catalog.=) p.objid
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid AND a.attnum OPERATOR(pg_catalog.=) d.adnum
        WHERE p.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid AND p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.refobjid OPERATOR(pg_catalog.=) q.oid
          AND NOT EXISTS (SELECT FROM columns AS x WHERE x.adoid OPERATOR(pg_catalog.=) d.oid)),
      'dependents', (SELECT pg_catalog.jsonb_agg(DISTINCT pg_catalog.pg_describe_object(p.classid, p.objid, p.objsubid)) FROM pg_catalog.pg_depend AS p
        WHERE p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid AND p.refobjid OPERATOR(pg_catalog.=) q.oid AND p.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_attrdef'::pg_catalog.regclass::pg_catalog.oid)
      ) ORDER BY q.oid)
    FROM sequences AS q JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) q.oid JOIN pg_catalog.pg_namespace AS y ON y.oid OPERATOR(pg_catalog.=) c.relnamespace JOIN pg_catalog.pg_sequence AS s ON s.seqrelid OPERATOR(pg_catalog.=) q.oid),
  -- The constraints of its partitions, where it is partitioned by this column alone. Of a table that is itself a partition, the
  -- server would evaluate expressions in the keys of the tables above.
  'partitions', (SELECT pg_catalog.jsonb_agg(pg_catalog.pg_get_partition_constraintdef(i.inhrelid) ORDER BY i.inhrelid)
    FROM pg_catalog.pg_partitioned_table AS r JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) r.partrelid
    WHERE NOT t.relispartition AND r.partrelid OPERATOR(pg_catalog.=) t.oid AND r.partnatts OPERATOR(pg_catalog.=) 1::pg_catalog.int2 AND r.partattrs[0] OPERATOR(pg_catalog.=) t.attnum
      AND r.partstrat OPERATOR(pg_catalog.<>) 'h'::pg_catalog."char"),
  -- The checks of the column alone, which an INSERT meets.
  'checks', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', k.conname,
      'text', pg_catalog.pg_get_expr(k.conbin, k.conrelid)) ORDER BY k.conname)
    FROM pg_catalog.pg_constraint AS k
    WHERE k.conrelid OPERATOR(pg_catalog.=) t.oid AND k.contype OPERATOR(pg_catalog.=) 'c'::pg_catalog."char"
      AND k.conkey OPERATOR(pg_catalog.=) ARRAY[t.attnum]
      AND (pg_catalog.to_jsonb(k) OPERATOR(pg_catalog.->>) 'conenforced'::pg_catalog.text)::pg_catalog.bool IS NOT FALSE),
  'default_roles', (SELECT pg_catalog.jsonb_agg(DISTINCT CASE WHEN g.grantee OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN pg_catalog.pg_get_userbyid(g.grantee) END)
    FROM pg_catalog.pg_default_acl AS d CROSS JOIN LATERAL pg_catalog.aclexplode(d.defaclacl) AS g
    WHERE d.defaclrole OPERATOR(pg_catalog.=) t.relowner AND d.defaclobjtype OPERATOR(pg_catalog.=) 'S'::pg_catalog."char"
      AND d.defaclnamespace OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, t.relnamespace]) AND g.grantee OPERATOR(pg_catalog.<>) t.relowner),
  'referring', (SELECT pg_catalog.jsonb_agg(DISTINCT r.relation::pg_catalog.int8) FROM referring AS r),
  'publications', (SELECT pg_catalog.jsonb_agg(DISTINCT p.pubname) FROM pg_catalog.pg_publication AS p LEFT JOIN pg_catalog.pg_publication_rel AS r ON r.prpubid OPERATOR(pg_catalog.=) p.oid
    LEFT JOIN pg_catalog.pg_publication_namespace AS z ON z.pnpubid OPERATOR(pg_catalog.=) p.oid
    WHERE p.puballtables OR r.prrelid OPERATOR(pg_catalog.=) t.oid OR z.pnnspid OPERATOR(pg_catalog.=) t.relnamespace)
)
FROM target AS t JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.relnamespace
