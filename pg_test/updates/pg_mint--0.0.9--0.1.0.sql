-- The practice of updates.rs reaches this version from its 0.0.9: a function is new, others have other properties,
-- arguments and comments, an operator and a view have more.
\echo Use "ALTER EXTENSION pg_mint UPDATE" to load this file. \quit

CREATE FUNCTION uuid_max_value() RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_max_value_wrapper';
COMMENT ON FUNCTION uuid_max_value() IS 'Returns the UUID whose bits are all one';

CREATE OR REPLACE FUNCTION uuid_nil_value() RETURNS uuid
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_nil_value_wrapper';

CREATE OR REPLACE FUNCTION id_to_text(id bigint, encoding text DEFAULT 'base58') RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'id_to_text_wrapper';

ALTER OPERATOR = (objectid, objectid) SET (RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel);

CREATE OR REPLACE VIEW mint.lanes AS SELECT * FROM mint.lanes();
COMMENT ON VIEW mint.lanes IS 'Shows the lanes that this server has used since it started';

ALTER FUNCTION mint.ceilings() ROWS 10;
