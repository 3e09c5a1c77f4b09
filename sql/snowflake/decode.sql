COMMENT ON FUNCTION snowflake_encode(timestamptz, integer, bigint, snowflake_layout) IS 'Returns the id of a timestamp, a shard and a sequence';
COMMENT ON FUNCTION snowflake_decode(bigint, snowflake_layout) IS 'Returns the timestamp, the shard and the sequence of an id';
ALTER FUNCTION snowflake_decode(bigint, snowflake_layout) ROWS 1;
COMMENT ON FUNCTION snowflake_time(bigint, snowflake_layout) IS 'Returns the start of an id''s tick: when it was generated, or up to pg_mint.max_ahead later';
COMMENT ON FUNCTION snowflake_shard(bigint, snowflake_layout) IS 'Returns the shard of an id';
COMMENT ON FUNCTION snowflake_sequence(bigint, snowflake_layout) IS 'Returns the sequence of an id within its tick';
COMMENT ON FUNCTION snowflake_to_jsonb(bigint, snowflake_layout) IS 'Returns all parts of an id; the id itself as a string';
COMMENT ON FUNCTION snowflake_is_valid(bigint, snowflake_layout) IS 'Returns whether an id can be of a layout';
COMMENT ON FUNCTION snowflake_convert(bigint, snowflake_layout, snowflake_layout) IS 'Returns the id of the same time, shard and sequence in another layout';
