-- The registry of nodes, asked as members do. Members' use of the answers, and grants after the wait of 35 s, are tested on
-- whole servers.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
\i sql/include/registry_requests.sql
SELECT ask(13, '{"grant": 1}');
SELECT mint.registry_create();
SELECT mint.registry_create();
SELECT place = mint.registry_place() AS is_here, run, rings FROM mint.registry;
-- Its tables belong to the bootstrap superuser, and its function to the role that has installed the extension.
SELECT c.oid::regclass AS relation, c.relowner = 10 AS is_superuser, c.reloptions AS options, c.oid = ANY (e.extconfig) AS is_dumped,
    (SELECT string_agg(grantee::regrole || ' ' || privilege_type, ', ' ORDER BY grantee::regrole::text COLLATE "C", privilege_type)
        FROM aclexplode(relacl) WHERE grantee <> relowner) AS others
FROM pg_class AS c, pg_extension AS e WHERE extname = 'pg_mint' AND c.oid IN ('mint.registry'::regclass, 'mint.registry_leases'::regclass);
SELECT attrelid::regclass AS relation, attname, format_type(atttypid, atttypmod) AS type, attnotnull AS required, pg_get_expr(adbin, adrelid) AS "default"
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid IN ('mint.registry'::regclass, 'mint.registry_leases'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text COLLATE "C", attnum;
SELECT conrelid::regclass AS relation, pg_get_constraintdef(oid) AS "constraint" FROM pg_constraint
WHERE conrelid IN ('mint.registry'::regclass, 'mint.registry_leases'::regclass) AND contype <> 'n' ORDER BY 1, 2;

-- A registry that was created can be the copy of one that has granted leases: it waits. A width without a ring has none.
SELECT ask(13, '{"grant": 1}');
SELECT ask(width, '{"grant": 1}') FROM (VALUES (0), (7), (64), (4294967295)) AS v (width);
SELECT ask(13, '{"grant": 1}', '3 s'), ask(13, '{"grant": 1}', '-1 h'), ask(13, '{"grant": 1}', '2 s');
SELECT run IS NOT NULL AS has_run, rings, (SELECT count(*) FROM mint.registry_leases) AS leases FROM mint.registry;
-- Renewals continue meanwhile, by the word of members: each lease that lasts, and nobody else's.
SELECT renew(13, 4096, 7);
SELECT renew(13, 4096, 7), renew(13, 4096, 8), renew(13, 4096, 7, '-4 s');
SELECT renew(13, 4095, 7), renew(13, 8192, 7), renew(12, 4096, 7);
SELECT renew(13, 5000, 7, until => '-1 s'), renew(13, 5000, 7, since => '7 s'), renew(13, 5000, 7, until => '37 s'), renew(13, 5000, 9, until => '33 s');
SELECT renew(31, 2147483647, 7), renew(31, 1073741824 + 32767, 7);
SELECT node_bits, node, number, holder, lease_until > now() AS lasts FROM mint.registry_leases ORDER BY 1, 2;
-- A member that asks again with its number gets the lease that it has.
SELECT ask(13, '{"grant": 9}'), ask(13, '{"grant": 10}');
-- The end of a lease is the time of its last id. A lease that is over is never revived.
SELECT ask(13, jsonb_build_object('end', jsonb_build_object('lease', l, 'used', 0))) FROM (
    SELECT jsonb_build_object('node', node, 'number', number, 'from', (extract(epoch FROM lease_from) * 1000000)::bigint,
        'until', (extract(epoch FROM lease_until) * 1000000)::bigint) FROM mint.registry_leases WHERE node = 4096) AS v (l);
SELECT lease_from = lease_until AS is_over FROM mint.registry_leases WHERE node = 4096;
SELECT renew(13, 4096, 11), ask(13, jsonb_build_object('end', jsonb_build_object('lease', lease(4097, 1, '0', '9 s'), 'used', 0)));
-- No end keeps a node out for longer than a lease could.
SELECT ask(13, jsonb_build_object('end', jsonb_build_object('lease', l, 'used', 9223372036854775807))) ~ 'lease' AS is_over FROM (
    SELECT jsonb_build_object('node', node, 'number', number, 'from', (extract(epoch FROM lease_from) * 1000000)::bigint,
        'until', 0) FROM mint.registry_leases WHERE node = 5000) AS v (l);
SELECT lease_until < now() + interval '36 s' AS is_bounded FROM mint.registry_leases WHERE node = 5000;
-- Rows until infinity keep their nodes out of the ring.
INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until) SELECT 10, n, 'kept', 'infinity' FROM generate_series(1000, 1009) AS n;
SELECT renew(10, 1000, 1), renew(10, 999, 1);

-- Rows that were restored or replicated from another place are copied, of the one that was used last, and stay.
UPDATE mint.registry SET place = '1/1';
UPDATE mint.registry_leases SET place = '1/1';
INSERT INTO mint.registry (place) VALUES ('1/2');
SELECT ask(13, '{"grant": 1}'), renew(13, 5000, 8);
SELECT place = mint.registry_place() AS is_here, count(*) FROM mint.registry_leases GROUP BY 1 ORDER BY 1;
DELETE FROM mint.registry WHERE place <> mint.registry_place();
DELETE FROM mint.registry_leases WHERE place <> mint.registry_place();

-- Requests that cannot be read.
SELECT mint.registry_request(NULL);
SELECT mint.registry_request('[]');
SELECT mint.registry_request(to_jsonb(repeat('long', 4096)));
SELECT mint.registry_request('{}');
SELECT mint.registry_request('{"protocol": 2}');
SELECT mint.registry_request('{"protocol": 0}');
SELECT mint.registry_request('{"protocol": "1"}');
SELECT mint.registry_request('{"protocol": 1}');
SELECT mint.registry_request('{"protocol": 1, "holder": 5}');
SELECT mint.registry_request('{"protocol": 1, "holder": "a", "width": -1, "clock": 0, "demand": {"grant": 1}}');
SELECT mint.registry_request('{"protocol": 1, "holder": "a", "width": 13, "clock": 1e400, "demand": {"grant": 1}}');
SELECT mint.registry_request('{"protocol": 1, "holder": "a", "width": 13, "clock": 0, "demand": {"more": 1}}');
SELECT mint.registry_request('{"protocol": 1, "holder": "a", "width": 13, "clock": 0, "demand": {"renewal": {"node": 1}}}');
SELECT mint.registry_request(('{"protocol": 1, "later": ' || repeat('[', 200) || repeat(']', 200) || '}')::jsonb);
-- Every lease is a transaction, which sees all that were granted.
BEGIN;
SELECT ask(13, '{"grant": 1}');
ROLLBACK;
SET default_transaction_isolation = 'repeatable read';
SELECT ask(13, '{"grant": 1}');
RESET default_transaction_isolation;
SET default_transaction_read_only = on;
SELECT ask(13, '{"grant": 1}');
RESET default_transaction_read_only;
-- Rows that somebody wrote by hand.
UPDATE mint.registry SET run = '5';
SELECT ask(13, '{"grant": 1}');
UPDATE mint.registry SET run = NULL, rings = '{"13": {"position": -1}}';
SELECT ask(13, '{"grant": 1}');
UPDATE mint.registry SET run = NULL, rings = '{}';
SELECT ask(13, '{"grant": 1}');
\set VERBOSITY terse
INSERT INTO mint.registry_leases (node_bits, node, lease_until) VALUES (7, 1, now());
INSERT INTO mint.registry_leases (node_bits, node, lease_until) VALUES (13, -1, now());
INSERT INTO mint.registry_leases (node_bits, node, lease_until) VALUES (10, 4096, 'infinity');
\set VERBOSITY default
INSERT INTO mint.registry_leases (node_bits, node, lease_from, lease_until) VALUES (13, 8191, '-infinity', '-infinity'), (13, 4444, 'infinity', now());
SELECT ask(13, '{"grant": 1}'), renew(13, 4444, 0);

-- Nobody asks, reads or creates a registry but who is permitted.
CREATE ROLE member;
SET ROLE member;
SELECT ask(13, '{"grant": 1}');
SELECT mint.registry_create();
SELECT count(*) FROM mint.registry_leases;
SELECT mint.release_leases();
SELECT * FROM mint.leases;
RESET ROLE;
GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO member;
SET ROLE member;
SELECT ask(13, '{"grant": 1}');
SELECT count(*) FROM mint.registry_leases;
RESET ROLE;
GRANT pg_monitor TO member;
SET ROLE member;
SELECT count(*) > 0 AS some FROM mint.registry_leases;
DELETE FROM mint.registry_leases;
SELECT * FROM mint.leases;
RESET ROLE;
DROP FUNCTION renew, ask, lease;
DROP EXTENSION pg_mint;
DROP ROLE member;
-- Sequences of other servers.
CREATE EXTENSION pg_mint;
SELECT segment_create('far', source => 'nowhere');
SELECT segment_create(NULL);
CREATE SEQUENCE small MINVALUE 1 MAXVALUE 2;
SELECT segment_next('small'), segment_next('small');
SELECT segment_next('small');
DROP SEQUENCE small;
DROP EXTENSION pg_mint;
