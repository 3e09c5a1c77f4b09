-- The schema of a registry: what stands in its place, what is not trusted, and an owner who is not a superuser.
CREATE EXTENSION pg_mint;
CREATE ROLE member;
-- Not a registry: something else of its name. A schema that programs left empty is replaced.
CREATE SCHEMA mint_registry;
COMMENT ON SCHEMA mint_registry IS 'left';
\set VERBOSITY terse
SELECT mint.registry_end_quarantine();
\set VERBOSITY default
SELECT mint.registry_create();
SELECT obj_description('mint_registry'::regnamespace, 'pg_namespace');
SELECT mint.registry_drop();
CREATE SCHEMA mint_registry AUTHORIZATION member;
SELECT mint.registry_create();
ALTER SCHEMA mint_registry OWNER TO CURRENT_USER;
CREATE VIEW mint_registry.registry AS SELECT 1 AS one;
SELECT mint.registry_end_quarantine();
SELECT mint.registry_create();
DROP SCHEMA mint_registry CASCADE;
DROP OWNED BY member;
-- What makes a table one that is not trusted is named, and what to do about it; the leases stay.
SELECT mint.registry_create();
CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER run BEFORE UPDATE ON mint_registry.leases FOR EACH ROW EXECUTE FUNCTION run();
SELECT mint.registry_end_quarantine();
DROP TRIGGER run ON mint_registry.leases;
CREATE RULE r AS ON UPDATE TO mint_registry.leases DO ALSO NOTHING;
SELECT mint.registry_end_quarantine();
DROP RULE r ON mint_registry.leases;
ALTER TABLE mint_registry.leases ENABLE ROW LEVEL SECURITY;
SELECT mint.registry_end_quarantine();
ALTER TABLE mint_registry.leases DISABLE ROW LEVEL SECURITY;
ALTER TABLE mint_registry.leases SET UNLOGGED;
SELECT mint.registry_end_quarantine();
ALTER TABLE mint_registry.leases SET LOGGED;
ALTER TABLE mint_registry.leases OWNER TO member;
SELECT mint.registry_end_quarantine();
ALTER TABLE mint_registry.leases OWNER TO CURRENT_USER;
ALTER TABLE mint_registry.leases RENAME TO held;
\set VERBOSITY terse
SELECT mint.registry_end_quarantine();
\set VERBOSITY default
ALTER TABLE mint_registry.held RENAME TO leases;
SELECT mint.registry_end_quarantine();
ALTER TABLE mint_registry.leases DROP COLUMN renewals CASCADE;
SELECT mint.registry_end_quarantine();
SELECT mint.registry_reserve(13, 1, 1, 'x');
SELECT mint.registry_drop();
DROP SCHEMA mint_registry CASCADE;
DROP FUNCTION run;
-- An owner who is not a superuser.
CREATE ROLE keeper;
SET ROLE keeper;
SELECT mint.registry_create();
RESET ROLE;
SELECT format('GRANT CREATE ON DATABASE %I TO keeper', current_database()) \gexec
SET ROLE keeper;
SELECT mint.registry_create(), mint.registry_create('20 s');
SELECT mint.registry_end_quarantine(), mint.registry_reserve(10, 1, 1, 'x'), mint.registry_unreserve(10, 1, 1);
SELECT lease FROM mint_registry.registry;
-- Planning a query would call the function, for as long as its owner likes.
CREATE FUNCTION mint_registry.slow(integer) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN true;
CREATE INDEX trap ON mint_registry.leases (node_bits) WHERE mint_registry.slow(node_bits);
RESET ROLE;
SELECT detail LIKE '%functions of their owner%' AS is_refused FROM mint.health() WHERE check_name = 'quarantine';
DROP INDEX mint_registry.trap; DROP FUNCTION mint_registry.slow;
SELECT detail LIKE '%functions of their owner%' AS is_refused FROM mint.health() WHERE check_name = 'quarantine';
SELECT nspowner::regrole, count(*) FILTER (WHERE relowner = nspowner) AS own FROM pg_namespace n JOIN pg_class c ON relnamespace = n.oid WHERE nspname = 'mint_registry' GROUP BY 1;
UPDATE mint_registry.leases SET lease_until = now();
SELECT mint.registry_drop();
DROP OWNED BY keeper;
DROP ROLE keeper;
DROP EXTENSION pg_mint CASCADE;
DROP ROLE member;
