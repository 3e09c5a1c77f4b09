COMMENT ON FUNCTION mint.inventory() IS 'Returns the id columns of the database: what generates their ids, how full they are, and which foreign keys refer to them';
ALTER FUNCTION mint.inventory() ROWS 1000;
