-- None is implicit: a comparison of text with an objectid must stay an error. On assignment PostgreSQL itself casts to text;
-- the casts from text let parameters of ORMs, which are sent as text, into columns.
CREATE CAST (text AS objectid) WITH INOUT AS ASSIGNMENT;
CREATE CAST (varchar AS objectid) WITH INOUT AS ASSIGNMENT;
CREATE CAST (objectid AS bytea) WITH FUNCTION mint.objectid_to_bytea(objectid) AS ASSIGNMENT;
CREATE CAST (bytea AS objectid) WITH FUNCTION mint.objectid_from_bytea(bytea) AS ASSIGNMENT;
