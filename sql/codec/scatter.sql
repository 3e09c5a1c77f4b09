COMMENT ON FUNCTION snowflake_scatter(bigint, integer) IS 'Moves the last decimal digits of an id behind its first digit';
COMMENT ON FUNCTION snowflake_unscatter(bigint, integer) IS 'Returns the id that snowflake_scatter was given';
COMMENT ON FUNCTION auto_random(bigint, integer, integer) IS 'Returns a value with a shard of this transaction in front, as TiDB''s AUTO_RANDOM does';
COMMENT ON FUNCTION auto_random_value(bigint, integer, integer) IS 'Returns the value that auto_random was given';
COMMENT ON FUNCTION auto_random_shard(bigint, integer, integer) IS 'Returns the shard that auto_random drew for an id';
