COMMENT ON FUNCTION snowflake_next_id(integer, snowflake_layout) IS 'generate an id for a shard';
COMMENT ON FUNCTION snowflake_next_id() IS 'generate an Instagram id for the node of this server, pg_mint.node';
COMMENT ON FUNCTION snowflake_next(snowflake_layout) IS 'generate an id for the node of this server, pg_mint.node';
COMMENT ON FUNCTION snowflake_next_ids(integer, bigint, snowflake_layout) IS 'generate many ids for a shard, in ascending order';
ALTER FUNCTION snowflake_next_ids(integer, bigint, snowflake_layout) ROWS 1000;
COMMENT ON FUNCTION snowflake_last_id() IS 'the id that this session minted last';
