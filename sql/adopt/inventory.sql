COMMENT ON FUNCTION mint.inventory() IS 'Returns the id columns of the database: what makes their ids, how full they are, and who refers to them';
ALTER FUNCTION mint.inventory() ROWS 1000;
