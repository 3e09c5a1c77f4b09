COMMENT ON FUNCTION snowflake_next_id(integer, snowflake_layout) IS 'mint an id of a shard';
COMMENT ON FUNCTION snowflake_next_id() IS 'mint an Instagram id of this server''s node, pg_mint.node';
COMMENT ON FUNCTION snowflake_next(snowflake_layout) IS 'mint an id of this server''s node, pg_mint.node';
COMMENT ON FUNCTION snowflake_next_ids(integer, bigint, snowflake_layout) IS 'mint many ids of a shard, in ascending order';
ALTER FUNCTION snowflake_next_ids(integer, bigint, snowflake_layout) ROWS 1000;
COMMENT ON FUNCTION snowflake_last_id() IS 'the id that this session minted last';
