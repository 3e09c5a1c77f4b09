-- None is implicit: a text compared with an objectid by mistake must stay an error. To text there is
-- PostgreSQL's own, on assignment; from text, parameters of ORMs that send text go into columns.
CREATE CAST (text AS objectid) WITH INOUT AS ASSIGNMENT;
CREATE CAST (varchar AS objectid) WITH INOUT AS ASSIGNMENT;
CREATE CAST (objectid AS bytea) WITH FUNCTION objectid_to_bytea(objectid) AS ASSIGNMENT;
CREATE CAST (bytea AS objectid) WITH FUNCTION objectid_from_bytea(bytea) AS ASSIGNMENT;
