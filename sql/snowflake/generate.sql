COMMENT ON FUNCTION snowflake_next_id(integer, snowflake_layout) IS 'Generates an id for a shard';
COMMENT ON FUNCTION snowflake_next_id() IS 'Generates an id of the layout instagram for pg_mint.node';
COMMENT ON FUNCTION snowflake_next(snowflake_layout) IS 'Generates an id for the node of this server, pg_mint.node';
COMMENT ON FUNCTION snowflake_next_ids(integer, bigint, snowflake_layout) IS 'Generates many ids for a shard, in ascending order';
ALTER FUNCTION snowflake_next_ids(integer, bigint, snowflake_layout) ROWS 1000;
COMMENT ON FUNCTION snowflake_last_id() IS 'Returns the id that this session generated last';
COMMENT ON FUNCTION snowflake_start_above(bigint, snowflake_layout) IS 'Lets the shard of an id generate nothing at or below the id, and returns the time from which its ids continue';
