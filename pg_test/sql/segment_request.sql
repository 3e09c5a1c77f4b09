-- Segments for other servers: what another server calls for its next segment. It tells what it has taken before, and gets nothing at or before that.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
CREATE SEQUENCE central MAXVALUE 1000 CACHE 10;
SELECT * FROM mint.segment_request('central', 100, NULL);
SELECT segment_next('central');
-- From the page, and not from the segment here.
SELECT * FROM mint.segment_request('central', 5, 100);
SELECT setval('central', 50);
SELECT * FROM mint.segment_request('central', 100, 115);
-- No other server either, from now on.
SELECT * FROM mint.segment_request('central', 100, NULL);
SELECT * FROM mint.segment_request('central', 100, 20);
SELECT setval('central', 114);
SELECT * FROM mint.segment_request('central', 1, NULL);
SELECT setval('central', 115);
SELECT * FROM mint.segment_request('central', 1, 115);
-- Fewer at the end, and then none.
SELECT * FROM mint.segment_request('central', 2000, 116);
SELECT * FROM mint.segment_request('central', 1, 1000);
-- A value that counts as the next one was not issued yet.
CREATE SEQUENCE central_down INCREMENT -5 MINVALUE -100 MAXVALUE 10 START 10;
SELECT * FROM mint.segment_request('central_down', 3, NULL);
SELECT * FROM mint.segment_request('central_down', 3, 0);
ALTER SEQUENCE central_down RESTART;
SELECT * FROM mint.segment_request('central_down', 3, -15);
SELECT setval('central_down', -15, false);
SELECT * FROM mint.segment_request('central_down', 3, -15);
SELECT setval('central_down', -20, false);
SELECT * FROM mint.segment_request('central_down', 3, -15);
-- A sequence that begins again repeats its values by definition.
CREATE SEQUENCE central_round MAXVALUE 5 CYCLE;
SELECT * FROM mint.segment_request('central_round', 9, NULL);
SELECT * FROM mint.segment_request('central_round', 9, 5);
SELECT * FROM mint.segment_request(NULL, 1, 1);
SELECT * FROM mint.segment_request('central', NULL, 1);
SELECT * FROM mint.segment_request('central', 0, 1);
SELECT * FROM mint.segment_request('pg_class', 1, NULL);
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
SELECT segment_create('far', source => 'elsewhere');
SELECT * FROM mint.segment_request('far', 1, NULL);
DROP SEQUENCE far;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
CREATE ROLE regress_stranger;
SET ROLE regress_stranger;
SELECT * FROM mint.segment_request('central', 1, NULL);
RESET ROLE;
DROP ROLE regress_stranger;
DROP SEQUENCE central, central_down, central_round;
DROP EXTENSION pg_mint;
