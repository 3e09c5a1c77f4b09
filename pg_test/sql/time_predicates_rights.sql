-- Conditions on the time of other ids than bigint, the rights of those who ask, and functions of other names and oids.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
\i sql/include/events.sql

-- UUIDs: only of version 7, which a constraint can say.
CREATE TABLE documents (id uuid PRIMARY KEY, n int);
INSERT INTO documents SELECT uuid_v7(timestamptz '2026-01-01' + n * interval '1 minute'), n FROM generate_series(0, 1000) n;
INSERT INTO documents SELECT uuid_v6(), 0 UNION ALL SELECT uuid_v1(), 0 UNION ALL SELECT uuid_v4(), 0;
VACUUM ANALYZE documents;
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_v7_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM documents WHERE uuid_v7_time(id) < '2026-01-01 01:00';
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
ALTER TABLE documents ADD CONSTRAINT only_7 CHECK (n >= 0 AND uuid_version_of(id) = 7) NOT VALID;
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
DELETE FROM documents WHERE uuid_version_of(id) <> 7;
ALTER TABLE documents VALIDATE CONSTRAINT only_7;
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';
ALTER TABLE documents DROP CONSTRAINT only_7, ADD CHECK (uuid_version_of(id) = 6 OR uuid_version_of(id) = 7);
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE uuid_time(id) < '2026-01-01 01:00';

-- ObjectIDs.
CREATE TABLE objects (id objectid PRIMARY KEY, owner name DEFAULT current_user);
INSERT INTO objects SELECT objectid_min(timestamptz '2026-01-01' + n * interval '1 minute') FROM generate_series(0, 1000) n;
VACUUM ANALYZE objects;
EXPLAIN (COSTS OFF) SELECT * FROM objects WHERE objectid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM objects WHERE objectid_time(id) < '2026-01-01 01:00';
SELECT count(*) FROM objects WHERE objectid_time(id) < '2026-01-01 01:00:00.5';
SELECT count(*) FROM objects WHERE objectid_time(id) >= '2107-01-01';

-- Row security: comparisons of bigint and uuid leak nothing and can be bounds; those of objectid cannot.
CREATE ROLE regress_mint_reader;
CREATE TABLE secret (id bigint PRIMARY KEY, owner name);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE objects ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secret USING (owner = current_user);
CREATE POLICY own ON objects USING (owner = current_user);
GRANT SELECT ON secret, objects TO regress_mint_reader;
SET ROLE regress_mint_reader;
EXPLAIN (COSTS OFF) SELECT * FROM secret WHERE snowflake_time(id) >= '2026-02-03';
EXPLAIN (COSTS OFF) SELECT * FROM objects WHERE objectid_time(id) >= '2026-02-03';
RESET ROLE;

-- A role that may not call the function of the bound gets the same rows, and no error.
REVOKE EXECUTE ON FUNCTION snowflake_min(timestamptz, snowflake_layout) FROM PUBLIC;
GRANT SELECT ON events TO regress_mint_reader;
SET ROLE regress_mint_reader;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03';
RESET ROLE;
PREPARE mine AS SELECT count(*) FROM events WHERE snowflake_time(id) >= now() - interval '900 years';
EXECUTE mine;
SET plan_cache_mode = force_generic_plan;
EXECUTE mine;
SET ROLE regress_mint_reader;
EXECUTE mine;
RESET ROLE;
RESET plan_cache_mode;
GRANT EXECUTE ON FUNCTION snowflake_min(timestamptz, snowflake_layout) TO PUBLIC;
DROP OWNED BY regress_mint_reader;
DROP ROLE regress_mint_reader;

-- Nothing is known by its name.
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.snowflake_time(bigint) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT
    AS $$ BEGIN RETURN '-infinity'; END $$;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE elsewhere.snowflake_time(id) >= '2026-01-03';

-- A role that may not call the function itself gets the same error, in a plan of before too.
REVOKE EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) FROM PUBLIC;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';
CREATE ROLE regress_mint_reader;
GRANT SELECT ON events TO regress_mint_reader;
SET ROLE regress_mint_reader;
SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03';
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) TO regress_mint_reader;
SET ROLE regress_mint_reader;
PREPARE mine_too AS SELECT count(*) FROM events WHERE snowflake_time(id) >= '2026-01-03';
EXECUTE mine_too;
EXPLAIN (COSTS OFF) EXECUTE mine_too;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) FROM regress_mint_reader;
SET ROLE regress_mint_reader;
EXECUTE mine_too;
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_time(bigint, snowflake_layout) TO PUBLIC;
DROP OWNED BY regress_mint_reader;
DROP ROLE regress_mint_reader;

-- Functions of PL/pgSQL, and those that the extension had before.
CREATE FUNCTION since(at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM events WHERE snowflake_time(id) >= at; RETURN n; END $$;
SELECT since(at) FROM (VALUES (timestamptz '2026-01-03'), ('-infinity'), (NULL), ('infinity'), ('2026-01-04'), ('2026-01-05'), ('2026-01-07')) t (at);
CREATE INDEX ON events (snowflake_time(id));
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) BETWEEN '2026-01-03' AND '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) = '2026-01-03';
SELECT count(*) FROM events WHERE snowflake_time(id) = '2026-01-03';

-- After a new installation the functions have other oids.
DROP EXTENSION pg_mint CASCADE;
CREATE EXTENSION pg_mint;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE snowflake_time(id) >= '2026-01-03';

-- They are found in whatever schema it has.
DROP EXTENSION pg_mint CASCADE;
CREATE SCHEMA regress_ids;
CREATE EXTENSION pg_mint SCHEMA regress_ids;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE regress_ids.snowflake_time(id) > '2026-01-03' AND regress_ids.snowflake_time(id) < now();
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE regress_ids.uuid_v7_time(id) > now();
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE regress_ids.snowflake_between(id, '2026-01-03', '2026-01-04');

DROP TABLE events, documents, secret CASCADE;
DROP SCHEMA elsewhere CASCADE;
DROP FUNCTION bounds;
DROP EXTENSION pg_mint;
DROP SCHEMA regress_ids;
