-- Types, functions and operators by which another role can add what the server runs when it reads, plans or evaluates an
-- expression: one jsonb, see src/pg/catalog/foreign.rs. $1 has the oids of types, $2 those of functions, $3 those of
-- operators, $4 is the role that would run it, $5 whether a text with their names is parsed; $6 has those of relations.
--
-- The owner of a type adds casts to it, and checks to a domain, which the parser runs for a constant and the planner as soon
-- as it sees a cast. So all that an object is made of counts: the types of elements, of fields, below a domain and of the
-- bounds of a range, what the checks of a domain call, what a function takes and returns, and what its body, the defaults
-- of its parameters and its first state have. A body that is a text is not read.
--
-- The owner of a schema puts another object in the place of a name before it is parsed. Objects of this extension are where
-- the owner of a database wants them: what their names mean is seen in the tree of the parser. It is too late then for a
-- constant of an array, whose elements the parser reads.
--
-- A role that has the privileges of $4 anyway is no other; a superuser is none.
WITH RECURSIVE
  -- How a role can use what another may. Since PostgreSQL 16, members might not.
  used AS (
    SELECT CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END
  ),
  named AS (
    SELECT n.class::oid, n.oid
    FROM (
      SELECT 'pg_type'::regclass, unnest($1::oid[])
      UNION ALL
      SELECT 'pg_proc'::regclass, unnest($2::oid[])
      UNION ALL
      SELECT 'pg_operator'::regclass, unnest($3::oid[])
      UNION ALL
      SELECT 'pg_class'::regclass, unnest($6::oid[])
    ) AS n (class, oid)
    WHERE n.oid >= 16384
  ),
  part (named_class, named, class, oid) AS (
    SELECT n.class, n.oid, n.class, n.oid
    FROM named AS n
    UNION
    SELECT f.named_class, f.named, n.class, n.oid
    FROM part AS f
    CROSS JOIN LATERAL (
      SELECT p.refclassid, p.refobjid
      FROM pg_depend AS p
      WHERE f.class IN ('pg_proc'::regclass, 'pg_operator'::regclass) AND p.classid = f.class AND p.objid = f.oid
      UNION ALL
      SELECT 'pg_type'::regclass, unnest(ARRAY[a.aggtranstype, a.aggmtranstype])
      FROM pg_aggregate AS a
      WHERE f.class = 'pg_proc'::regclass AND a.aggfnoid = f.oid
      UNION ALL
      SELECT 'pg_type'::regclass, unnest(ARRAY[y.typelem, y.typbasetype])
      FROM pg_type AS y
      WHERE f.class = 'pg_type'::regclass AND y.oid = f.oid
      UNION ALL
      SELECT 'pg_type'::regclass, a.atttypid
      FROM pg_type AS y
      JOIN pg_attribute AS a ON a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE f.class = 'pg_type'::regclass AND y.oid = f.oid
      UNION ALL
      SELECT 'pg_type'::regclass, r.rngsubtype
      FROM pg_range AS r
      WHERE f.class = 'pg_type'::regclass AND f.oid IN (r.rngtypid, r.rngmultitypid)
      UNION ALL
      SELECT p.refclassid, p.refobjid
      FROM pg_constraint AS k
      JOIN pg_depend AS p ON p.classid = 'pg_constraint'::regclass AND p.objid = k.oid
      WHERE f.class = 'pg_type'::regclass AND k.contypid = f.oid
      UNION ALL
      -- Types of columns have no row in pg_depend, nor have what JSON_VALUE() returns and an array without elements.
      SELECT 'pg_type'::regclass, y.oid
      FROM (
        SELECT concat(q.prosqlbody::text, q.proargdefaults::text)
        FROM pg_proc AS q
        WHERE f.class = 'pg_proc'::regclass AND q.oid = f.oid
        UNION ALL
        SELECT k.conbin::text
        FROM pg_constraint AS k
        WHERE f.class = 'pg_type'::regclass AND k.contypid = f.oid
      ) AS t (tree)
      CROSS JOIN LATERAL regexp_matches(t.tree, ':[a-z_]*typ(?:e|id|eid)? ([0-9]+)', 'gi') AS m (oids)
      JOIN pg_type AS y ON y.oid = m.oids[1]::oid
    ) AS n (class, oid)
    WHERE n.oid >= 16384
      AND n.class IN ('pg_type'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
  ),
  place AS NOT MATERIALIZED (
    SELECT 'pg_type'::regclass::oid AS class, y.oid, y.typnamespace AS schema
    FROM pg_type AS y
    UNION ALL
    SELECT 'pg_proc'::regclass, p.oid, p.pronamespace
    FROM pg_proc AS p
    UNION ALL
    SELECT 'pg_operator'::regclass, o.oid, o.oprnamespace
    FROM pg_operator AS o
    UNION ALL
    SELECT 'pg_class'::regclass, c.oid, c.relnamespace
    FROM pg_class AS c
  )
SELECT jsonb_agg(
  jsonb_build_object('class', f.class::int8, 'oid', f.oid::int8, 'role', f.role::int8)
  ORDER BY f.class, f.oid
)
FROM (
  SELECT a.class, a.oid, min(a.role) AS role
  FROM (
    SELECT f.named_class, f.named, y.typowner
    FROM part AS f
    JOIN pg_type AS y ON y.oid = f.oid
    WHERE f.class = 'pg_type'::regclass
    UNION
    SELECT
      f.class,
      f.oid,
      CASE
        WHEN n.nspowner = 'pg_database_owner'::regrole
          THEN (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
        ELSE n.nspowner
      END
    FROM named AS f
    JOIN place AS s ON s.class = f.class AND s.oid = f.oid
    JOIN pg_namespace AS n ON n.oid = s.schema
    WHERE $5::bool
      AND NOT EXISTS (
        SELECT
        FROM pg_depend AS p
        JOIN pg_extension AS e ON e.oid = p.refobjid AND e.extname = 'pg_mint'
        WHERE p.classid = f.class
          AND p.objid = f.oid
          AND p.refclassid = 'pg_extension'::regclass
          AND p.deptype = 'e'
          AND NOT EXISTS (
            SELECT
            FROM pg_type AS y
            WHERE f.class = 'pg_type'::regclass AND y.oid = f.oid AND y.typelem <> 0
          )
      )
  ) AS a (class, oid, role)
  WHERE NOT pg_has_role(a.role, $4::oid, (TABLE used))
  GROUP BY a.class, a.oid
) AS f
