-- The registry of nodes, asked as members do. What members make of the answers is tested on whole servers.
CREATE EXTENSION pg_mint;
\i sql/include/registry_requests.sql
SELECT ask(NULL, 13, NULL, NULL);
SELECT mint.registry_create(lease => '4.9 s');
SELECT mint.registry_create(lease => '61 s');
SELECT mint.registry_create(lease => NULL);
SELECT mint.registry_create(lease => '10 s', max_skew => '6 s');
SELECT mint.registry_create(lease => '60 s', max_skew => '11 s');
SELECT mint.registry_create(leases_per_login => 0);
SELECT mint.registry_create(nodes_per_login => NULL);
SELECT mint.registry_create();
SELECT incarnation >> 32 AS begun FROM mint_registry.registry \gset
SELECT lease, max_skew, leases_per_login, nodes_per_login, horizon,
    round(extract(epoch FROM quarantine - now()) / 10) * 10 AS waits, (incarnation >> 32) - :begun AS quarantines
    FROM mint_registry.registry;
SELECT mint.registry_create('5 s');
SELECT lease, max_skew FROM mint_registry.registry;
SELECT mint.registry_create('60 s', max_skew => '10 s');
SELECT lease, max_skew, (incarnation >> 32) - :begun AS quarantines FROM mint_registry.registry;
SELECT mint.registry_create();
-- Its tables and its view, which older servers read and which are dumped.
SELECT c.oid::regclass AS relation, relkind AS kind,
    relpersistence AS persistence, reloptions AS options, relrowsecurity AS row_security,
    (SELECT string_agg(grantee::regrole || ' ' || privilege_type, ', ') FROM aclexplode(relacl) WHERE grantee <> relowner) AS others,
       obj_description(c.oid, 'pg_class') AS comment FROM pg_class c WHERE relnamespace = 'mint_registry'::regnamespace ORDER BY relname COLLATE "C";
SELECT c.oid::regclass AS relation, attnum, attname, format_type(atttypid, atttypmod) AS type, attnotnull AS required, pg_get_expr(adbin, adrelid) AS "default"
FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid LEFT JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = 'mint_registry'::regnamespace AND relkind <> 'i' AND attnum > 0 ORDER BY relname COLLATE "C", attnum;
SELECT conrelid::regclass AS relation, conname, pg_get_constraintdef(oid) AS "constraint" FROM pg_constraint
WHERE connamespace = 'mint_registry'::regnamespace AND contype <> 'n' ORDER BY conname COLLATE "C";
SELECT pg_get_indexdef(indexrelid) AS index FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = 'mint_registry'::regnamespace ORDER BY relname COLLATE "C";
SELECT node, why FROM ask(NULL, 13, NULL, NULL);
SELECT mint.registry_end_quarantine();

-- The highest free node of each width.
SELECT (ask(NULL, 13, NULL, NULL)).node FROM generate_series(1, 3);
SELECT (ask(NULL, 10, NULL, NULL)).node;
SELECT (ask(NULL, 1, NULL, NULL)).node FROM generate_series(1, 2);
SELECT node, why FROM ask(NULL, 1, NULL, NULL);
SELECT (ask(NULL, 0, NULL, NULL)).node;
SELECT node, why FROM ask(NULL, 0, 0, 0);
-- Nobody gets what a member lists without asking for it by number, of any width: neither itself nor another one.
SELECT node, why FROM ask(NULL, 4, NULL, NULL, holder => 'lists', listed => '[[15, 15], [12, 13], [7, 6], [-5, 9], [5000000000, 9223372036854775807]]');
SELECT (ask(NULL, 4, NULL, NULL)).node FROM generate_series(1, 2);
SELECT node, why FROM ask(NULL, 4, 15, 15);
SELECT node, why FROM ask(NULL, 2, NULL, NULL, listed => '[[0, 3]]');
-- Nodes and ranges by their numbers, which nobody else has; of a range the first ones that are free.
SELECT node, upto, seconds, why FROM ask(NULL, 13, 100, 163, holder => 'b');
SELECT node, upto, why FROM ask(NULL, 13, 90, 100);
SELECT node, upto, why FROM ask(NULL, 13, 95, 170);
SELECT node, why FROM ask(NULL, 13, 120, 120);
SELECT node, why FROM ask(NULL, 13, 85, 85, holder => 'c');
SELECT node, upto, why FROM ask(NULL, 13, 84, 170);
SELECT node, upto, why FROM ask(NULL, 13, 86, 170);
SELECT node, upto, why FROM ask(NULL, 13, 84, 170);
SELECT node, why FROM ask(NULL, 10, 120, 120);
SELECT ask(NULL, 13, 8000, 8192);
SELECT ask(NULL, 13, 5, 4);
SELECT ask(NULL, 13, -1, 4);
SELECT ask(NULL, 63, NULL, NULL);
SELECT ask(NULL, -1, NULL, NULL);
-- Clocks.
SELECT node, why FROM ask(NULL, 13, NULL, NULL, off => '3 s');
SELECT node, why FROM ask(NULL, 13, NULL, NULL, off => '-1 h');
SELECT node, why FROM ask(NULL, 13, NULL, NULL, off => '-2 s');
-- Renewals.
SELECT got = l.id AS same, node, upto, seconds, why FROM mint_registry.leases l, ask(l.id, 13, 100, 163) WHERE first_node = 100;
SELECT renewals FROM mint_registry.nodes WHERE first_node = 100;
SELECT got, why FROM ask(1, 13, 100, 163);
SELECT got, why FROM mint_registry.leases l, ask(l.id, 13, 100, 162) WHERE first_node = 100;
SELECT ask(1, 13, NULL, NULL);
-- Given back: others have the nodes at once, but not those who had them before.
SELECT release(id) FROM mint_registry.leases WHERE first_node = 100;
SELECT release(1);
SELECT held, lease_until = lease_from AS over FROM mint_registry.nodes WHERE first_node = 100;
SELECT node, upto, why FROM ask(NULL, 13, 100, 120);
SELECT horizon > '-infinity' AS remembered FROM mint_registry.registry;
-- Kept for servers that do not ask.
SELECT mint.registry_reserve(10, 200, 1001, 'the old ones');
SELECT mint.registry_reserve(10, 1000, 1000, 'too late');
SELECT mint.registry_reserve(10, 100, 100, '');
SELECT mint.registry_reserve(10, 100, 100, NULL);
SELECT mint.registry_reserve(NULL, 100, 100, 'x');
SELECT mint.registry_reserve(10, NULL, 100, 'x');
SELECT mint.registry_reserve(10, 100, NULL, 'x');
SELECT node, why FROM ask(NULL, 10, NULL, NULL);
SELECT node, why FROM ask(NULL, 10, 700, 700);
SELECT node_bits, first_node, last_node, holder, held, system_identifier, lease_until FROM mint_registry.nodes WHERE holder LIKE 'the%';
SELECT mint.registry_evict(10, 200, 900);
SELECT mint.registry_unreserve(10, 200, 1000);
SELECT mint.registry_unreserve(10, 200, 1001);
SELECT held, lease_until < now() + interval '71 s' AS soon FROM mint_registry.nodes WHERE holder LIKE 'the%';
-- Whatever happens, no node is in two leases.
INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written) VALUES (1, 13, 95, 95, 'me', now(), now(), now(), now(), '3');

-- Sequences of other servers.
SELECT segment_create('far', source => 'nowhere');
SELECT segment_create(NULL);
CREATE SEQUENCE small MINVALUE 1 MAXVALUE 2;
SELECT segment_next('small'), segment_next('small');
SELECT segment_next('small');
DROP SEQUENCE small;
\set VERBOSITY terse
DROP SCHEMA mint_registry CASCADE;
DROP EXTENSION pg_mint CASCADE;
