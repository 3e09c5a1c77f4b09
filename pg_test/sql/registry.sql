-- The registry of nodes, asked as members do. What members make of the answers is tested on whole servers.
CREATE EXTENSION pg_mint;
CREATE FUNCTION ask(id bigint, width int, first bigint, last bigint,
    off interval DEFAULT '0', holder text DEFAULT 'here', seen jsonb DEFAULT NULL, listed jsonb DEFAULT NULL)
    RETURNS TABLE (got bigint, node bigint, upto bigint, seconds numeric, why text)
BEGIN ATOMIC
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp() + off) * 1000000)::bigint AS now),
    answer AS (
        SELECT now, mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', width, 'nodes', CASE WHEN first IS NOT NULL THEN jsonb_build_array(first, last) END,
            'lease', CASE WHEN id IS NOT NULL THEN jsonb_build_object('id', id, 'from', now - 1000000, 'until', now + 1000000) END,
            'holder', holder, 'system', 1, 'clock', now, 'seen', seen, 'listed', listed, 'later', true)) AS a
        FROM clock
    )
    SELECT (a -> 'lease' ->> 'id')::bigint, (a -> 'nodes' ->> 0)::bigint, (a -> 'nodes' ->> 1)::bigint, round(((a -> 'lease' ->> 'until')::bigint - now)::numeric / 1000000),
           regexp_replace(regexp_replace(a ->> 'denial', '\d{4}-\d\d-\d\dT[0-9:.]*Z', 'MOMENT', 'g'), '\d+\.\d s', 'SOME s')
    FROM answer;
END;
CREATE FUNCTION release(id bigint) RETURNS jsonb
    RETURN mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'release', 'id', id, 'until', 0));
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
-- Nodes that stay: one for each holder and width, leased by the holder at one place only, by its key.
SELECT mint.registry_assign(9, 'ada'), mint.registry_assign(9, 'ben'), mint.registry_assign(9, 'ada') AS again, mint.registry_assign(8, 'ada') AS of_another_width;
SELECT mint.registry_assign(9, 'eve', 7), mint.registry_assign(9, 'eve', 7) AS again;
SELECT mint.registry_assign(9, 'eve', 8);
SELECT mint.registry_assign(9, 'zoe', 7);
SELECT mint.registry_assign(9, 'zoe', 512);
SELECT mint.registry_assign(32, 'ada');
SELECT mint.registry_assign(9, '');
SELECT mint.registry_assign(9, NULL);
SELECT mint.registry_assign(NULL, 'ada');
CREATE FUNCTION lease(holder text, assignee jsonb, term jsonb DEFAULT NULL) RETURNS jsonb
BEGIN ATOMIC
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now)
    SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', 9, 'lease', term,
        'holder', holder, 'system', 1, 'clock', now, 'assignee', assignee)) FROM clock;
END;
-- A server shows the keys on its disk, the next one to agree on, and what it has in memory only. Numbers of keys are their counters here.
CREATE FUNCTION own(keys int[], next int, instance int, max_outage bigint DEFAULT NULL, place text DEFAULT 'here', origin int DEFAULT 1) RETURNS jsonb
RETURN (SELECT jsonb_build_object('place', place, 'origin', origin, 'instance', instance, 'max_outage', max_outage,
    'keys', (SELECT jsonb_agg(jsonb_build_array(k, k * 100)) FROM unnest(keys) k), 'next', jsonb_build_array(next, next * 100)));
SELECT lease('zoe', own('{1}', 1, 9)) - '{seen,length}'::text[];
SELECT lease('ada', own('{1}', 1, 9, 3600000000)) AS first \gset
SELECT :'first'::jsonb -> 'nodes' AS nodes, max_outage, assigned, place FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
-- Another server of that name. A server that was started again, or a copy, waits for the end of the lease, wherever it is.
SELECT lease('ada', own('{1}', 2, 9, origin => 2, place => 'there')) - '{seen,length}'::text[];
SELECT regexp_replace(lease('ada', own('{1}', 2, 8)) ->> 'denial', 'until .*', 'until SOON') AS denial;
SELECT regexp_replace(lease('ada', own('{1}', 2, 8, place => 'there'), :'first'::jsonb -> 'lease') ->> 'denial', 'until .*', 'until SOON') AS denial;
-- What the server has once said of its outages counts. A lost answer is survived: the registry has the second key.
SELECT lease('ada', own('{1,2}', 2, 9, 1), :'first'::jsonb -> 'lease') -> 'lease' -> 'id' = :'first'::jsonb -> 'lease' -> 'id' AS renewed;
SELECT lease('ada', own('{1,2}', 2, 9, 1)) -> 'denial' AS again;
SELECT max_outage, renewals FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
SELECT lease('ada', own('{1,2,3}', 3, 9), :'first'::jsonb -> 'lease') -> 'denial' AS denial;
SELECT max_outage IS NULL AS without_a_limit, held, copy_place FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
-- A copy has keys of the past, also one with the memory of the server. So has a server whose copy was first.
SELECT lease('ada', own('{1,2}', 4, 8, place => 'there')) - '{seen,length}'::text[];
SELECT lease('ada', own('{1,2}', 4, 7, place => E'th\nere'), :'first'::jsonb -> 'lease') -> 'denial' AS denial;
SELECT place, copy_place, copy_seen > now() - interval '1 min' AS just_now FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
-- A registry that has lost its last keys, and one that has lost more than the server keeps.
SELECT lease('ada', own('{3,4,5}', 6, 9)) -> 'denial' AS denial;
SELECT lease('ada', own('{30,31}', 32, 9)) -> 'denial' AS denial;
SELECT lease('ada', own('{32}', 33, 9)) -> 'denial' AS denial;
-- A server that could not write the next key keeps the last one.
SELECT lease('ada', own('{33}', NULL, 9) || '{"next": null}') -> 'denial' AS denial, lease('ada', own('{33}', 34, 9)) -> 'denial' AS again;
-- Given to the next server of that name, at the end of the lease; not to the one that has it.
SELECT mint.registry_assign(9, 'ada', moved => true), mint.registry_assign(9, 'ada', moved => NULL);
SELECT mint.registry_assign(9, 'ada', moved => true);
SELECT lease('ada', own('{34}', 35, 9)) -> 'denial' AS denial;
SELECT regexp_replace(lease('ada', own('{7}', 7, 7, origin => 7)) ->> 'denial', 'until .*', 'until SOON') AS denial;
SELECT release(id) FROM mint_registry.leases WHERE assigned AND node_bits = 9 AND holder = 'ada';
SELECT lease('ada', own('{7}', 7, 7, origin => 7)) AS first \gset
SELECT lease('ada', own('{34}', 35, 9)) -> 'denial' AS denial;
SELECT lease('ada', '{"origin": 5}');
SELECT lease('ada', '{"place": "here"}');
SELECT lease('ada', '"here"');
SELECT lease('ada', own('{1}', 1, 9) || '{"max_outage": "1 d"}');
SELECT lease('ada', own('{1}', 1, 9, -1));
SELECT lease('ada', own('{1}', 1, 9, 9223372036854775807));
SELECT lease('ada', own(array_fill(1, '{17}'), 1, 9));
SELECT lease('ada', own('{1}', 1, 9) || '{"next": [1]}');
-- It is renewed by its assignee only.
SELECT node, why FROM ask((:'first'::jsonb -> 'lease' ->> 'id')::bigint, 9, 511, 511);
SELECT release((:'first'::jsonb -> 'lease' ->> 'id')::bigint);
SELECT node, why FROM ask(NULL, 9, 511, 511);
-- Taken away: reserved for as long as the server may use it, here without a limit; or until somebody knows better.
SELECT mint.registry_unassign(9, 'ada'), round(extract(epoch FROM mint.registry_unassign(9, 'ben') - now()) / 10) * 10 AS soon;
SELECT mint.registry_unassign(9, 'ada');
SELECT mint.registry_unassign(32, 'ada');
SELECT lease('eve', own('{1}', 1, 9, 3600000000)) -> 'denial' AS denial;
SELECT round(extract(epoch FROM mint.registry_unassign(9, 'eve') - now()) / 100) * 100 AS later;
SELECT first_node, holder, assigned, place, held, isfinite(lease_until) AS ends FROM mint_registry.nodes WHERE node_bits = 9 ORDER BY 1;
SELECT mint.registry_assign(9, 'ada') AS another;
SELECT mint.registry_unreserve(9, 511, 511), mint.registry_unreserve(9, 7, 7), mint.registry_unassign(9, 'ada') > now(), mint.registry_unassign(8, 'ada') > now();
-- In a quarantine only by number.
SELECT mint.registry_begin_quarantine();
\set VERBOSITY terse
SELECT mint.registry_assign(9, 'ada', 99);
SELECT regexp_replace(lease('ada', own('{1}', 1, 9)) ->> 'denial', '\d+\.\d s', 'SOME s') AS denial;
SELECT mint.registry_unassign(9, 'ada') > now();
DO $$ BEGIN PERFORM mint.registry_assign(9, 'ada'); EXCEPTION WHEN object_in_use THEN RAISE INFO '%', regexp_replace(SQLERRM, '\d+\.\d s', 'SOME s'); END $$;
\set VERBOSITY default
SELECT mint.registry_end_quarantine();
-- Whatever happens, no node is in two leases.
INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written) VALUES (1, 13, 95, 95, 'me', now(), now(), now(), now(), '3');
-- Names are shown on one line, in their own order, and cut.
SELECT node FROM ask(NULL, 12, 7, 7, holder => E'a\n\x1b[31mLOG:  b\u202Ec' || repeat('d', 200));
SELECT holder FROM mint_registry.nodes WHERE node_bits = 12;
SELECT why FROM ask(NULL, 12, 7, 7);
-- What one login can hold.
SELECT mint.registry_create(leases_per_login => (SELECT count(*) + 1 FROM mint_registry.nodes WHERE login = session_user AND held));
SELECT node, upto, why FROM ask(NULL, 12, 1, 3);
SELECT regexp_replace(why, '".*"', '"..."') ~ '^role "..." has \d+ leases \(maximum \d+\)$' AS limited FROM ask(NULL, 12, 4, 4);
SELECT mint.registry_create(nodes_per_login => (SELECT sum(last_node - first_node + 1)::bigint + 10 FROM mint_registry.nodes WHERE login = session_user AND held));
SELECT regexp_replace(why, '".*"', '"..."') ~ '^role "..." has leases of \d+ nodes and requests 11 more \(maximum \d+\)$' AS limited FROM ask(NULL, 12, 10, 20);
SELECT node, upto, why FROM ask(NULL, 12, 10, 19);
SELECT mint.registry_create();
-- Evicted: its holder cannot renew it, and nobody gets the nodes before it would have ended.
SELECT id AS evicted FROM mint_registry.leases WHERE node_bits = 12 AND first_node = 10 \gset
SELECT mint.registry_evict('nobody');
SELECT mint.registry_evict(12, 500, 600);
SELECT mint.registry_evict(12, 19, 30);
SELECT got, why FROM ask(:evicted, 12, 10, 19);
SELECT node, why FROM ask(NULL, 12, 10, 10);
SELECT mint.registry_evict(NULL);
-- Changes by hand, a restore of the data among them, are noticed at the next request.
CREATE FUNCTION why() RETURNS text LANGUAGE plpgsql AS $$ DECLARE why text; BEGIN
    why := (SELECT a.why FROM ask(NULL, 13, NULL, NULL) a);
    PERFORM mint.registry_end_quarantine();
    RETURN coalesce(why, 'granted') || ', then ' || coalesce((SELECT a.why FROM ask(NULL, 13, NULL, NULL) a), 'granted');
END $$;
SELECT why();
CREATE TABLE old AS SELECT * FROM mint_registry.leases;
CREATE TABLE rules AS SELECT * FROM mint_registry.registry;
DELETE FROM mint_registry.leases WHERE node_bits = 12 AND first_node = 7;
SELECT why();
UPDATE mint_registry.leases SET lease_until = lease_until - interval '1 s' WHERE node_bits = 10;
SELECT why();
INSERT INTO mint_registry.leases SELECT * FROM old WHERE node_bits = 12 AND first_node = 7;
SELECT why();
UPDATE mint_registry.registry SET horizon = horizon;
SELECT why();
BEGIN;
TRUNCATE mint_registry.leases, mint_registry.registry;
INSERT INTO mint_registry.registry SELECT * FROM rules;
INSERT INTO mint_registry.leases SELECT * FROM old;
COMMIT;
SELECT why();
TRUNCATE mint_registry.leases;
INSERT INTO mint_registry.leases SELECT * FROM old;
SELECT why();
-- Rows that the registry itself writes are no such changes, also in a subtransaction.
BEGIN;
SAVEPOINT s;
SELECT mint.registry_reserve(13, 5000, 5000, 'in a subtransaction');
RELEASE s;
COMMIT;
SELECT why();
-- A renewal notices that its row was deleted, and writes it again.
SELECT id AS own FROM mint_registry.leases WHERE node_bits = 12 AND first_node = 7 \gset
DELETE FROM mint_registry.leases WHERE id = :own;
SELECT got = :own AS renewed, why FROM ask(:own, 12, 7, 7);
SELECT mint.registry_end_quarantine();
DROP FUNCTION why;
DROP TABLE old, rules;
-- Quarantine: valid leases are renewed, also one that is forgotten; nothing else is granted.
SELECT mint.registry_begin_quarantine();
SELECT node, why FROM ask(NULL, 13, NULL, NULL);
SELECT got, node, why FROM ask(7, 13, 500, 500);
SELECT got, node, why FROM ask(8, 13, 501, 501, off => '2 s');
SELECT got, node, why FROM ask(9, 13, 502, 502, off => '-2 s');
SELECT node, why FROM ask(9, 13, 500, 500);
SELECT (incarnation >> 32) - :begun AS quarantines FROM mint_registry.registry;
SELECT mint.registry_end_quarantine();
SELECT (ask(NULL, 13, NULL, NULL)).node;
-- A copy that was started with a wrong clock does not wait by it.
UPDATE mint_registry.registry SET started = 0;
SELECT node, why FROM ask(NULL, 13, NULL, NULL, off => '1 min');
SELECT started = 0 AS same, quarantine < now() AS over, (incarnation >> 32) - :begun AS quarantines FROM mint_registry.registry;
SELECT node, why FROM ask(NULL, 13, NULL, NULL);
SELECT started = 0 AS same, quarantine < now() AS over, (incarnation >> 32) - :begun AS quarantines FROM mint_registry.registry;
SELECT mint.registry_end_quarantine();
-- A restart of the server that was planned begins no quarantine; the next one does.
SELECT mint.registry_prepare_restart('0');
SELECT mint.registry_prepare_restart('1 h 1 us');
SELECT mint.registry_prepare_restart(NULL);
SELECT mint.registry_prepare_restart('1 h') - now() BETWEEN '59 min' AND '61 min' AS planned;
UPDATE mint_registry.registry SET started = started - 1, written = pg_current_xact_id()::xid;
SELECT (ask(NULL, 13, NULL, NULL)).why;
SELECT started > 0 AS resumed, restart_until, (incarnation >> 32) - :begun AS quarantines FROM mint_registry.registry;
UPDATE mint_registry.registry SET started = started - 1, written = pg_current_xact_id()::xid;
SELECT (ask(NULL, 13, NULL, NULL)).why;
SELECT mint.registry_end_quarantine();
-- Nor is a copy of the database the same registry.
UPDATE mint_registry.registry SET database = 1;
SELECT node, why FROM ask(NULL, 13, NULL, NULL);
SELECT mint.registry_end_quarantine();
-- A member that has seen more than there is. Shortly after a quarantine, nobody is listened to.
SELECT why FROM ask(NULL, 13, NULL, NULL, seen => '{"system": 1, "timeline": 1, "start": 1, "incarnation": 9223372036854775807, "position": 1}');
UPDATE mint_registry.registry SET quarantine = '-infinity', written = pg_current_xact_id()::xid;
SELECT why ~ 'in quarantine' AS noticed FROM mint_registry.registry r, ask(NULL, 13, NULL, NULL, seen => jsonb_build_object('system', r.system_identifier,
    'timeline', 1, 'start', r.started, 'incarnation', r.incarnation, 'position', 9000000000000000000));
SELECT (incarnation >> 32) - :begun AS quarantines FROM mint_registry.registry;
SELECT mint.registry_end_quarantine();
-- An older snapshot would not show what was granted meanwhile.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT mint.registry_reserve(13, 5001, 5001, 'by an older snapshot');
ROLLBACK;
-- A request holds locks that others wait for, so the client does not decide when its transaction ends.
BEGIN;
SELECT ask(NULL, 13, NULL, NULL);
ROLLBACK;
-- A grant that a crash could forget is none.
BEGIN;
SET LOCAL synchronous_commit = off;
SELECT mint.registry_reserve(13, 5002, 5002, 'with synchronous_commit off');
SHOW synchronous_commit;
ROLLBACK;
BEGIN;
SET LOCAL synchronous_commit = remote_apply;
SELECT mint.registry_reserve(13, 5003, 5003, 'with synchronous_commit remote_apply');
SHOW synchronous_commit;
ROLLBACK;
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
DROP FUNCTION ask, release, lease;
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

-- Sequences of other servers.
SELECT segment_create('far', source => 'nowhere');
SELECT segment_create(NULL);
CREATE SEQUENCE small MINVALUE 1 MAXVALUE 2;
SELECT segment_next('small'), segment_next('small');
SELECT segment_next('small');
DROP SEQUENCE small;
DROP EXTENSION pg_mint CASCADE;
DROP ROLE member;
