COMMENT ON FUNCTION snowflake_scatter(bigint, integer) IS 'move the last digits of an id behind its first';
COMMENT ON FUNCTION snowflake_unscatter(bigint, integer) IS 'undo snowflake_scatter';
COMMENT ON FUNCTION auto_random(bigint, integer, integer) IS 'a value below the shard of this transaction, as TiDB''s AUTO_RANDOM';
COMMENT ON FUNCTION auto_random_value(bigint, integer, integer) IS 'the value of which auto_random made an id';
COMMENT ON FUNCTION auto_random_shard(bigint, integer, integer) IS 'the shard that auto_random drew for an id';
