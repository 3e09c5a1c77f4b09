-- Segments: any sequence, drawn faster.
CREATE EXTENSION pg_mint;
CREATE SCHEMA segments_test;
SET search_path = segments_test, public;

-- An ordinary sequence, with nextval and setval in between. What was taken is not given out by them.
CREATE SEQUENCE orders;
SELECT segment_next('orders'), segment_next('orders'), nextval('orders'), segment_next('orders'), nextval('orders');
SELECT setval('orders', 10000);
SELECT segment_next('orders'), nextval('orders');
SELECT last_value, is_called FROM orders;
SELECT * FROM generate_series(1, 3), LATERAL segment_next_range('orders', 100 * generate_series);
-- More in a row than the segment has left.
SELECT segment_next_range('orders', 5000), segment_next('orders');
SELECT sequence, position, segment_end, next_ready, step, refills, waits, last_refill <= now() + interval '1 s' AS now FROM mint.segments;

-- Increment, bounds and cycle are the sequence's own, and START counts.
CREATE SEQUENCE down INCREMENT -3 MINVALUE 1 MAXVALUE 10 START 8 CYCLE;
SELECT array_agg(segment_next('down')) FROM generate_series(1, 9);
SELECT segment_next_range('down', 4);
SELECT segment_next_range('down', 5);
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
SELECT segment_drop('tag');
DROP TABLE item;
SELECT segment_drop('tag');

-- What is refused.
SELECT segment_next('tag');
SELECT segment_next('pg_class');
SELECT segment_next(0::regclass::oid);
CREATE TEMP SEQUENCE fleeting;
SELECT segment_next('fleeting');
CREATE UNLOGGED SEQUENCE forgetful;
SELECT segment_next('forgetful');
SELECT segment_create('orders');
SELECT segment_create('more', step => 0);
SELECT segment_create('more', step => 1000001);
SELECT segment_create('not a name');
SELECT segment_create(repeat('"', 10000000));
SELECT segment_next_range('orders', 0);
SELECT segment_next_range('orders', -1);
SELECT segment_next_range('orders', 2147483648);
SELECT segment_next(NULL), segment_next_range(NULL, 1), segment_next_range('orders', NULL);
CREATE TABLE plain (n int);
SELECT segment_drop('plain');

-- Privileges are the sequence's.
CREATE ROLE regress_drawer;
GRANT ALL ON SCHEMA segments_test TO regress_drawer;
SET ROLE regress_drawer;
SELECT segment_next('orders');
SELECT segment_next_range('orders', 2);
SELECT segment_drop('orders');
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
SELECT segment_next('orders'), segment_next_range('orders', 2000);
COMMIT;

-- A range ends before the number after its last value, and the greatest bigint has none: nothing is lost to that.
CREATE SEQUENCE last8 START 9223372036854775800;
SELECT segment_next_range('last8', 8);
SELECT segment_next_range('last8', 7);
SELECT segment_next_range('last8', 1);
SELECT segment_next('last8'), last_value FROM last8;
SELECT segment_next_range('last8', 1);
CREATE SEQUENCE drawn START 9223372036854775800;
SELECT segment_next('drawn');
SELECT segment_next_range('drawn', 7);
SELECT segment_next_range('drawn', 6);
SELECT segment_next_range('drawn', 1);
SELECT segment_next('drawn');
CREATE SEQUENCE by_tens INCREMENT 10 START 9223372036854775787 CACHE 5;
SELECT segment_next_range('by_tens', 3);
SELECT segment_next('by_tens'), segment_next('by_tens'), segment_next('by_tens');
CREATE SEQUENCE topdown INCREMENT -1 MAXVALUE 9223372036854775807 START 9223372036854775807 CACHE 10;
SELECT segment_next_range('topdown', 3);
SELECT segment_next('topdown'), segment_next_range('topdown', 3);
CREATE SEQUENCE bottom INCREMENT -1 MINVALUE -9223372036854775808 START -9223372036854775800;
SELECT segment_next_range('bottom', 10);
SELECT segment_next_range('bottom', 9);
CREATE SEQUENCE round INCREMENT 1 CYCLE MINVALUE 9223372036854775806;
SELECT segment_next_range('round', 2);
SELECT segment_next('round'), segment_next('round'), segment_next_range('round', 1);

-- Leaf's table.
INSERT INTO mint.leaf_alloc VALUES ('leaf-segment-test', 1, 2000, 'Test leaf Segment Mode Get Id', '2020-01-01'), ('late', 70001, 500, NULL, NULL);
INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('new', 10) RETURNING biz_tag, step;
SELECT segment_next('"leaf-segment-test"'), segment_next('late'), segment_next('late');
SELECT biz_tag, max_id, step, description, update_time > now() - interval '1 h' AS updated FROM mint.leaf_alloc WHERE biz_tag NOT LIKE '%.%' ORDER BY biz_tag;
INSERT INTO mint.leaf_alloc VALUES ('late', 1, 10);
INSERT INTO mint.leaf_alloc VALUES ('null', 1, NULL);
INSERT INTO mint.leaf_alloc VALUES ('zero', 1, 0);
\d "leaf-segment-test"

DROP OWNED BY regress_drawer, regress_drawers;
DROP ROLE regress_drawer, regress_drawers;
SET client_min_messages = warning;
DROP SCHEMA segments_test CASCADE;
DROP EXTENSION pg_mint CASCADE;
