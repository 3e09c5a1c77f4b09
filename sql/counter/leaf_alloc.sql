-- Leaf's table: every sequence with a step.
CREATE VIEW mint.leaf_alloc AS
SELECT
    CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::pg_catalog.text
         ELSE c.relnamespace::pg_catalog.regnamespace::pg_catalog.text OPERATOR(pg_catalog.||) '.'::pg_catalog.text
             OPERATOR(pg_catalog.||) c.relname::pg_catalog.text END AS biz_tag,
    CASE WHEN NOT pg_catalog.has_sequence_privilege(c.oid, 'SELECT, USAGE'::pg_catalog.text) THEN NULL
         WHEN last IS NULL THEN s.seqstart
         -- The next value may be beyond the type.
         WHEN last OPERATOR(pg_catalog.>=) s.seqmin AND last OPERATOR(pg_catalog.<) s.seqmax
             THEN last OPERATOR(pg_catalog.+) s.seqincrement
         ELSE last END AS max_id,
    CASE WHEN s.seqcache OPERATOR(pg_catalog.<) 2147483647::pg_catalog.int8 THEN s.seqcache
         ELSE 2147483647::pg_catalog.int8 END::pg_catalog.int4 AS step,
    pg_catalog.obj_description(c.oid, 'pg_class'::pg_catalog.name) AS description,
    g.last_refill AS update_time
FROM pg_catalog.pg_sequence AS s
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) s.seqrelid
CROSS JOIN LATERAL pg_catalog.pg_sequence_last_value(
    CASE WHEN pg_catalog.has_sequence_privilege(c.oid, 'SELECT, USAGE'::pg_catalog.text)
         THEN c.oid::pg_catalog.regclass END
) AS last
LEFT JOIN mint.segments() AS g ON g.sequence::pg_catalog.oid OPERATOR(pg_catalog.=) c.oid
WHERE s.seqcache OPERATOR(pg_catalog.>) 1::pg_catalog.int8
    AND s.seqincrement OPERATOR(pg_catalog.=) 1::pg_catalog.int8
    AND c.relpersistence OPERATOR(pg_catalog.=) 'p'::pg_catalog."char"
    AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend AS d
        WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
            AND d.objid OPERATOR(pg_catalog.=) c.oid
            AND d.deptype OPERATOR(pg_catalog.=) ANY ('{i,e}'::pg_catalog."char"[])
    );
COMMENT ON VIEW mint.leaf_alloc IS 'Shows sequences with a step, with the columns of Leaf''s table; INSERT creates a sequence';
CREATE TRIGGER leaf_alloc_insert INSTEAD OF INSERT ON mint.leaf_alloc
    FOR EACH ROW EXECUTE FUNCTION mint.leaf_alloc_insert();
GRANT SELECT, INSERT ON mint.leaf_alloc TO PUBLIC;

COMMENT ON FUNCTION mint.leaf_alloc_insert() IS 'Internal: creates the sequence of a row that is inserted into mint.leaf_alloc';
REVOKE ALL ON FUNCTION mint.leaf_alloc_insert() FROM PUBLIC;
