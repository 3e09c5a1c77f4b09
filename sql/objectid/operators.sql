-- ObjectIDs are ordered by bytes, and so by time. The functions are in src/objectid/order.rs.
CREATE FUNCTION mint.objectid_eq(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_eq';
CREATE FUNCTION mint.objectid_ne(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_ne';
CREATE FUNCTION mint.objectid_lt(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_lt';
CREATE FUNCTION mint.objectid_le(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_le';
CREATE FUNCTION mint.objectid_gt(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_gt';
CREATE FUNCTION mint.objectid_ge(a objectid, b objectid) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_ge';
CREATE FUNCTION mint.objectid_cmp(a objectid, b objectid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_cmp';
CREATE FUNCTION mint.objectid_sortsupport(internal) RETURNS void
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_sortsupport';
CREATE FUNCTION mint.objectid_hash(id objectid) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_hash';
CREATE FUNCTION mint.objectid_hash_extended(id objectid, seed bigint) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_hash_extended';
CREATE FUNCTION mint.objectid_smaller(a objectid, b objectid) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_smaller';
CREATE FUNCTION mint.objectid_larger(a objectid, b objectid) RETURNS objectid
    IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS 'MODULE_PATHNAME', 'objectid_larger';

CREATE OPERATOR = (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = objectid, RIGHTARG = objectid, FUNCTION = mint.objectid_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel
);

CREATE OPERATOR CLASS objectid_ops DEFAULT FOR TYPE objectid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 mint.objectid_cmp(objectid, objectid),
    FUNCTION 2 mint.objectid_sortsupport(internal),
    FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS objectid_ops DEFAULT FOR TYPE objectid USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 mint.objectid_hash(objectid),
    FUNCTION 2 mint.objectid_hash_extended(objectid, bigint);

CREATE OPERATOR CLASS objectid_minmax_ops DEFAULT FOR TYPE objectid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 pg_catalog.brin_minmax_opcinfo(internal),
    FUNCTION 2 pg_catalog.brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 pg_catalog.brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 pg_catalog.brin_minmax_union(internal, internal, internal);

CREATE AGGREGATE min(objectid) (
    SFUNC = mint.objectid_smaller, STYPE = objectid, COMBINEFUNC = mint.objectid_smaller, SORTOP = <, PARALLEL = SAFE
);
CREATE AGGREGATE max(objectid) (
    SFUNC = mint.objectid_larger, STYPE = objectid, COMBINEFUNC = mint.objectid_larger, SORTOP = >, PARALLEL = SAFE
);

COMMENT ON FUNCTION mint.objectid_eq(objectid, objectid) IS 'implementation of = operator';
COMMENT ON FUNCTION mint.objectid_ne(objectid, objectid) IS 'implementation of <> operator';
COMMENT ON FUNCTION mint.objectid_lt(objectid, objectid) IS 'implementation of < operator';
COMMENT ON FUNCTION mint.objectid_le(objectid, objectid) IS 'implementation of <= operator';
COMMENT ON FUNCTION mint.objectid_gt(objectid, objectid) IS 'implementation of > operator';
COMMENT ON FUNCTION mint.objectid_ge(objectid, objectid) IS 'implementation of >= operator';
COMMENT ON FUNCTION mint.objectid_cmp(objectid, objectid) IS 'less-equal-greater';
COMMENT ON FUNCTION mint.objectid_sortsupport(internal) IS 'sort support';
COMMENT ON FUNCTION mint.objectid_hash(objectid) IS 'hash';
COMMENT ON FUNCTION mint.objectid_hash_extended(objectid, bigint) IS 'hash';
COMMENT ON FUNCTION mint.objectid_smaller(objectid, objectid) IS 'smaller of two';
COMMENT ON FUNCTION mint.objectid_larger(objectid, objectid) IS 'larger of two';
COMMENT ON AGGREGATE min(objectid) IS 'minimum value of all objectid input values';
COMMENT ON AGGREGATE max(objectid) IS 'maximum value of all objectid input values';
