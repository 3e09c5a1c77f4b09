CREATE TYPE objectid (
    INPUT = mint.objectid_in,
    OUTPUT = mint.objectid_out,
    RECEIVE = mint.objectid_recv,
    SEND = mint.objectid_send,
    INTERNALLENGTH = 12,
    ALIGNMENT = char,
    STORAGE = plain
);
COMMENT ON TYPE objectid IS 'MongoDB''s 12-byte id: seconds, process, counter';
