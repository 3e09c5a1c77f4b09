-- Leaf's table: the sequences that were made through it, which their comments say.
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
    CASE WHEN pg_catalog.starts_with(d.description, 'Leaf tag: '::pg_catalog.text)
         THEN pg_catalog.substr(d.description, 11::pg_catalog.int4) END AS description,
    g.last_refill AS update_time
FROM pg_catalog.pg_sequence AS s
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) s.seqrelid
CROSS JOIN LATERAL pg_catalog.pg_sequence_last_value(
    CASE WHEN pg_catalog.has_sequence_privilege(c.oid, 'SELECT, USAGE'::pg_catalog.text)
         THEN c.oid::pg_catalog.regclass END
) AS last
JOIN pg_catalog.pg_description AS d ON d.objoid OPERATOR(pg_catalog.=) c.oid
    AND d.classoid OPERATOR(pg_catalog.=) c.tableoid AND d.objsubid OPERATOR(pg_catalog.=) 0::pg_catalog.int4
LEFT JOIN mint.segments() AS g ON g.sequence::pg_catalog.oid OPERATOR(pg_catalog.=) c.oid
WHERE c.relpersistence OPERATOR(pg_catalog.=) 'p'::pg_catalog."char"
    -- The length of a comment is known before it is read: the owner of any sequence can write one of 1 GB.
    AND CASE WHEN pg_catalog.octet_length(d.description) OPERATOR(pg_catalog.<=) 10000::pg_catalog.int4
        THEN d.description OPERATOR(pg_catalog.=) 'Leaf tag'::pg_catalog.text
            OR pg_catalog.starts_with(d.description, 'Leaf tag: '::pg_catalog.text) END;
COMMENT ON VIEW mint.leaf_alloc IS 'Shows the sequences that were created through it, with the columns of Leaf''s table; INSERT creates a sequence';
CREATE TRIGGER leaf_alloc_insert INSTEAD OF INSERT ON mint.leaf_alloc
    FOR EACH ROW EXECUTE FUNCTION mint.leaf_alloc_insert();
CREATE TRIGGER leaf_alloc_refuse INSTEAD OF UPDATE OR DELETE ON mint.leaf_alloc
    FOR EACH ROW EXECUTE FUNCTION mint.leaf_alloc_refuse();
-- The trigger refuses both, and says what to use.
GRANT SELECT, INSERT, UPDATE, DELETE ON mint.leaf_alloc TO PUBLIC;

COMMENT ON FUNCTION mint.leaf_alloc_insert() IS 'Internal: creates the sequence of a row that is inserted into mint.leaf_alloc';
REVOKE ALL ON FUNCTION mint.leaf_alloc_insert() FROM PUBLIC;
COMMENT ON FUNCTION mint.leaf_alloc_refuse() IS 'Internal: refuses to change a row of mint.leaf_alloc';
REVOKE ALL ON FUNCTION mint.leaf_alloc_refuse() FROM PUBLIC;
