-- Segments: any sequence, drawn faster.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
CREATE SCHEMA segments_test;
SET search_path = segments_test, public;

-- An ordinary sequence, with nextval and setval in between. They do not give out values that were taken.
CREATE SEQUENCE orders;
SELECT segment_next('orders'), segment_next('orders'), nextval('orders'), segment_next('orders'), nextval('orders');
SELECT setval('orders', 10000);
SELECT segment_next('orders'), nextval('orders');
SELECT last_value, is_called FROM orders;
SELECT * FROM generate_series(1, 3) n, LATERAL segment_next_range('orders', 100 * n);
-- More in a row than the segment has left.
SELECT r.*, segment_next('orders') FROM segment_next_range('orders', 5000) r;
SELECT sequence, position, segment_end, next_ready, step, refills, waits, last_refill <= now() + interval '1 s' AS now FROM mint.segments;

-- Increment, bounds and cycle are the sequence's own, and START counts.
CREATE SEQUENCE down INCREMENT -3 MINVALUE 1 MAXVALUE 10 START 8 CYCLE;
SELECT array_agg(segment_next('down')) FROM generate_series(1, 9);
SELECT * FROM segment_next_range('down', 4);
SELECT n FROM segment_next_range('down', 3) r, generate_series(r.first, r.last, r.step) n;
SELECT * FROM segment_next_range('down', 5);
CREATE SEQUENCE short MAXVALUE 5;
SELECT segment_next('short') FROM generate_series(1, 5);
SELECT segment_next('short');
SELECT nextval('short');
CREATE SEQUENCE brink START 9223372036854775806;
SELECT segment_next('brink'), segment_next('brink');
SELECT segment_next('brink');
CREATE SEQUENCE abyss INCREMENT -1 MINVALUE -9223372036854775808 START -9223372036854775807;
SELECT segment_next('abyss'), segment_next('abyss');
SELECT segment_next('abyss');
-- Values in segments can still be drawn: no warning at 85 % drawn and 90 % taken, and then as many as the warning says.
CREATE SEQUENCE ending MAXVALUE 20000 CACHE 1000;
SELECT setval('ending', 17000);
SELECT segment_next('ending');
SELECT max(segment_next('ending')) FROM generate_series(1, 1101);
SELECT max(segment_next('ending')) FROM generate_series(1, 1898);
SELECT segment_next('ending');
DROP SEQUENCE ending;
-- The remedy depends on the type and the direction: there is none at the ends of bigint, above.
CREATE SEQUENCE tiny AS smallint START 32767;
SELECT segment_next('tiny');
CREATE SEQUENCE tiny_of_seven AS smallint MAXVALUE 7 START 7;
SELECT segment_next('tiny_of_seven');
CREATE SEQUENCE shallow INCREMENT -1 MINVALUE -1 MAXVALUE 5 START -1;
SELECT segment_next('shallow');
CREATE SEQUENCE deep AS integer INCREMENT -1 START -2147483648;
SELECT segment_next('deep');
-- A range that is too long, while there are values.
CREATE SEQUENCE seven MAXVALUE 7;
SELECT * FROM segment_next_range('seven', 10);
CREATE SEQUENCE hundred MAXVALUE 100 CYCLE;
SELECT * FROM segment_next_range('hundred', 200);
SELECT * FROM segment_next_range('shallow', 2);
DROP SEQUENCE tiny, tiny_of_seven, shallow, deep, seven, hundred;

-- A step of its own is the sequence's CACHE, and so altered, dumped and rolled back with it.
SELECT segment_create('tag', step => 100);
SELECT segment_next('tag');
SELECT last_value FROM tag;
ALTER SEQUENCE tag CACHE 50;
SELECT segment_next('tag');
SELECT last_value FROM tag;
ALTER SEQUENCE tag RESTART;
SELECT segment_next('tag');
BEGIN;
ALTER SEQUENCE tag RESTART WITH 7000;
SELECT segment_next('tag');
ROLLBACK;
SELECT segment_next('tag');
BEGIN;
DROP SEQUENCE tag;
SELECT segment_create('tag', 10, start => 500);
SELECT segment_next('tag');
ROLLBACK;
SELECT segment_next('tag');
BEGIN;
SELECT segment_next('tag');
ROLLBACK;
SELECT segment_next('tag');

-- A default depends on its sequence.
CREATE TABLE item (id bigint DEFAULT segment_next('tag'), n int);
INSERT INTO item (n) SELECT generate_series(1, 3) RETURNING *;
DROP SEQUENCE tag;
DROP TABLE item;
DROP SEQUENCE tag;

-- Refused.
SELECT segment_next('tag');
SELECT segment_next('pg_class');
SELECT segment_next(0::regclass::oid);
CREATE TEMP SEQUENCE fleeting;
SELECT segment_next('fleeting');
CREATE UNLOGGED SEQUENCE forgetful;
SELECT segment_next('forgetful');
SELECT segment_create('orders');
SELECT segment_create(NULL);
SELECT segment_create('more', step => NULL);
DROP SEQUENCE more;
SELECT segment_create('more', step => 0);
SELECT segment_create('more', source_sequence => 'there');
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
SELECT segment_create('more', start => 5, source => 'elsewhere');
SELECT segment_create('more', source => 'elsewhere');
SELECT segment_set('more', 5);
SELECT ticket_alter('more', 1, 2, 10);
DROP SEQUENCE more;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
SELECT segment_create('pg_temp."Te"');
SELECT segment_create('more', start => NULL);
SELECT segment_next('more');
DROP SEQUENCE more;
SELECT segment_create('more', step => 1000001);
SELECT segment_create('not a name');
SELECT segment_create(repeat('"', 10000000));
-- A longer name would be cut, to 63 bytes.
SELECT segment_create(repeat('x', 64));
SELECT segment_create(repeat('ä', 32));
SELECT segment_create('"' || repeat('x', 63) || '"');
DROP SEQUENCE xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx;
SELECT * FROM segment_next_range('orders', 0);
SELECT * FROM segment_next_range('orders', -1);
SELECT * FROM segment_next_range('orders', 2147483648);
SELECT segment_next(NULL), segment_last(NULL);
SELECT * FROM segment_next_range(NULL, 1) UNION ALL SELECT * FROM segment_next_range('orders', NULL);

-- Privileges are the sequence's.
CREATE ROLE regress_drawer;
GRANT ALL ON SCHEMA segments_test TO regress_drawer;
SET ROLE regress_drawer;
SELECT segment_next('orders');
SELECT * FROM segment_next_range('orders', 2);
SELECT segment_last('orders');
SELECT count(*) FROM mint.segments;
SELECT segment_create('own');
SELECT segment_next('own');
RESET ROLE;
GRANT USAGE ON SEQUENCE orders TO regress_drawer;
SET ROLE regress_drawer;
SELECT segment_next('orders');
SELECT sequence, position FROM mint.segments WHERE sequence = 'orders'::regclass;
RESET ROLE;
REVOKE USAGE ON SEQUENCE orders FROM regress_drawer;
SET ROLE regress_drawer;
SELECT segment_next('orders');
RESET ROLE;
CREATE ROLE regress_drawers;
GRANT UPDATE ON SEQUENCE orders TO regress_drawers;
GRANT regress_drawers TO regress_drawer;
SET ROLE regress_drawer;
SELECT segment_next('orders');
RESET ROLE;
REVOKE regress_drawers FROM regress_drawer;
SET ROLE regress_drawer;
SELECT segment_next('orders');
RESET ROLE;

-- Read-only transactions draw, as minting does.
BEGIN READ ONLY;
SELECT segment_next('orders'), r.* FROM segment_next_range('orders', 2000) r;
COMMIT;

-- Ranges up to both ends of bigint. A range that does not fit is refused, and nothing is lost to that.
CREATE SEQUENCE last8 START 9223372036854775800;
SELECT * FROM segment_next_range('last8', 9);
SELECT * FROM segment_next_range('last8', 8);
SELECT * FROM segment_next_range('last8', 1);
CREATE SEQUENCE drawn START 9223372036854775800;
SELECT segment_next('drawn');
SELECT * FROM segment_next_range('drawn', 8);
SELECT * FROM segment_next_range('drawn', 6);
SELECT * FROM segment_next_range('drawn', 1);
SELECT segment_next('drawn');
CREATE SEQUENCE by_tens INCREMENT 10 START 9223372036854775787 CACHE 5;
SELECT * FROM segment_next_range('by_tens', 4);
SELECT * FROM segment_next_range('by_tens', 3);
CREATE SEQUENCE top_down INCREMENT -1 MAXVALUE 9223372036854775807 START 9223372036854775807 CACHE 10;
SELECT * FROM segment_next_range('top_down', 3);
SELECT segment_next('top_down'), r.* FROM segment_next_range('top_down', 3) r;
CREATE SEQUENCE bottom INCREMENT -1 MINVALUE -9223372036854775808 START -9223372036854775800;
SELECT * FROM segment_next_range('bottom', 10);
SELECT * FROM segment_next_range('bottom', 9);
CREATE SEQUENCE round INCREMENT 1 CYCLE MINVALUE 9223372036854775806;
SELECT * FROM segment_next_range('round', 2);
SELECT r.first, q.last, segment_next('round') FROM segment_next_range('round', 1) r, segment_next_range('round', 1) q;
SELECT n FROM segment_next_range('orders', 3) r, generate_series(r.first, r.last, r.step) n;

-- The value drawn last, of a range the first, as currval(); DISCARD forgets it.
CREATE SEQUENCE last INCREMENT 2;
SELECT segment_last('last');
SELECT segment_next('last'), segment_next('last'), segment_last('last'), segment_last('orders') IS NOT NULL AS other;
SELECT segment_last('last') FROM segment_next_range('last', 3);
SELECT segment_last('last') FROM segment_next_range('last', 3000);
SELECT nextval('last') > 0, segment_last('last');
SELECT segment_set('last', 20001), segment_last('last');
DISCARD SEQUENCES;
SELECT segment_last('last');
SELECT segment_next('last');
SELECT segment_last('pg_class');

-- The value that any session drew last. nextval() and long ranges take values past the segments.
CREATE SEQUENCE shown INCREMENT 2;
SELECT segment_current('shown');
SELECT segment_next('shown'), segment_next('shown'), segment_current('shown');
SELECT max(segment_next('shown')) FROM generate_series(1, 1998);
SELECT segment_current('shown');
SELECT max(segment_next('shown')) FROM generate_series(1, 2000);
SELECT segment_current('shown'), nextval('shown') > 0 AS nextval, segment_current('shown');
SELECT setval('shown', 50001);
SELECT segment_current('shown');
SELECT segment_set('shown', 60001), segment_current('shown');
CREATE SEQUENCE reset START 7;
SELECT segment_current('reset'), setval('reset', 5, false), segment_current('reset'), nextval('reset'), segment_current('reset');
SELECT segment_current('pg_class'), segment_current(NULL);
SELECT segment_current(NULL) IS NULL AS none;
-- currval() and lastval() answer with values of nextval() alone.
DISCARD SEQUENCES;
SELECT segment_next('reset'), segment_last('reset');
SELECT currval('reset');
SELECT lastval();
SELECT nextval('reset') = lastval() AS of_nextval, segment_next('reset') <> currval('reset') AS differs;
CREATE ROLE regress_reader;
GRANT USAGE ON SCHEMA segments_test TO regress_reader;
SET ROLE regress_reader;
SELECT segment_current('reset');
RESET ROLE;
GRANT SELECT ON SEQUENCE reset TO regress_reader;
SET ROLE regress_reader;
SELECT segment_current('reset') IS NOT NULL AS shown;
RESET ROLE;
DROP OWNED BY regress_reader;
DROP ROLE regress_reader;
-- A step grows to a thousandth of a sequence; one that is a CACHE stays.
CREATE SEQUENCE few MAXVALUE 50000;
CREATE SEQUENCE many;
CREATE SEQUENCE fixed CACHE 10;
SELECT count(segment_next('few')), count(segment_next('many')), count(segment_next('fixed')) FROM generate_series(1, 1000);
SELECT sequence, step FROM mint.segments WHERE sequence IN ('few'::regclass, 'many'::regclass, 'fixed'::regclass) ORDER BY 1;

-- Leaf's table.
INSERT INTO mint.leaf_alloc VALUES ('leaf-segment-test', 1, 2000, 'Test leaf Segment Mode Get Id', '2020-01-01'), ('late', 70001, 500, NULL, NULL);
INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('new', 10), ('single', 1) RETURNING biz_tag, step;
SELECT segment_next('"leaf-segment-test"'), segment_next('late'), segment_next('late'), segment_next('single');
SELECT biz_tag, max_id, step, description, update_time > now() - interval '1 h' AS updated FROM mint.leaf_alloc WHERE biz_tag NOT LIKE '%.%' ORDER BY biz_tag;
INSERT INTO mint.leaf_alloc VALUES ('late', 1, 10);
INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES (repeat('x', 63), 10) RETURNING length(biz_tag);
INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES (repeat('x', 64), 10);
INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('', 10);
INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES (repeat('ü', 32), 10);
DO $$ BEGIN EXECUTE format('DROP SEQUENCE %I', repeat('x', 63)); END $$;
INSERT INTO mint.leaf_alloc VALUES ('null', 1, NULL);
INSERT INTO mint.leaf_alloc VALUES ('zero', 1, 0);
\d "leaf-segment-test"
UPDATE mint.leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'late';
UPDATE mint.leaf_alloc SET step = 700 WHERE biz_tag = 'late';
UPDATE mint.leaf_alloc SET description = 'x' WHERE biz_tag = 'late';
DELETE FROM mint.leaf_alloc WHERE biz_tag = 'late';
SET ROLE regress_drawer;
DELETE FROM mint.leaf_alloc WHERE biz_tag = 'late';
RESET ROLE;
SELECT count(*) FROM mint.leaf_alloc WHERE biz_tag IN ('many', 'own', 'tag');
-- The server's parser of names cannot be interrupted.
INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES (repeat('"', 300000), 10);

DROP OWNED BY regress_drawer, regress_drawers;
DROP ROLE regress_drawer, regress_drawers;
SET client_min_messages = warning;
DROP SCHEMA segments_test CASCADE;
DROP EXTENSION pg_mint CASCADE;
