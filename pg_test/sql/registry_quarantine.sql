-- What a registry forgets: limits and evictions, changes by hand, restarts and copies, and what waits meanwhile.
\pset format unaligned
\pset tuples_only
CREATE EXTENSION pg_mint;
\i sql/include/registry_requests.sql
SELECT mint.registry_create();
SELECT mint.registry_end_quarantine();
SELECT incarnation >> 32 AS begun FROM mint_registry.registry \gset
SELECT (ask(NULL, 13, NULL, NULL)).node, (ask(NULL, 10, NULL, NULL)).node;
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
-- A clock that was ahead and is accepted as it is now: nodes that were leased then stay leased, until their leases are ended.
-- Reservations stay, and what is granted by this clock.
SELECT mint.registry_reserve(13, 6001, 6001, 'for good'), mint.registry_reserve(13, 6002, 6002, 'given back');
SELECT mint.registry_unreserve(13, 6002, 6002), (ask(NULL, 13, 6003, 6003)).node, (ask(NULL, 13, 6004, 6004)).node;
UPDATE mint_registry.leases SET lease_from = lease_from + '1 day', lease_until = lease_until + '1 day', free_from = free_from + '1 day',
    written = pg_current_xact_id()::xid WHERE first_node IN (6002, 6004);
UPDATE mint_registry.registry SET horizon = now() + '1 day', written = pg_current_xact_id()::xid;
SELECT why ~ 'is behind the end of a granted lease' AS behind FROM ask(NULL, 13, 6005, 6005);
SELECT mint.registry_accept_clock();
SELECT node, why FROM ask(NULL, 13, 6005, 6005);
SELECT mint.registry_end_quarantine();
SELECT node, why ~ 'node 6004 .* leased by' AS leased FROM ask(NULL, 13, 6004, 6004);
SELECT node, why FROM ask(NULL, 13, 6005, 6005);
SELECT mint.registry_accept_clock(end_leases => true), mint.registry_accept_clock(NULL);
SELECT first_node, lease_until BETWEEN now() AND now() + interval '75 s' AS lasts, free_from < now() + interval '3 min' AS ends
    FROM mint_registry.leases WHERE first_node BETWEEN 6001 AND 6005 ORDER BY first_node;
SELECT mint.registry_end_quarantine();
SELECT node, why FROM ask(NULL, 13, 6004, 6004);
SELECT mint.registry_accept_clock(true);
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
\set VERBOSITY terse
DROP SCHEMA mint_registry CASCADE;
DROP EXTENSION pg_mint CASCADE;
