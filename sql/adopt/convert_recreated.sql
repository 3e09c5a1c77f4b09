-- What keeps to a column and is made again in the swap, in an order in which all can be dropped: one jsonb, see
-- src/adopt/convert/recreated.rs. $1 has the oids of tables, $2 the numbers of their columns.
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
  -- Triggers whose condition has a constant that the server reads by the check of a domain, as it can be of a composite or
  -- a range as well. TRIGGER on a table or a view is enough to write one, and CREATE TRIGGER reads it as its owner.
  checking AS (
    SELECT g.oid
    FROM pg_trigger AS g
    CROSS JOIN LATERAL regexp_matches(g.tgqual::text, ':consttype ([0-9]+) ', 'g') AS f (part)
    LEFT JOIN pg_type AS y ON y.oid = f.part[1]::oid
    LEFT JOIN pg_type AS l ON l.oid = y.typelem
    WHERE NOT g.tgisinternal
      AND f.part[1]::oid >= 16384
      AND coalesce(l.typtype, y.typtype, 'd') NOT IN ('b', 'e')
  ),
  -- Views of the columns, and views of these, by each way that leads there. Views can refer to each other.
  way AS (
    SELECT r.ev_class AS oid, 1 AS depth
    FROM target AS t
    JOIN pg_depend AS p ON p.classid = 'pg_rewrite'::regclass
      AND p.refclassid = 'pg_class'::regclass
      AND p.refobjid = t.relation
      AND p.refobjsubid = t.number::int4
    JOIN pg_rewrite AS r ON r.oid = p.objid
    JOIN pg_class AS c ON c.oid = r.ev_class AND c.relkind = 'v'
    UNION
    SELECT r.ev_class, w.depth + 1
    FROM way AS w
    JOIN pg_depend AS p ON p.classid = 'pg_rewrite'::regclass
      AND p.refclassid = 'pg_class'::regclass
      AND p.refobjid = w.oid
    JOIN pg_rewrite AS r ON r.oid = p.objid AND r.ev_class <> w.oid
    JOIN pg_class AS c ON c.oid = r.ev_class AND c.relkind = 'v'
    WHERE w.depth < 100
  ),
  -- The same, each once.
  view AS (
    SELECT
      c.oid,
      w.depth,
      c.relname,
      c.relowner,
      c.relnamespace,
      c.relpersistence,
      c.relacl,
      c.reloptions,
      c.reltype,
      n.nspname,
      format('%I.%I', n.nspname, c.relname) AS name,
      -- Views of other roles are refused, and can be larger than the server can print.
      CASE WHEN c.relowner = (TABLE owner) THEN rtrim(pg_get_viewdef(c.oid), ';') END AS query
    FROM (SELECT w.oid, max(w.depth) AS depth FROM way AS w GROUP BY w.oid) AS w
    JOIN pg_class AS c ON c.oid = w.oid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
  ),
  -- Privileges on views and on their columns.
  grants AS (
    SELECT v.oid, 0 AS number, NULL::name AS attname, g.*
    FROM view AS v
    CROSS JOIN LATERAL aclexplode(v.relacl) AS g
    UNION ALL
    SELECT v.oid, a.attnum, a.attname, g.*
    FROM view AS v
    JOIN pg_attribute AS a ON a.attrelid = v.oid
    CROSS JOIN LATERAL aclexplode(a.attacl) AS g
  ),
  -- The statements that come after CREATE VIEW.
  statement AS (
    -- Default privileges give the new view what the old one might not have.
    SELECT DISTINCT
      v.oid,
      1 AS place,
      format(
        'REVOKE ALL ON TABLE %s FROM %s',
        v.name,
        CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END
      ) AS text
    FROM view AS v
    JOIN pg_default_acl AS d ON d.defaclrole = v.relowner
      AND d.defaclobjtype = 'r'
      AND d.defaclnamespace = ANY (ARRAY[0::oid, v.relnamespace])
    CROSS JOIN LATERAL aclexplode(d.defaclacl) AS g
    WHERE g.grantee <> v.relowner
    UNION ALL
    SELECT v.oid, 2, format('REVOKE ALL ON TABLE %s FROM %I', v.name, pg_get_userbyid(v.relowner))
    FROM view AS v
    WHERE v.relacl IS NOT NULL
    UNION ALL
    SELECT
      v.oid,
      3,
      format(
        'GRANT %s%s ON TABLE %s TO %s%s',
        g.privilege_type,
        ' (' || quote_ident(g.attname::text) || ')',
        v.name,
        CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END,
        CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END
      )
    FROM view AS v
    JOIN grants AS g ON g.oid = v.oid
    UNION ALL
    SELECT v.oid, 4, format('COMMENT ON VIEW %s IS %L', v.name, d.description)
    FROM view AS v
    JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass AND d.objoid = v.oid AND d.objsubid = 0
    UNION ALL
    SELECT v.oid, 5, format('COMMENT ON COLUMN %s.%I IS %L', v.name, a.attname, d.description)
    FROM view AS v
    JOIN pg_attribute AS a ON a.attrelid = v.oid
    JOIN pg_description AS d ON d.classoid = 'pg_class'::regclass
      AND d.objoid = v.oid
      AND d.objsubid = a.attnum::int4
      AND d.objsubid > 0
    UNION ALL
    SELECT
      v.oid,
      6,
      format(
        'ALTER VIEW %s ALTER COLUMN %I SET DEFAULT %s',
        v.name,
        a.attname,
        pg_get_expr(d.adbin, d.adrelid)
      )
    FROM view AS v
    JOIN pg_attrdef AS d ON d.adrelid = v.oid
    JOIN pg_attribute AS a ON a.attrelid = v.oid AND a.attnum = d.adnum
    UNION ALL
    SELECT v.oid, 7, rtrim(pg_get_ruledef(r.oid), ';')
    FROM view AS v
    JOIN pg_rewrite AS r ON r.ev_class = v.oid AND r.rulename <> '_RETURN'
    UNION ALL
    SELECT v.oid, 8, pg_get_triggerdef(g.oid)
    FROM view AS v
    JOIN pg_trigger AS g ON g.tgrelid = v.oid AND NOT g.tgisinternal
    UNION ALL
    SELECT v.oid, 9, format('COMMENT ON TRIGGER %I ON %s IS %L', g.tgname, v.name, d.description)
    FROM view AS v
    JOIN pg_trigger AS g ON g.tgrelid = v.oid
    JOIN pg_description AS d ON d.classoid = 'pg_trigger'::regclass AND d.objoid = g.oid
    UNION ALL
    SELECT v.oid, 9, format('COMMENT ON RULE %I ON %s IS %L', r.rulename, v.name, d.description)
    FROM view AS v
    JOIN pg_rewrite AS r ON r.ev_class = v.oid
    JOIN pg_description AS d ON d.classoid = 'pg_rewrite'::regclass AND d.objoid = r.oid
  ),
  object AS (
    SELECT
      v.depth,
      'view ' || v.name AS name,
      v.query AS text,
      to_jsonb(ARRAY[quote_ident(v.nspname), quote_ident(v.relname)]) AS view,
      v.oid::int8 AS relation,
      v.relowner::int8 AS owner,
      -- The relations that it reads, but for those of the list.
      (
        SELECT jsonb_agg(DISTINCT jsonb_build_array(c.oid::int8, quote_ident(n.nspname), quote_ident(c.relname)))
        FROM pg_rewrite AS r
        JOIN pg_depend AS p ON p.classid = 'pg_rewrite'::regclass
          AND p.objid = r.oid
          AND p.refclassid = 'pg_class'::regclass
        JOIN pg_class AS c ON c.oid = p.refobjid AND c.relkind <> 'S'
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE r.ev_class = v.oid AND c.oid <> ALL (SELECT w.oid FROM view AS w)
      ) AS reads,
      -- Its columns and their types.
      (
        SELECT jsonb_agg(jsonb_build_array(a.attname, a.atttypid::int8) ORDER BY a.attnum)
        FROM pg_attribute AS a
        WHERE a.attrelid = v.oid
      ) AS columns,
      -- LOCK TABLE would lock all that the view is made of.
      format('ALTER VIEW %s OWNER TO %I', v.name, pg_get_userbyid(v.relowner)) AS lock,
      format('DROP VIEW %s', v.name) AS drop,
      (
        SELECT jsonb_build_array(
          format(
            'CREATE VIEW %s%s AS %s',
            v.name,
            ' WITH (' || array_to_string(v.reloptions, ', ') || ')',
            v.query
          )
        ) || coalesce(jsonb_agg(s.text ORDER BY s.place, s.text), '[]')
        FROM statement AS s
        WHERE s.oid = v.oid AND v.query IS NOT NULL
      ) AS create,
      -- Why it cannot be made again as it is.
      CASE
        WHEN v.depth >= 100 THEN 'it refers to itself'
        WHEN v.relpersistence = 't'
          THEN format('it is temporary, of a session of role "%s"', pg_get_userbyid(v.relowner))
        WHEN v.relowner <> (TABLE owner)
          THEN format('its owner is role "%s"', pg_get_userbyid(v.relowner))
        WHEN NOT has_schema_privilege(v.relowner, v.relnamespace, 'CREATE')
          THEN 'its owner cannot create views in its schema'
        WHEN EXISTS (SELECT FROM grants AS g WHERE g.oid = v.oid AND g.grantor <> v.relowner)
          THEN 'others than its owner have granted privileges on it'
        WHEN EXISTS (
          SELECT
          FROM pg_trigger AS g
          WHERE g.tgrelid = v.oid AND NOT g.tgisinternal AND g.tgenabled <> 'O'
          UNION ALL
          SELECT
          FROM pg_rewrite AS r
          WHERE r.ev_class = v.oid AND r.ev_enabled <> 'O'
        ) THEN 'it has a trigger or a rule that is not enabled as usual'
        WHEN EXISTS (
          SELECT
          FROM pg_trigger AS g
          WHERE g.tgrelid = v.oid AND NOT g.tgisinternal AND NOT has_function_privilege(v.relowner, g.tgfoid, 'EXECUTE')
        ) THEN 'its owner cannot execute the function of a trigger'
        WHEN EXISTS (
          SELECT
          FROM pg_trigger AS g
          JOIN checking AS k ON k.oid = g.oid
          WHERE g.tgrelid = v.oid
        ) THEN 'it has a trigger with a constant in WHEN whose type can have checks'
        WHEN EXISTS (
          SELECT
          FROM pg_depend AS p
          WHERE p.classid = 'pg_class'::regclass AND p.objid = v.oid AND p.deptype IN ('e', 'x')
          UNION ALL
          SELECT
          FROM pg_seclabel AS l
          WHERE l.classoid = 'pg_class'::regclass AND l.objoid = v.oid
        ) THEN 'it is of an extension or has a security label'
        ELSE (
          SELECT 'it has dependents: ' || string_agg(DISTINCT pg_describe_object(p.classid, p.objid, p.objsubid), ', ')
          FROM pg_type AS y, pg_depend AS p
          WHERE y.oid = v.reltype
            AND (
              p.refclassid = 'pg_class'::regclass AND p.refobjid = v.oid
              OR p.refclassid = 'pg_type'::regclass AND p.refobjid = ANY (ARRAY[y.oid, y.typarray])
            )
            AND p.deptype = 'n'
            AND NOT EXISTS (
              SELECT
              FROM pg_rewrite AS r
              JOIN view AS w ON w.oid = r.ev_class
              WHERE p.classid = 'pg_rewrite'::regclass AND r.oid = p.objid
            )
        )
      END AS refused
    FROM view AS v
    UNION ALL
    -- Triggers with the column in UPDATE OF or in WHEN.
    SELECT
      0,
      format('trigger %I on %s', g.tgname, g.tgrelid::regclass),
      -- Another role can have made it, and the parser reads constants by the functions of their types: none of a type to which
      -- its owner can add checks, and no name that looks like a condition.
      CASE
        WHEN NOT w.is_odd
          AND NOT EXISTS (
            SELECT
            FROM regexp_matches(g.tgqual::text, ':consttype ([0-9]+) ', 'g') AS f (part)
            WHERE f.part[1]::oid >= 16384
          )
          THEN substring(pg_get_triggerdef(g.oid) FROM ' WHEN [(](.*?)[)] EXECUTE FUNCTION ')
      END,
      NULL,
      g.tgrelid::int8,
      NULL,
      NULL,
      NULL,
      NULL,
      format('DROP TRIGGER %I ON %s', g.tgname, g.tgrelid::regclass),
      to_jsonb(array_remove(
        ARRAY[
          pg_get_triggerdef(g.oid),
          CASE g.tgenabled
            WHEN 'D' THEN format('ALTER TABLE %s DISABLE TRIGGER %I', g.tgrelid::regclass, g.tgname)
            WHEN 'R' THEN format('ALTER TABLE %s ENABLE REPLICA TRIGGER %I', g.tgrelid::regclass, g.tgname)
            WHEN 'A' THEN format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', g.tgrelid::regclass, g.tgname)
          END,
          (
            SELECT format('COMMENT ON TRIGGER %I ON %s IS %L', g.tgname, g.tgrelid::regclass, d.description)
            FROM pg_description AS d
            WHERE d.classoid = 'pg_trigger'::regclass AND d.objoid = g.oid
          )
        ]
        || ARRAY(
          SELECT format('ALTER TRIGGER %I ON %s DEPENDS ON EXTENSION %I', g.tgname, g.tgrelid::regclass, e.extname)
          FROM pg_depend AS p
          JOIN pg_extension AS e ON e.oid = p.refobjid AND p.refclassid = 'pg_extension'::regclass
          WHERE p.classid = 'pg_trigger'::regclass AND p.objid = g.oid AND p.deptype = 'x'
          ORDER BY e.extname
        ),
        NULL
      )),
      CASE
        WHEN NOT has_function_privilege((TABLE owner), g.tgfoid, 'EXECUTE')
          THEN 'the owner of the table cannot execute its function'
        WHEN g.oid = ANY (SELECT k.oid FROM checking AS k)
          THEN 'it has a constant in WHEN whose type can have checks'
        WHEN w.is_odd THEN 'it has a name with WHEN or EXECUTE FUNCTION in it'
      END
    FROM pg_trigger AS g
    -- All names that come before its function.
    CROSS JOIN LATERAL (
      SELECT bool_or(concat_ws(' ', g.tgname, g.tgoldtable, g.tgnewtable, n.nspname, c.relname) ~ '(WHEN|EXECUTE FUNCTION) ') AS is_odd
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE c.oid IN (g.tgrelid, g.tgconstrrelid)
    ) AS w
    WHERE NOT g.tgisinternal
      AND EXISTS (
        SELECT
        FROM target AS t
        JOIN pg_depend AS p ON p.classid = 'pg_trigger'::regclass
          AND p.refclassid = 'pg_class'::regclass
          AND p.refobjid = t.relation
          AND p.refobjsubid = t.number::int4
        WHERE t.relation = g.tgrelid AND p.objid = g.oid
      )
    UNION ALL
    SELECT
      0,
      format('statistics object %I.%I', n.nspname, e.stxname),
      pg_get_expr(e.stxexprs, e.stxrelid),
      NULL,
      e.stxrelid::int8,
      NULL,
      NULL,
      NULL,
      NULL,
      format('DROP STATISTICS %I.%I', n.nspname, e.stxname),
      to_jsonb(array_remove(
        ARRAY[
          pg_get_statisticsobjdef(e.oid),
          CASE WHEN e.stxstattarget >= 0 THEN
            format('ALTER STATISTICS %I.%I SET STATISTICS %s', n.nspname, e.stxname, e.stxstattarget)
          END,
          (
            SELECT format('COMMENT ON STATISTICS %I.%I IS %L', n.nspname, e.stxname, d.description)
            FROM pg_description AS d
            WHERE d.classoid = 'pg_statistic_ext'::regclass AND d.objoid = e.oid
          )
        ],
        NULL
      )),
      CASE
        WHEN e.stxowner <> (TABLE owner) THEN format('its owner is role "%s"', pg_get_userbyid(e.stxowner))
        WHEN NOT has_schema_privilege(e.stxowner, e.stxnamespace, 'CREATE')
          THEN 'its owner cannot create statistics in its schema'
      END
    FROM pg_statistic_ext AS e
    JOIN pg_namespace AS n ON n.oid = e.stxnamespace
    WHERE EXISTS (
      SELECT
      FROM target AS t
      JOIN pg_depend AS p ON p.classid = 'pg_statistic_ext'::regclass
        AND p.refclassid = 'pg_class'::regclass
        AND p.refobjid = t.relation
        AND p.refobjsubid = t.number::int4
      WHERE p.objid = e.oid
    )
    UNION ALL
    -- Privileges on the column alone.
    SELECT
      0,
      format('privilege %s of %s on column %I of table %s', g.privilege_type, w.grantee, a.attname, a.attrelid::regclass),
      NULL,
      NULL,
      NULL,
      NULL,
      NULL,
      NULL,
      NULL,
      format('REVOKE %s (%I) ON TABLE %s FROM %s', g.privilege_type, a.attname, a.attrelid::regclass, w.grantee),
      to_jsonb(ARRAY[
        format(
          'GRANT %s (%I) ON TABLE %s TO %s%s',
          g.privilege_type,
          a.attname,
          a.attrelid::regclass,
          w.grantee,
          CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END
        )
      ]),
      CASE WHEN g.grantor <> (TABLE owner) THEN format('role "%s" has granted it', pg_get_userbyid(g.grantor)) END
    FROM target AS t
    JOIN pg_attribute AS a ON a.attrelid = t.relation AND a.attnum = t.number
    CROSS JOIN LATERAL aclexplode(a.attacl) AS g
    CROSS JOIN LATERAL (
      SELECT CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END AS grantee
    ) AS w
  )
SELECT jsonb_agg(to_jsonb(o) ORDER BY o.depth DESC, o.name)
FROM object AS o
