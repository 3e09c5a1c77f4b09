CREATE VIEW pg_mint_lanes AS SELECT * FROM pg_mint_lanes();
COMMENT ON VIEW pg_mint_lanes IS 'lanes from which this server has minted ids since it started';

CREATE VIEW pg_mint_ceilings AS SELECT * FROM pg_mint_ceilings();
COMMENT ON VIEW pg_mint_ceilings IS 'durable ceilings of this server''s databases since it started';

-- A function in a view is checked against the caller, so both are granted.
REVOKE ALL ON FUNCTION pg_mint_lanes() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_mint_lanes() TO pg_monitor;
GRANT SELECT ON pg_mint_lanes TO pg_monitor;
REVOKE ALL ON FUNCTION pg_mint_ceilings() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pg_mint_ceilings() TO pg_monitor;
GRANT SELECT ON pg_mint_ceilings TO pg_monitor;
REVOKE ALL ON FUNCTION pg_mint_accept_clock() FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_mint_reset_ceiling(timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION pg_mint_highest_ceiling() FROM PUBLIC;

COMMENT ON FUNCTION snowflake_next_id(bigint, snowflake_layout) IS 'mint an id of a shard';
COMMENT ON FUNCTION snowflake_next_id() IS 'mint an Instagram id of this server''s node, pg_mint.node';
COMMENT ON FUNCTION snowflake_next(snowflake_layout) IS 'mint an id of this server''s node, pg_mint.node';
COMMENT ON FUNCTION snowflake_next_ids(bigint, bigint, snowflake_layout) IS 'mint many ids of a shard, in ascending order';
COMMENT ON FUNCTION snowflake_last_id() IS 'the id that this session minted last';
COMMENT ON FUNCTION snowflake_encode(timestamptz, bigint, bigint, snowflake_layout) IS 'the id of a moment, shard and sequence';
COMMENT ON FUNCTION snowflake_decode(bigint, snowflake_layout) IS 'moment, shard and sequence of an id';
COMMENT ON FUNCTION snowflake_time(bigint, snowflake_layout) IS 'when an id was minted';
COMMENT ON FUNCTION snowflake_shard(bigint, snowflake_layout) IS 'the shard of an id';
COMMENT ON FUNCTION snowflake_sequence(bigint, snowflake_layout) IS 'the sequence of an id within its tick';
COMMENT ON FUNCTION snowflake_jsonb(bigint, snowflake_layout) IS 'all parts of an id, the id as a string';
COMMENT ON FUNCTION snowflake_min(timestamptz, snowflake_layout) IS 'smallest id at or after a moment';
COMMENT ON FUNCTION snowflake_max(timestamptz, snowflake_layout) IS 'largest id at or before a moment';
COMMENT ON FUNCTION snowflake_min_after(timestamptz, snowflake_layout) IS 'smallest id after a moment';
COMMENT ON FUNCTION snowflake_max_before(timestamptz, snowflake_layout) IS 'largest id before a moment';
COMMENT ON FUNCTION snowflake_between(bigint, timestamptz, timestamptz, snowflake_layout) IS 'whether an id is from a span of time, its end excluded';
COMMENT ON FUNCTION snowflake_layouts() IS 'the built-in layouts';
COMMENT ON FUNCTION pg_mint_lanes() IS 'lanes from which this server has minted ids since it started';
COMMENT ON FUNCTION pg_mint_accept_clock() IS 'confirm the clock after it jumped forward';
COMMENT ON FUNCTION pg_mint_ceilings() IS 'durable ceilings of this server''s databases since it started';
COMMENT ON FUNCTION pg_mint_reset_ceiling(timestamptz) IS 'put the ceiling of this database to a moment, after a clock that ran ahead';
COMMENT ON FUNCTION pg_mint_highest_ceiling() IS 'where the ceiling of a new extension begins';
COMMENT ON FUNCTION snowflake_layout_in(cstring) IS 'I/O';
COMMENT ON FUNCTION snowflake_layout_out(snowflake_layout) IS 'I/O';
COMMENT ON FUNCTION snowflake_layout_recv(internal) IS 'I/O';
COMMENT ON FUNCTION snowflake_layout_send(snowflake_layout) IS 'I/O';
COMMENT ON FUNCTION snowflake_layout_eq(snowflake_layout, snowflake_layout) IS 'implementation of = operator';
COMMENT ON FUNCTION snowflake_layout_ne(snowflake_layout, snowflake_layout) IS 'implementation of <> operator';
COMMENT ON FUNCTION snowflake_layout_lt(snowflake_layout, snowflake_layout) IS 'implementation of < operator';
COMMENT ON FUNCTION snowflake_layout_le(snowflake_layout, snowflake_layout) IS 'implementation of <= operator';
COMMENT ON FUNCTION snowflake_layout_gt(snowflake_layout, snowflake_layout) IS 'implementation of > operator';
COMMENT ON FUNCTION snowflake_layout_ge(snowflake_layout, snowflake_layout) IS 'implementation of >= operator';
COMMENT ON FUNCTION snowflake_layout_cmp(snowflake_layout, snowflake_layout) IS 'less-equal-greater';
COMMENT ON FUNCTION snowflake_layout_hash(snowflake_layout) IS 'hash';
COMMENT ON FUNCTION snowflake_layout_hash_extended(snowflake_layout, bigint) IS 'hash';

-- How many rows the planner shall expect; pgrx cannot say it.
ALTER FUNCTION snowflake_next_ids(bigint, bigint, snowflake_layout) ROWS 1000;
ALTER FUNCTION snowflake_decode(bigint, snowflake_layout) ROWS 1;
ALTER FUNCTION snowflake_layouts() ROWS 15;
ALTER FUNCTION pg_mint_lanes() ROWS 100;
ALTER FUNCTION pg_mint_ceilings() ROWS 10;
