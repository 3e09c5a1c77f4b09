-- What depends on indexes or their constraints, and so on more than a column: a list of descriptions by the oid of the index.
-- $1 are the oids of the indexes, $2 those of foreign keys and $3 those of views that are made again.
SELECT jsonb_object_agg(one.oid::text, one.names)
FROM (
  SELECT
    i.oid,
    jsonb_agg(DISTINCT pg_describe_object(p.classid, p.objid, p.objsubid)) AS names
  FROM unnest($1::oid[]) AS i (oid)
  LEFT JOIN pg_constraint AS k ON k.conindid = i.oid AND k.contype IN ('p', 'u')
  JOIN pg_depend AS p ON p.deptype = 'n'
    AND (
      p.refclassid = 'pg_class'::regclass AND p.refobjid = i.oid
      OR p.refclassid = 'pg_constraint'::regclass AND p.refobjid = k.oid
    )
  WHERE NOT (p.classid = 'pg_constraint'::regclass AND p.objid = ANY ($2::oid[]))
    AND NOT EXISTS (
      SELECT
      FROM pg_rewrite AS r
      WHERE p.classid = 'pg_rewrite'::regclass AND r.oid = p.objid AND r.ev_class = ANY ($3::oid[])
    )
  GROUP BY i.oid
) AS one
