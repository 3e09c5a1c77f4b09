-- Who is permitted to ask a registry, what cannot be read, and what outlives the extension.
CREATE EXTENSION pg_mint;
\i sql/include/registry_requests.sql
SELECT mint.registry_create();
SELECT mint.registry_end_quarantine();
SELECT (ask(NULL, 13, NULL, NULL)).node FROM generate_series(1, 4);
-- Requests that cannot be read.
SELECT mint.registry_request('{"protocol": 2, "request": "lease"}');
SELECT mint.registry_request('{"request": "lease"}');
SELECT mint.registry_request('[]');
SELECT mint.registry_request('{"protocol": 0}');
SELECT mint.registry_request('{"protocol": -1}');
SELECT mint.registry_request('{"protocol": "1"}');
SELECT mint.registry_request('{"protocol": 1.5}');
SELECT mint.registry_request('{"protocol": 1}');
SELECT mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 9999999999}');
SELECT mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 13, "nodes": [1, 2, 3]}');
SELECT mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 13, "listed": [[1, 2], [3]]}');
SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', 13, 'holder', 'here', 'system', 1, 'clock', 1, 'listed', (SELECT jsonb_agg('[1, 1]'::jsonb) FROM generate_series(1, 65))));
SELECT mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 13, "lease": [1]}');
SELECT mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 13, "lease": {"id": 1, "from": 1}}');
SELECT mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 13, "holder": 5}');
SELECT mint.registry_request('{"protocol": 1, "request": "release", "id": 1e400, "until": 0}');
SELECT mint.registry_request(('{"protocol": 1, "later": ' || repeat('[', 200) || repeat(']', 200) || '}')::jsonb);
SELECT mint.registry_request('{"protocol": 1, "request": "more"}');
SELECT mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 13, "holder": "here", "system": 1}');
SELECT mint.registry_request('{"protocol": 1, "request": "release", "id": "one", "until": 0}');
SELECT mint.registry_request(NULL);
-- Permitted: the owner of the schema and its members, and for requests of leases, each role that may INSERT them.
CREATE ROLE member;
SET ROLE member;
SELECT ask(NULL, 13, NULL, NULL);
SELECT release(1);
SELECT mint.registry_create();
SELECT mint.registry_drop();
SELECT mint.registry_end_quarantine();
SELECT mint.registry_evict('here');
SELECT mint.registry_evict(13, 1, 1);
SELECT mint.release_leases();
SELECT * FROM mint_registry.leases;
SELECT * FROM mint.leases;
RESET ROLE;
GRANT INSERT ON mint_registry.nodes TO member;
SET ROLE member;
SELECT (ask(NULL, 13, NULL, NULL)).why;
SELECT mint.registry_end_quarantine();
RESET ROLE;
GRANT pg_monitor TO member;
SET ROLE member;
SELECT count(*) > 3 AS some FROM mint_registry.nodes;
SELECT * FROM mint.leases;
-- With USAGE on the schema, a member still inserts no rows itself.
INSERT INTO mint_registry.nodes (node_bits, first_node, last_node, holder) VALUES (10, 0, 1022, 'squat');
INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written)
    VALUES (1, 10, 0, 1022, 'squat', now(), now(), 'infinity', 'infinity', '3');
RESET ROLE;
SELECT is_insertable_into FROM information_schema.tables WHERE table_schema = 'mint_registry' AND table_name = 'nodes';
-- No row is what a registry would not write.
\set VERBOSITY terse
INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written) VALUES (2, 32, 0, 0, 'x', now(), now(), now(), now(), '3');
INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written) VALUES (2, 10, 1023, 1024, 'x', now(), now(), now(), now(), '3');
INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written) VALUES (2, 10, -1, 0, 'x', now(), now(), now(), now(), '3');
INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written) VALUES (2, 10, 5, 5, 'x', now(), now(), '-infinity', now(), '3');
\set VERBOSITY default
SELECT mint.registry_reserve(32, 0, 0, 'x');

-- The tables are no part of the extension, which comes and goes without them.
SELECT mint.registry_reserve(13, 4000, 4000, 'static');
SELECT mint.registry_reserve(13, 5000, 5000, 'static');
DROP FUNCTION ask, release;
DROP EXTENSION pg_mint;
SELECT count(*) > 3 AS some FROM mint_registry.nodes;
CREATE EXTENSION pg_mint;
SELECT mint.registry_reserve(13, 4000, 4000, 'me');
\set VERBOSITY terse
SELECT mint.registry_drop();
\set VERBOSITY default
DELETE FROM mint_registry.leases WHERE lease_until < 'infinity';
-- Nor while nodes are reserved.
SELECT mint.registry_drop();
SELECT mint.registry_unreserve(13, 4000, 4000);
UPDATE mint_registry.leases SET lease_until = now();
CREATE TABLE mint_registry.mine ();
SELECT mint.registry_drop();
DROP TABLE mint_registry.mine;
SELECT mint.registry_drop();
SELECT mint.registry_drop();
DROP EXTENSION pg_mint;
DROP ROLE member;
