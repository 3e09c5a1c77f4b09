-- What the owner of tables lacks to update their rows, to create triggers and foreign keys and to build indexes again, and
-- tables whose rows cannot be updated as they are published, and names of successors that are taken. $1 are the oids of the
-- tables, $2 those of the indexes, $3 those of the tables that foreign keys refer to, $4 those of the checks and foreign keys. What has
-- a shadow is of a script.
WITH
  shadow AS (
    SELECT a.attrelid, a.attnum
    FROM pg_attribute AS a
    WHERE a.attrelid = ANY ($1::oid[])
      AND a.attname::text ~ '^mint_(new|old)_'
      AND NOT a.attisdropped
  ),
  table_of AS (
    SELECT c.oid, c.relowner, c.relnamespace, c.relreplident, c.relpersistence, c.oid::regclass::text AS name
    FROM pg_class AS c
    WHERE c.oid = ANY ($1::oid[])
  ),
  lack (kind, name, of, owner) AS (
    SELECT 'privilege', c.oid::regclass::text, string_agg(p.name, ', ' ORDER BY p.place), c.relowner
    FROM unnest(ARRAY['SELECT', 'UPDATE', 'TRIGGER', 'REFERENCES']) WITH ORDINALITY AS p (name, place)
    JOIN pg_class AS c ON c.oid = ANY (CASE p.name WHEN 'REFERENCES' THEN $3::oid[] ELSE $1::oid[] END)
    WHERE NOT has_table_privilege(c.relowner, c.oid, p.name)
    GROUP BY c.oid, c.relowner
    UNION ALL
    SELECT 'identity', t.name, quote_ident(min(p.pubname::text)), t.relowner
    FROM table_of AS t
    JOIN pg_publication AS p ON p.pubupdate
    LEFT JOIN pg_publication_rel AS r ON r.prpubid = p.oid AND r.prrelid = t.oid
    LEFT JOIN pg_publication_namespace AS z ON z.pnpubid = p.oid AND z.pnnspid = t.relnamespace
    WHERE (p.puballtables OR r.oid IS NOT NULL OR z.oid IS NOT NULL)
      -- From PostgreSQL 19 on, the row can be of a table that is not published.
      AND (to_jsonb(r) ->> 'prexcept')::bool IS NOT TRUE
      AND t.relpersistence = 'p'
      AND t.relreplident <> 'f'
      AND NOT EXISTS (
        SELECT
        FROM pg_index AS i
        WHERE i.indrelid = t.oid
          AND CASE t.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END
      )
    GROUP BY t.oid, t.name, t.relowner
    UNION ALL
    SELECT 'tablespace', c.oid::regclass::text, quote_ident(s.spcname), c.relowner
    FROM pg_class AS c
    JOIN pg_tablespace AS s ON s.oid = c.reltablespace
    WHERE c.oid = ANY ($2::oid[])
      AND NOT has_tablespace_privilege(c.relowner, s.oid, 'CREATE')
    UNION ALL
    SELECT 'taken', c.oid::regclass::text, o.oid::regclass::text, c.relowner
    FROM pg_class AS c
    JOIN pg_index AS i ON i.indexrelid = c.oid
    JOIN pg_class AS o ON o.relnamespace = c.relnamespace AND o.relname = format('mint_%s', c.oid)::name
    WHERE c.oid = ANY ($2::oid[])
      AND NOT EXISTS (
        SELECT
        FROM pg_depend AS p
        JOIN shadow AS s ON s.attrelid = p.refobjid AND s.attnum::int4 = p.refobjsubid
        WHERE p.classid = 'pg_class'::regclass
          AND p.objid = o.oid
          AND p.refclassid = 'pg_class'::regclass
          AND p.refobjid = i.indrelid
      )
    UNION ALL
    SELECT 'constraint', quote_ident(k.conname), format('%I of table %s', o.conname, c.oid::regclass), c.relowner
    FROM pg_constraint AS k
    JOIN pg_class AS c ON c.oid = k.conrelid
    JOIN pg_constraint AS o ON o.conrelid = k.conrelid
      AND o.conname = format(CASE k.contype WHEN 'c' THEN 'mint_check_%s' ELSE 'mint_fk_%s' END, k.oid)::name
    WHERE k.oid = ANY ($4::oid[])
      AND NOT EXISTS (
        SELECT
        FROM shadow AS s
        WHERE s.attrelid = o.conrelid AND s.attnum = ANY (o.conkey)
          OR s.attrelid = o.confrelid AND s.attnum = ANY (o.confkey)
      )
  )
SELECT jsonb_agg(
  jsonb_build_object(
    'kind', l.kind,
    'name', l.name,
    'of', l.of,
    'owner', quote_ident(pg_get_userbyid(l.owner))
  )
  ORDER BY l.kind, l.name
)
FROM lack AS l
