-- What the catalogs say of a table and of its column: one jsonb, see src/adopt/convert/table.rs. $1 is the
-- oid of the table, $2 the name of the column.
WITH RECURSIVE
  -- The table and the column, whose fields are null if there is none of that name.
  target AS (
    SELECT
      c.*,
      a.attnum,
      a.attname,
      a.atttypid,
      a.atttypmod,
      a.attnotnull,
      a.attidentity,
      a.attgenerated
    FROM pg_class AS c
    LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid
      AND a.attname = $2::name
      AND NOT a.attisdropped
      AND a.attnum > 0
    WHERE c.oid = $1::oid
  ),
  -- The table and all below it, by each way that leads there.
  tree AS (
    SELECT t.oid, 0 AS depth
    FROM target AS t
    UNION ALL
    SELECT i.inhrelid, r.depth + 1
    FROM tree AS r
    JOIN pg_inherits AS i ON i.inhparent = r.oid
  ),
  -- The same, each table once.
  member AS (
    SELECT r.oid, min(r.depth) AS depth
    FROM tree AS r
    GROUP BY r.oid
  ),
  -- The column in each of these tables.
  columns AS (
    SELECT
      m.oid,
      m.depth,
      c.relname,
      c.relnamespace,
      c.relkind,
      c.relowner,
      c.relforcerowsecurity,
      a.attnum,
      a.attidentity,
      pg_get_expr(d.adbin, d.adrelid) AS expression,
      CASE WHEN octet_length(d.adbin::text) <= 8192 THEN d.adbin::text END AS tree,
      d.oid AS adoid
    FROM member AS m
    JOIN pg_class AS c ON c.oid = m.oid
    CROSS JOIN target AS t
    LEFT JOIN pg_attribute AS a ON a.attrelid = m.oid AND a.attname = t.attname AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = m.oid AND d.adnum = a.attnum
  ),
  -- What the column is, owns, or takes its default from, in any table of the tree.
  used AS (
    SELECT p.objid AS oid, CASE p.deptype WHEN 'i' THEN 'identity' ELSE 'owned' END AS how
    FROM columns AS x
    JOIN pg_depend AS p ON p.classid = 'pg_class'::regclass
      AND p.refclassid = 'pg_class'::regclass
      AND p.refobjid = x.oid
      AND p.refobjsubid = x.attnum::int4
      AND p.deptype IN ('a', 'i')
    UNION
    SELECT p.refobjid, 'default'
    FROM columns AS x
    JOIN pg_depend AS p ON p.classid = 'pg_attrdef'::regclass
      AND p.objid = x.adoid
      AND p.refclassid = 'pg_class'::regclass
      AND p.deptype = 'n'
  ),
  -- The sequences among them.
  sequences AS (
    SELECT
      u.oid,
      bool_or(u.how = 'identity') AS is_identity,
      bool_or(u.how = 'owned') AS is_owned,
      bool_or(u.how = 'default') AS in_default
    FROM used AS u
    JOIN pg_class AS c ON c.oid = u.oid AND c.relkind = 'S'
    GROUP BY u.oid
  ),
  -- The column, those that refer to it by foreign keys, and those that refer to them.
  linked AS (
    SELECT t.oid AS relation, t.attnum AS number
    FROM target AS t
    UNION
    SELECT k.conrelid, k.conkey[one.n]
    FROM linked AS l
    JOIN pg_constraint AS k ON k.confrelid = l.relation AND k.contype = 'f' AND k.conparentid = 0
    CROSS JOIN LATERAL generate_subscripts(k.confkey, 1) AS one (n)
    JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[one.n]
    WHERE k.confkey[one.n] = l.number
      -- As in convert_closure.sql.
      AND NOT (k.conname::text ~ '^mint_fk_[0-9]+$' AND a.attname::text ~ '^mint_(new|old)_')
  )
SELECT jsonb_build_object(
  'oid', t.oid::int8,
  'schema', n.nspname,
  'name', t.relname,
  'persistence', t.relpersistence::text,
  'owner', t.relowner::int8,
  'owner_name', pg_get_userbyid(t.relowner),
  'can_create', has_schema_privilege(t.relowner, t.relnamespace, 'CREATE'),
  'parent', (
    SELECT i.inhparent::regclass::text
    FROM pg_inherits AS i
    WHERE i.inhrelid = t.oid
    LIMIT 1
  ),
  'column', CASE WHEN t.attnum IS NOT NULL THEN jsonb_build_object(
    'number', t.attnum,
    'name', t.attname,
    'type_name', format_type(t.atttypid, t.atttypmod),
    'type_oid', t.atttypid::int8,
    'identity', t.attidentity::text,
    'generated', t.attgenerated::text,
    'default', (SELECT x.expression FROM columns AS x WHERE x.depth = 0),
    'tree', (SELECT x.tree FROM columns AS x WHERE x.depth = 0)
  ) END,
  'below', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'oid', x.oid::int8,
        'schema', y.nspname,
        'name', x.relname,
        'kind', x.relkind::text,
        'owner', x.relowner::int8,
        'number', x.attnum,
        'identity', x.attidentity::text,
        'default', x.expression
      )
      ORDER BY x.depth, y.nspname, x.relname
    )
    FROM columns AS x
    JOIN pg_namespace AS y ON y.oid = x.relnamespace
    WHERE x.depth > 0
  ),
  'force_row_security', (SELECT bool_or(x.relforcerowsecurity) FROM columns AS x),
  'unindexed', (
    SELECT jsonb_agg(x.oid::regclass::text ORDER BY x.oid::regclass::text)
    FROM columns AS x
    WHERE x.relkind = 'r'
      AND NOT EXISTS (
        SELECT
        FROM pg_index AS i
        JOIN pg_class AS ic ON ic.oid = i.indexrelid
        JOIN pg_am AS am ON am.oid = ic.relam
        WHERE i.indrelid = x.oid
          AND i.indisvalid
          AND i.indpred IS NULL
          AND i.indkey[0] = x.attnum
          AND am.amname = 'btree'
      )
  ),
  'sequences', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'oid', q.oid::int8,
        'schema', y.nspname,
        'name', c.relname,
        'owner', c.relowner::int8,
        'persistence', c.relpersistence::text,
        'is_identity', q.is_identity,
        'is_owned', q.is_owned,
        'in_default', q.in_default,
        'has_column_grants', EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = q.oid AND a.attacl IS NOT NULL),
        'type', s.seqtypid::regtype::text,
        'start', s.seqstart,
        'increment', s.seqincrement,
        'min', s.seqmin,
        'max', s.seqmax,
        'cache', s.seqcache,
        'cycle', s.seqcycle,
        'comment', obj_description(q.oid, 'pg_class'),
        'acl', (
          SELECT jsonb_agg(
            jsonb_build_object(
              'role', CASE WHEN g.grantee <> 0 THEN pg_get_userbyid(g.grantee) END,
              'privilege', g.privilege_type,
              'is_grantable', g.is_grantable,
              'is_owners', g.grantor = c.relowner
            )
            ORDER BY pg_get_userbyid(g.grantee), g.privilege_type
          )
          FROM aclexplode(c.relacl) AS g
        ),
        'owned_by', (
          SELECT format('%s.%I', p.refobjid::regclass, a.attname)
          FROM pg_depend AS p
          JOIN pg_attribute AS a ON a.attrelid = p.refobjid AND a.attnum::int4 = p.refobjsubid
          WHERE p.classid = 'pg_class'::regclass
            AND p.objid = q.oid
            AND p.refclassid = 'pg_class'::regclass
            AND p.deptype IN ('a', 'i')
          LIMIT 1
        ),
        'others', (
          SELECT jsonb_agg(DISTINCT format('%s.%I', d.adrelid::regclass, a.attname))
          FROM pg_depend AS p
          JOIN pg_attrdef AS d ON d.oid = p.objid
          JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
          WHERE p.classid = 'pg_attrdef'::regclass
            AND p.refclassid = 'pg_class'::regclass
            AND p.refobjid = q.oid
            AND NOT EXISTS (SELECT FROM columns AS x WHERE x.adoid = d.oid)
        ),
        'dependents', (
          SELECT jsonb_agg(DISTINCT pg_describe_object(p.classid, p.objid, p.objsubid))
          FROM pg_depend AS p
          WHERE p.refclassid = 'pg_class'::regclass
            AND p.refobjid = q.oid
            AND p.classid <> 'pg_attrdef'::regclass
        ),
        -- The same but for what only reads its row: that names columns of it, and a call has the sequence itself.
        'callers', (
          SELECT jsonb_agg(DISTINCT pg_describe_object(p.classid, p.objid, p.objsubid))
          FROM pg_depend AS p
          LEFT JOIN pg_rewrite AS r ON p.classid = 'pg_rewrite'::regclass AND r.oid = p.objid
          LEFT JOIN pg_proc AS f ON p.classid = 'pg_proc'::regclass AND f.oid = p.objid
          WHERE p.refclassid = 'pg_class'::regclass
            AND p.refobjid = q.oid
            AND p.classid <> 'pg_attrdef'::regclass
            -- The dependency on a column takes the place of that on the sequence; 1574 is nextval().
            AND (
              p.refobjsubid = 0
              OR strpos(concat(r.ev_qual::text, r.ev_action::text, f.prosqlbody::text), ':funcid 1574 ') > 0
            )
        )
      )
      ORDER BY q.oid
    )
    FROM sequences AS q
    JOIN pg_class AS c ON c.oid = q.oid
    JOIN pg_namespace AS y ON y.oid = c.relnamespace
    JOIN pg_sequence AS s ON s.seqrelid = q.oid
  ),
  -- What keeps its type as it is: the key of a partitioned table, the type of a typed one.
  'fixed_by', CASE
    WHEN EXISTS (
      SELECT
      FROM columns AS x
      JOIN pg_partitioned_table AS r ON r.partrelid = x.oid
      WHERE x.attnum = ANY (r.partattrs) OR strpos(r.partexprs::text, format(':varattno %s ', x.attnum)) > 0
    )
      THEN 'key'
    WHEN t.reloftype <> 0 THEN 'type'
  END,
  -- Rules and triggers with a cast of NEW or OLD: int4(int8), int2(int8) and oid(int8). Other roles can have made triggers.
  'narrowing', (
    SELECT jsonb_agg(format('%s "%s"', e.kind, e.name) ORDER BY e.kind, e.name)
    FROM (
      SELECT 'rule', r.rulename, concat(r.ev_qual::text, r.ev_action::text)
      FROM pg_rewrite AS r
      WHERE r.ev_class = t.oid
      UNION ALL
      SELECT 'trigger', g.tgname, g.tgqual::text
      FROM pg_trigger AS g
      WHERE g.tgrelid = t.oid
    ) AS e (kind, name, tree)
    WHERE e.tree ~ format('{FUNCEXPR :funcid (480|714|1287) [^{}]*:args [(]{VAR :varno [12] :varattno %s ', t.attnum)
  ),
  'default_roles', (
    SELECT jsonb_agg(DISTINCT CASE WHEN g.grantee <> 0 THEN pg_get_userbyid(g.grantee) END)
    FROM pg_default_acl AS d
    CROSS JOIN LATERAL aclexplode(d.defaclacl) AS g
    WHERE d.defaclrole = t.relowner
      AND d.defaclobjtype = 'S'
      AND d.defaclnamespace = ANY (ARRAY[0::oid, t.relnamespace])
      AND g.grantee <> t.relowner
  ),
  'referring', (
    SELECT jsonb_agg(
      jsonb_build_object(
        'relation', l.relation::int8,
        'number', l.number,
        'name', format('%s.%I', l.relation::regclass, a.attname),
        'type', a.atttypid::int8
      )
      ORDER BY l.relation::regclass::text, a.attname
    )
    FROM linked AS l
    JOIN pg_attribute AS a ON a.attrelid = l.relation AND a.attnum = l.number
    WHERE l.relation <> t.oid OR l.number <> t.attnum
  ),
  'publications', (
    SELECT jsonb_agg(DISTINCT p.pubname)
    FROM pg_publication AS p
    LEFT JOIN pg_publication_rel AS r ON r.prpubid = p.oid
    LEFT JOIN pg_publication_namespace AS z ON z.pnpubid = p.oid
    WHERE p.puballtables OR r.prrelid = t.oid OR z.pnnspid = t.relnamespace
  )
)
FROM target AS t
JOIN pg_namespace AS n ON n.oid = t.relnamespace
