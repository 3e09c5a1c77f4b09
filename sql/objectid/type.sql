CREATE TYPE objectid (
    INPUT = mint.objectid_in,
    OUTPUT = mint.objectid_out,
    RECEIVE = mint.objectid_recv,
    SEND = mint.objectid_send,
    INTERNALLENGTH = 12,
    ALIGNMENT = char,
    STORAGE = plain
);
COMMENT ON TYPE objectid IS 'MongoDB''s 12-byte id: seconds, process and counter';
COMMENT ON FUNCTION mint.objectid_in(cstring) IS 'I/O';
COMMENT ON FUNCTION mint.objectid_out(objectid) IS 'I/O';
COMMENT ON FUNCTION mint.objectid_recv(internal) IS 'I/O';
COMMENT ON FUNCTION mint.objectid_send(objectid) IS 'I/O';
