COMMENT ON FUNCTION snowflake_encode(timestamptz, bigint, bigint, snowflake_layout) IS 'the id of a moment, shard and sequence';
COMMENT ON FUNCTION snowflake_decode(bigint, snowflake_layout) IS 'moment, shard and sequence of an id';
ALTER FUNCTION snowflake_decode(bigint, snowflake_layout) ROWS 1;
COMMENT ON FUNCTION snowflake_time(bigint, snowflake_layout) IS 'the start of an id''s tick: when it was minted, or up to pg_mint.max_ahead later';
COMMENT ON FUNCTION snowflake_shard(bigint, snowflake_layout) IS 'the shard of an id';
COMMENT ON FUNCTION snowflake_sequence(bigint, snowflake_layout) IS 'the sequence of an id within its tick';
COMMENT ON FUNCTION snowflake_jsonb(bigint, snowflake_layout) IS 'all parts of an id, the id as a string';
