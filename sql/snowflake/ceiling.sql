-- The durable ceiling, in microseconds since 1970. It begins above all ids that were issued in this database, so that no id
-- repeats after DROP EXTENSION and CREATE EXTENSION.
CREATE SEQUENCE mint.time_ceiling;
COMMENT ON SEQUENCE mint.time_ceiling IS 'no id of this database has this timestamp or a later one, in microseconds since 1970';
SELECT pg_catalog.setval('mint.time_ceiling'::pg_catalog.regclass, mint.highest_ceiling());

-- It is part of a dump, and the owner of the database can make and restore dumps.
SELECT pg_catalog.pg_extension_config_dump('mint.time_ceiling'::pg_catalog.regclass, ''::pg_catalog.text);
GRANT SELECT, UPDATE ON SEQUENCE mint.time_ceiling TO pg_database_owner;
