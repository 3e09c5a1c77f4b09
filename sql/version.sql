COMMENT ON FUNCTION mint.version() IS 'Returns the version of the pg_mint library that this session has loaded';
