COMMENT ON FUNCTION id_inspect(text, integer[]) IS 'Returns the formats that an id can have, and what it contains in each, the most likely first';
ALTER FUNCTION id_inspect(text, integer[]) ROWS 10;
COMMENT ON FUNCTION id_inspect(bigint, integer[]) IS 'Returns the layouts that an id can have, and what it contains in each, the most likely first';
ALTER FUNCTION id_inspect(bigint, integer[]) ROWS 18;
COMMENT ON FUNCTION id_inspect(uuid, integer[]) IS 'Returns the formats that an id can have, and what it contains in each, the most likely first';
ALTER FUNCTION id_inspect(uuid, integer[]) ROWS 2;
COMMENT ON FUNCTION id_inspect(objectid, integer[]) IS 'Returns what an ObjectID contains';
ALTER FUNCTION id_inspect(objectid, integer[]) ROWS 1;
