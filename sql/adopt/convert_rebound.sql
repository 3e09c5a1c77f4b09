-- What is parsed again with a column of another type, and calls what could then be another object of that name, or has values
-- of a type of a user: one jsonb, see src/adopt/convert/checks/rebound.rs. $1 has the oids of tables, $2 the numbers of their
-- columns, $3 whether only checks are meant.
--
-- The server prints each argument of a function or an operator with its cast. So the text means another one only if it
-- takes an integer, or any type; if there is a namesake, or others than the owner can create one in its schema. The owner
-- of a schema can put another one in the place of any. The server's own objects have no dependencies.
WITH RECURSIVE
  target AS (
    SELECT t.relation, t.number
    FROM unnest($1::oid[], $2::int2[]) AS t (relation, number)
  ),
  owner AS (
    SELECT c.relowner
    FROM target AS t
    JOIN pg_class AS c ON c.oid = t.relation
    LIMIT 1
  ),
  -- How a role can use what the owner may. Since PostgreSQL 16, members might not.
  used AS (
    SELECT CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END
  ),
  -- The columns, their domains, and all that depends on these; of views all that is theirs.
  found AS (
    SELECT 'pg_class'::regclass::oid AS class, t.relation AS object, t.number::int4 AS number
    FROM target AS t
    UNION
    SELECT n.class, n.object, n.number
    FROM found AS f
    CROSS JOIN LATERAL (
      SELECT p.classid AS class, p.objid AS object, 0 AS number
      FROM pg_depend AS p
      LEFT JOIN pg_class AS c ON p.classid = 'pg_class'::regclass AND c.oid = p.objid
      WHERE p.refclassid = f.class
        AND p.refobjid = f.object
        AND (f.number = 0 OR p.refobjsubid = f.number)
        AND f.class IN ('pg_class'::regclass, 'pg_type'::regclass)
        AND (
          c.relkind IN ('i', 'I') AND f.number > 0
          OR p.classid = 'pg_constraint'::regclass
          OR f.class = 'pg_class'::regclass AND p.classid NOT IN ('pg_class'::regclass, 'pg_type'::regclass)
        )
      UNION ALL
      SELECT 'pg_class'::regclass, r.ev_class, 0
      FROM pg_rewrite AS r
      JOIN pg_class AS c ON c.oid = r.ev_class AND c.relkind = 'v'
      WHERE f.class = 'pg_rewrite'::regclass AND r.oid = f.object
      UNION ALL
      SELECT 'pg_type'::regclass, y.oid, 0
      FROM pg_attribute AS a
      JOIN pg_type AS y ON y.oid = a.atttypid AND y.typtype = 'd'
      WHERE f.class = 'pg_class'::regclass AND a.attrelid = f.object AND a.attnum::int4 = f.number
      UNION ALL
      SELECT 'pg_type'::regclass, b.oid, 0
      FROM pg_type AS y
      JOIN pg_type AS b ON b.oid = y.typbasetype AND b.typtype = 'd'
      WHERE f.class = 'pg_type'::regclass AND y.oid = f.object
    ) AS n
  ),
  called AS (
    SELECT DISTINCT f.class, f.object, p.refclassid, p.refobjid, p.objsubid
    FROM found AS f
    JOIN pg_depend AS p ON p.classid = f.class AND p.objid = f.object
    WHERE (NOT $3::bool OR f.class = 'pg_constraint'::regclass)
      -- The key of a partitioned table depends as the table itself.
      AND (f.number = 0 OR f.class <> 'pg_class'::regclass OR p.objsubid = 0)
      AND NOT EXISTS (
        SELECT
        FROM pg_trigger AS g
        WHERE f.class = 'pg_trigger'::regclass AND g.oid = f.object AND g.tgfoid = p.refobjid
      )
      -- What another role has written is not parsed again as the owner.
      AND NOT EXISTS (
        SELECT
        FROM pg_rewrite AS r
        JOIN pg_class AS c ON c.oid = r.ev_class
        WHERE f.class = 'pg_rewrite'::regclass AND r.oid = f.object AND c.relowner <> (TABLE owner)
      )
  ),
  -- The types of constants and casts.
  type AS (
    SELECT c.class, c.object, c.refobjid AS oid
    FROM called AS c
    WHERE c.refclassid = 'pg_type'::regclass
      AND c.refobjid >= 16384
      -- Columns have the types of what they show, and domains are looked at in convert_new_ids.sql.
      AND c.class <> 'pg_type'::regclass
      AND c.objsubid = 0
      AND NOT EXISTS (
        SELECT
        FROM pg_constraint AS k
        WHERE c.class = 'pg_constraint'::regclass AND k.oid = c.object AND k.contypid <> 0
          AND (k.contypid = c.refobjid OR EXISTS (
            SELECT
            FROM pg_type AS y
            WHERE y.oid = k.contypid AND NOT pg_has_role(y.typowner, (TABLE owner), (TABLE used))
          ))
      )
  ),
  -- Functions and operators by their arguments, and types into which integers are cast by what their owners say.
  loose AS (
    SELECT
      c.class,
      c.object,
      p.oid::regprocedure::text AS name,
      p.pronamespace AS schema,
      EXISTS (
        SELECT
        FROM pg_proc AS q
        WHERE q.proname = p.proname
          AND q.pronamespace = p.pronamespace
          AND q.oid <> p.oid
          AND (
            q.pronargs = p.pronargs
            OR p.pronargdefaults + q.pronargdefaults > 0
            OR p.provariadic <> 0
            OR q.provariadic <> 0
          )
      ) AS has_namesake,
      p.proargtypes::oid[] AS types
    FROM called AS c
    JOIN pg_proc AS p ON p.oid = c.refobjid AND c.refclassid = 'pg_proc'::regclass
    UNION ALL
    SELECT
      c.class,
      c.object,
      p.oid::regoperator::text,
      p.oprnamespace,
      EXISTS (
        SELECT
        FROM pg_operator AS q
        WHERE q.oprname = p.oprname
          AND q.oprnamespace = p.oprnamespace
          AND q.oprkind = p.oprkind
          AND q.oid <> p.oid
      ),
      ARRAY[p.oprleft, p.oprright]
    FROM called AS c
    JOIN pg_operator AS p ON p.oid = c.refobjid AND c.refclassid = 'pg_operator'::regclass
    UNION ALL
    SELECT c.class, c.object, 'type ' || y.oid::regtype::text, y.typnamespace, false, ARRAY[k.castsource]
    FROM called AS c
    JOIN pg_type AS y ON y.oid = c.refobjid AND c.refclassid = 'pg_type'::regclass
    JOIN pg_cast AS k ON k.casttarget = y.oid
    WHERE NOT pg_has_role(y.typowner, (TABLE owner), (TABLE used))
  ),
  -- What a text only names: relations, views themselves, and the functions of triggers.
  mentioned AS (
    SELECT c.class, c.object, 'relation ' || r.oid::regclass::text AS name, r.relnamespace AS schema
    FROM called AS c
    JOIN pg_class AS r ON c.refclassid = 'pg_class'::regclass AND r.oid = c.refobjid
    UNION
    SELECT f.class, f.object, 'relation ' || r.oid::regclass::text, r.relnamespace
    FROM found AS f
    JOIN pg_class AS r ON f.class = 'pg_class'::regclass AND r.oid = f.object
    WHERE r.relkind = 'v' AND r.relowner = (TABLE owner)
    UNION
    SELECT f.class, f.object, p.oid::regprocedure::text, p.pronamespace
    FROM found AS f
    JOIN pg_trigger AS g ON f.class = 'pg_trigger'::regclass AND g.oid = f.object
    JOIN pg_proc AS p ON p.oid = g.tgfoid AND p.oid >= 16384
    WHERE NOT g.tgisinternal
  )
SELECT jsonb_agg(DISTINCT jsonb_build_object(
  'object', pg_describe_object(one.class, one.object, 0),
  -- The rule of a view is the view.
  'key', jsonb_build_array(
    CASE WHEN r.oid IS NULL THEN one.class ELSE 'pg_class'::regclass END::oid::int8,
    coalesce(r.ev_class, one.object)::int8
  ),
  'type', one.type::int8,
  'called', one.called,
  'schema', one.schema,
  'has_namesake', one.has_namesake,
  'role', one.role::int8
))
FROM (
  SELECT t.class, t.object, t.oid, '', '', false, 0
  FROM type AS t
  UNION ALL
  SELECT l.class, l.object, 0, l.name, n.nspname::text, l.has_namesake, 0
  FROM loose AS l
  JOIN pg_namespace AS n ON n.oid = l.schema
  CROSS JOIN LATERAL (
    SELECT
      bool_or(r.is_owner) AS is_theirs,
      count(*) > 0 AS is_open
    FROM (
      SELECT n.nspowner, true
      UNION ALL
      SELECT g.grantee, false
      FROM aclexplode(n.nspacl) AS g
      WHERE g.privilege_type = 'CREATE'
    ) AS r (role, is_owner)
    CROSS JOIN LATERAL (
      SELECT CASE
        WHEN r.role = 'pg_database_owner'::regrole
          THEN (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
        ELSE r.role
      END
    ) AS w (role)
    WHERE w.role = 0 OR NOT pg_has_role(w.role, (TABLE owner), (TABLE used))
  ) AS others
  WHERE others.is_theirs
    -- The checks of a domain of another role are not parsed again.
    AND NOT EXISTS (
      SELECT
      FROM pg_constraint AS k
      JOIN pg_type AS y ON y.oid = k.contypid
      WHERE l.class = 'pg_constraint'::regclass
        AND k.oid = l.object
        AND NOT pg_has_role(y.typowner, (TABLE owner), (TABLE used))
    )
    OR (l.has_namesake OR others.is_open) AND EXISTS (
      SELECT
      FROM pg_type AS y
      WHERE y.oid = ANY (l.types)
        AND (
          y.typtype IN ('p', 'd')
          OR y.oid = ANY ('{int2,int4,int8,int2[],int4[],int8[]}'::regtype[])
        )
    )
  UNION ALL
  SELECT m.class, m.object, 0, m.name, n.nspname::text, false, w.role
  FROM mentioned AS m
  JOIN pg_namespace AS n ON n.oid = m.schema
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN n.nspowner = 'pg_database_owner'::regrole
        THEN (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
      ELSE n.nspowner
    END
  ) AS w (role)
  WHERE NOT $3::bool AND NOT pg_has_role(w.role, (TABLE owner), (TABLE used))
) AS one (class, object, type, called, schema, has_namesake, role)
LEFT JOIN pg_rewrite AS r ON one.class = 'pg_rewrite'::regclass AND r.oid = one.object AND r.rulename = '_RETURN'
