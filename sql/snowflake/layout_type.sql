CREATE TYPE snowflake_layout (
    INPUT = mint.snowflake_layout_in,
    OUTPUT = mint.snowflake_layout_out,
    RECEIVE = mint.snowflake_layout_recv,
    SEND = mint.snowflake_layout_send,
    INTERNALLENGTH = 20,
    ALIGNMENT = char,
    STORAGE = plain
);
COMMENT ON TYPE snowflake_layout IS 'Layout of a 64-bit id: the bits of its time, node and sequence';
COMMENT ON FUNCTION mint.snowflake_layout_in(cstring) IS 'I/O';
COMMENT ON FUNCTION mint.snowflake_layout_out(snowflake_layout) IS 'I/O';
COMMENT ON FUNCTION mint.snowflake_layout_recv(internal) IS 'I/O';
COMMENT ON FUNCTION mint.snowflake_layout_send(snowflake_layout) IS 'I/O';
