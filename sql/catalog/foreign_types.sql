-- Types to which another role can add what the server runs when it reads or casts a value: one jsonb, see
-- src/pg/catalog/foreign.rs. $1 has the oids of types, $2 those of functions, $3 is the role that would run it.
--
-- The owner of a domain, a composite or a range adds checks, which the parser runs for a constant of it and the planner as
-- soon as it sees a cast to it. So all that a type is made of counts: the types of elements, of fields, below a domain and
-- of the bounds of a range. A role that has the privileges of $3 anyway is no other; a superuser is none.
WITH RECURSIVE
  -- How a role can use what another may. Since PostgreSQL 16, members might not.
  used AS (
    SELECT CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END
  ),
  -- The functions, and those that their bodies, defaults of parameters and aggregates call.
  function AS (
    SELECT n.oid
    FROM unnest($2::oid[]) AS n (oid)
    UNION
    SELECT p.refobjid
    FROM function AS f
    JOIN pg_depend AS p ON p.classid = 'pg_proc'::regclass
      AND p.objid = f.oid
      AND p.refclassid = 'pg_proc'::regclass
  ),
  type AS (
    SELECT n.oid AS named, n.oid
    FROM unnest($1::oid[]) AS n (oid)
    WHERE n.oid >= 16384
    UNION
    -- What a function takes and returns, and has in the defaults of its parameters.
    SELECT p.refobjid, p.refobjid
    FROM function AS f
    JOIN pg_depend AS p ON p.classid = 'pg_proc'::regclass
      AND p.objid = f.oid
      AND p.refclassid = 'pg_type'::regclass
    UNION
    -- The planner reads the first state of an aggregate.
    SELECT s.oid, s.oid
    FROM function AS f
    JOIN pg_aggregate AS a ON a.aggfnoid = f.oid
    CROSS JOIN unnest(ARRAY[a.aggtranstype, a.aggmtranstype]) AS s (oid)
    WHERE s.oid >= 16384
    UNION
    SELECT t.named, n.oid
    FROM type AS t
    JOIN pg_type AS y ON y.oid = t.oid
    CROSS JOIN LATERAL (
      SELECT unnest(ARRAY[y.typelem, y.typbasetype])
      UNION ALL
      SELECT a.atttypid
      FROM pg_attribute AS a
      WHERE a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT r.rngsubtype
      FROM pg_range AS r
      WHERE y.oid IN (r.rngtypid, r.rngmultitypid)
    ) AS n (oid)
    WHERE n.oid >= 16384
  )
SELECT jsonb_agg(jsonb_build_object('type', f.named::int8, 'owner', f.typowner::int8) ORDER BY f.named)
FROM (
  SELECT t.named, min(y.typowner) AS typowner
  FROM type AS t
  JOIN pg_type AS y ON y.oid = t.oid
  WHERE y.typtype NOT IN ('b', 'e') AND NOT pg_has_role(y.typowner, $3::oid, (TABLE used))
  GROUP BY t.named
) AS f
