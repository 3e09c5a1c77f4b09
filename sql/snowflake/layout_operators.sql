CREATE OPERATOR = (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = snowflake_layout, RIGHTARG = snowflake_layout, FUNCTION = mint.snowflake_layout_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel
);

CREATE OPERATOR CLASS snowflake_layout_ops DEFAULT FOR TYPE snowflake_layout USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 mint.snowflake_layout_cmp(snowflake_layout, snowflake_layout);

CREATE OPERATOR CLASS snowflake_layout_ops DEFAULT FOR TYPE snowflake_layout USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 mint.snowflake_layout_hash(snowflake_layout),
    FUNCTION 2 mint.snowflake_layout_hash_extended(snowflake_layout, bigint);

COMMENT ON FUNCTION mint.snowflake_layout_eq(snowflake_layout, snowflake_layout) IS 'implementation of = operator';
COMMENT ON FUNCTION mint.snowflake_layout_ne(snowflake_layout, snowflake_layout) IS 'implementation of <> operator';
COMMENT ON FUNCTION mint.snowflake_layout_lt(snowflake_layout, snowflake_layout) IS 'implementation of < operator';
COMMENT ON FUNCTION mint.snowflake_layout_le(snowflake_layout, snowflake_layout) IS 'implementation of <= operator';
COMMENT ON FUNCTION mint.snowflake_layout_gt(snowflake_layout, snowflake_layout) IS 'implementation of > operator';
COMMENT ON FUNCTION mint.snowflake_layout_ge(snowflake_layout, snowflake_layout) IS 'implementation of >= operator';
COMMENT ON FUNCTION mint.snowflake_layout_cmp(snowflake_layout, snowflake_layout) IS 'less-equal-greater';
COMMENT ON FUNCTION mint.snowflake_layout_hash(snowflake_layout) IS 'hash';
COMMENT ON FUNCTION mint.snowflake_layout_hash_extended(snowflake_layout, bigint) IS 'hash';
