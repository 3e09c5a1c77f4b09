-- Leaf's table: every sequence that says how many values are taken at once.
CREATE VIEW leaf_alloc AS
SELECT
    CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::text
         ELSE c.relnamespace::regnamespace || '.' || c.relname END AS biz_tag,
    CASE WHEN NOT pg_catalog.has_sequence_privilege(c.oid, 'SELECT, USAGE') THEN NULL
         WHEN last IS NULL THEN s.seqstart
         -- What would be the next one may not be a bigint any more.
         WHEN last BETWEEN s.seqmin AND s.seqmax - 1 THEN last + s.seqincrement
         ELSE last END AS max_id,
    LEAST(s.seqcache, 2147483647)::integer AS step,
    pg_catalog.obj_description(c.oid, 'pg_class') AS description,
    g.last_refill AS update_time
FROM pg_catalog.pg_sequence s
JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
CROSS JOIN LATERAL pg_catalog.pg_sequence_last_value(
    CASE WHEN pg_catalog.has_sequence_privilege(c.oid, 'SELECT, USAGE') THEN c.oid END
) last
LEFT JOIN pg_mint_segments() g ON g.sequence = c.oid
WHERE s.seqcache > 1 AND s.seqincrement = 1 AND c.relpersistence = 'p' AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend
    WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype IN ('i', 'e')
);
COMMENT ON VIEW leaf_alloc IS 'sequences drawn from in steps, as Leaf''s table; INSERT creates one';
CREATE TRIGGER leaf_alloc_insert INSTEAD OF INSERT ON leaf_alloc
    FOR EACH ROW EXECUTE FUNCTION leaf_alloc_insert();
GRANT SELECT, INSERT ON leaf_alloc TO PUBLIC;
