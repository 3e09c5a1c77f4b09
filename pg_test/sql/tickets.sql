-- Tickets: numbers of several servers that never meet.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
CREATE SCHEMA tickets_test;
SET search_path = tickets_test, public;

SELECT ticket_create('photos', server => 1, servers => 2), ticket_create('photos_b', server => 2, servers => 2);
SELECT array_agg(ticket_next('photos')) AS a, array_agg(ticket_next('photos_b')) AS b FROM generate_series(1, 5);
SELECT ticket_last('photos'), ticket_last('photos_b');
SELECT r.*, ticket_last('photos'), ticket_next('photos') FROM ticket_next_range('photos', 3) r;
SELECT ticket_create('accounts');
SELECT ticket_last('accounts');
SELECT ticket_next('accounts');
DISCARD SEQUENCES;
SELECT ticket_last('accounts');
SELECT ticket_last('nobodys');

-- The ticket that any session drew last.
SELECT ticket_create('seen', server => 2, servers => 3, step => 50);
SELECT ticket_current('seen'), ticket_next('seen'), ticket_next('seen'), ticket_current('seen');
SELECT cache_size, last_value FROM pg_sequences WHERE sequencename = 'seen';
SELECT ticket_current('nobodys');
SELECT ticket_create('none', step => 0);
SELECT ticket_create('none', step => 1000001);
SELECT ticket_create('none', above => 18446744073709551615);
SELECT ticket_create('none', above => 'NaN');

-- 32 bits end where an integer does, with a warning well before.
SELECT ticket_create('small', bits => 32, above => 2147483646);
SELECT ticket_next('small');
SELECT ticket_next('small');
SELECT ticket_create('none', 1, 3, 32, 2147483647);
SELECT ticket_create('none', 1, 3, above => 9223372036854775807);
SELECT ticket_alter('small', 1, 3, 2147483647);
SELECT ticket_create(NULL);
SELECT ticket_create('none', NULL), ticket_create('none', 1, NULL);
SELECT ticket_create('none', servers => NULL);
SELECT ticket_create('none', bits => NULL);
SELECT ticket_create('none', above => NULL);
SELECT ticket_create('nearly', bits => 32);
SELECT setval('nearly', 1932737282);
SELECT ticket_next('nearly');
SELECT ticket_next('nearly');

-- Three servers instead of two. Each is told the greatest of all.
SELECT last_value FROM photos;
SELECT ticket_alter('photos', server => 1, servers => 3, above => 30);
SELECT ticket_alter('photos', 1, 3, 20000), ticket_alter('photos_b', 2, 3, 20000), ticket_create('photos_c', 3, 3, above => 20000);
SELECT array_agg(ticket_next('photos')) AS a, array_agg(ticket_next('photos_b')) AS b, array_agg(ticket_next('photos_c')) AS c FROM generate_series(1, 3);

-- The definition of a ticket carries the server's number: START modulo INCREMENT, and MINVALUE.
SELECT sequencename, start_value, min_value, increment_by FROM pg_sequences WHERE sequencename LIKE 'photos%' ORDER BY 1;
SELECT ticket_alter('photos_c', server => 2, servers => 4, above => 30000);
SELECT start_value, min_value, increment_by FROM pg_sequences WHERE sequencename = 'photos_c';
BEGIN;
SELECT ticket_alter('photos', 1, 4, 90000);
SELECT ticket_next('photos');
ROLLBACK;
SELECT ticket_next('photos');

-- Refused.
SELECT ticket_create('photos');
SELECT ticket_create('more', server => 3, servers => 2);
SELECT ticket_create('more', server => 0, servers => 2);
SELECT ticket_create('more', servers => 0);
SELECT ticket_create('more', bits => 16);
SELECT ticket_create('more', above => -1);
SELECT ticket_create('more', above => 9223372036854775807);
SELECT ticket_create('more', bits => 32, above => 2147483647);
SELECT * FROM ticket_next_range('photos', 0);
SELECT ticket_alter('photos', 5, 4, 90000);
CREATE ROLE regress_ticket;
GRANT USAGE ON SCHEMA tickets_test TO regress_ticket;
SET ROLE regress_ticket;
SELECT ticket_next('photos');
SELECT ticket_alter('photos', 1, 4, 90000);
SELECT ticket_alter(0::oid, 1, 4, 90000);
RESET ROLE;
GRANT UPDATE ON SEQUENCE photos TO regress_ticket;
SET ROLE regress_ticket;
SELECT ticket_alter('photos', 1, 4, 90000);
RESET ROLE;
DROP OWNED BY regress_ticket;
DROP ROLE regress_ticket;
DROP SEQUENCE photos, photos_b;
SELECT ticket_next('photos_b');

-- A rolled-back ticket is spent. Nothing is written but the sequence's page.
CREATE TABLE size AS SELECT pg_relation_size('accounts') AS before;
BEGIN;
SELECT ticket_next('accounts');
ROLLBACK;
SELECT ticket_next('accounts');
SELECT count(ticket_next('accounts')) FROM generate_series(1, 1000000);
SELECT before = pg_relation_size('accounts') AS constant, before FROM size;
DROP TABLE size;

-- The last ticket is for roles that may look at the tickets now, while there are any.
SELECT ticket_create('short_lived'), ticket_create('ends', above => 9223372036854775800);
SELECT ticket_next('short_lived'), ticket_last('short_lived');
CREATE ROLE regress_ticket;
GRANT USAGE ON SCHEMA tickets_test TO regress_ticket;
SET ROLE regress_ticket;
SELECT ticket_last('short_lived');
RESET ROLE;
GRANT SELECT ON SEQUENCE short_lived TO regress_ticket;
SET ROLE regress_ticket;
SELECT ticket_last('short_lived');
RESET ROLE;
REVOKE SELECT ON SEQUENCE short_lived FROM regress_ticket;
GRANT USAGE ON SEQUENCE short_lived TO regress_ticket;
SET ROLE regress_ticket;
SELECT ticket_last('short_lived');
RESET ROLE;
DROP OWNED BY regress_ticket;
DROP ROLE regress_ticket;
CREATE TABLE gone AS SELECT 'short_lived'::regclass::oid AS oid;
DROP SEQUENCE short_lived;
SELECT ticket_last('short_lived');
DO $$ DECLARE gone oid := (SELECT oid FROM gone); BEGIN PERFORM ticket_last(gone::regclass);
EXCEPTION WHEN undefined_table THEN RAISE INFO '%', replace(SQLERRM, gone::text, 'N'); END $$;
SELECT ticket_last('gone');
DROP TABLE gone;
SELECT * FROM ticket_next_range('ends', 8);
SELECT r.*, ticket_last('ends') FROM ticket_next_range('ends', 7) r;
SELECT ticket_next('ends');

-- A look-alike of Flickr's own table.
CREATE VIEW tickets64 AS SELECT ticket_current('accounts') AS id, 'a'::char AS stub;
CREATE FUNCTION next_ticket() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := ticket_next('accounts'); RETURN NEW; END $$;
CREATE TRIGGER next_ticket INSTEAD OF INSERT ON tickets64 FOR EACH ROW EXECUTE FUNCTION next_ticket();
INSERT INTO tickets64 (stub) VALUES ('a') RETURNING id;
SELECT * FROM tickets64;
DROP VIEW tickets64;
DROP FUNCTION next_ticket;
SET client_min_messages = warning;
DROP SCHEMA tickets_test CASCADE;
DROP EXTENSION pg_mint CASCADE;
