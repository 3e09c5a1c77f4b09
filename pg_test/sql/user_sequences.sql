-- User sequences: a separate sequence for each user.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
CREATE SCHEMA user_sequences_test;
SET search_path = user_sequences_test, public;

SELECT user_sequence_create('messages');
SELECT user_sequence_next('messages', 1), user_sequence_next('messages', 2), user_sequence_next('messages', 1);
SELECT user_sequence_current('messages', 1), user_sequence_current('messages', 2), user_sequence_current('messages', 3);
SELECT r.*, user_sequence_next('messages', 1) FROM user_sequence_next_range('messages', 1, 3) r;
SELECT r.*, user_sequence_next('messages', 1), user_sequence_next('messages', 2) FROM user_sequence_next_range('messages', 1, 25000) r;
SELECT user_sequence_next('messages', uid) FROM unnest(ARRAY[0, -1, 9223372036854775807, -9223372036854775808]) uid;
BEGIN;
SELECT user_sequence_next('messages', 1);
ROLLBACK;
SELECT user_sequence_next('messages', 1);
BEGIN READ ONLY;
SELECT user_sequence_next('messages', 1), user_sequence_current('messages', 1);
COMMIT;

-- Users of another system continue above their numbers.
SELECT user_sequence_create('later', sections => 3, above => 1000000);
SELECT min(user_sequence_current('later', uid)), max(user_sequence_current('later', uid)),
    min(user_sequence_next('later', uid)), max(user_sequence_next('later', uid))
    FROM generate_series(1, 100) uid;
SELECT user_sequence_create('latest', sections => 1, above => 9223372036854775804);
SELECT user_sequence_next('latest', 1);
SELECT user_sequence_next('latest', 1);
SELECT user_sequence_create('none', above => 9223372036854775805);
SELECT user_sequence_create('none', above => -1);
SELECT user_sequence_create('none', above => NULL);

-- A family is a table: sections are its columns, the step is their CACHE.
SELECT count(*), min(attname), max(attidentity) FROM pg_attribute WHERE attrelid = 'messages'::regclass AND attnum > 0;
SELECT DISTINCT seqcache FROM pg_sequence JOIN pg_depend ON objid = seqrelid WHERE refobjid = 'messages'::regclass;
ALTER TABLE messages RENAME TO letters;
CREATE SCHEMA post;
ALTER TABLE letters SET SCHEMA post;
SELECT user_sequence_next('post.letters', 1);
\set VERBOSITY terse
INSERT INTO post.letters DEFAULT VALUES;
\set VERBOSITY default
BEGIN;
SELECT user_sequence_drop('post.letters');
SELECT user_sequence_create('post.letters', sections => 2, step => 5);
SELECT user_sequence_next('post.letters', 1), user_sequence_next('post.letters', 1);
ROLLBACK;
SELECT user_sequence_next('post.letters', 1);

-- One section: a user who never drew begins where the section did.
SELECT user_sequence_create('one', sections => 1, step => 10);
SELECT array_agg(user_sequence_next('one', 7)) FROM generate_series(1, 30);
SELECT user_sequence_next('one', 8), user_sequence_current('one', 9);
SELECT last_value > 30 AS above FROM one_section_0_seq;

-- Numbers in the order of commits.
BEGIN;
SELECT user_sequence_next_for_commit('one', 7), user_sequence_next_for_commit('one', ARRAY[9, 8, 9]);
SELECT count(*), count(DISTINCT (classid, objid)) AS users, min(objsubid), bool_and(granted) FROM pg_locks WHERE locktype = 'advisory';
COMMIT;
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory';
SELECT user_sequence_next_for_commit('one', '{}'::bigint[]);
SELECT user_sequence_next_for_commit('one', ARRAY[1, NULL]);

-- Refused.
SELECT user_sequence_next('pg_class', 1);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY);
SELECT user_sequence_next('identity', 1);
SELECT user_sequence_next('one_section_0_seq', 1);
SELECT user_sequence_next('nothing', 1);
SELECT user_sequence_next(0::oid, 1);
SELECT user_sequence_create('one');
SELECT user_sequence_create(NULL);
SELECT user_sequence_create('two', sections => NULL);
SELECT user_sequence_create('two', step => NULL);
SELECT user_sequence_create('two', sections => 0);
SELECT user_sequence_create('two', sections => 1001);
SELECT user_sequence_create('two', step => 0);
SELECT * FROM user_sequence_next_range('one', 1, 0);
SELECT * FROM user_sequence_next_range('one', 1, -5);
ALTER TABLE one ADD extra int;
SELECT user_sequence_next('one', 7);
ALTER TABLE one DROP extra;
ALTER TABLE one ADD section_1 bigint GENERATED ALWAYS AS IDENTITY;
SELECT user_sequence_next('one', 7);
ALTER TABLE one DROP section_1;
ALTER TABLE one RENAME section_0 TO zero;
SELECT user_sequence_next('one', 7);
ALTER TABLE one RENAME zero TO section_0;
SELECT user_sequence_next('one', 7) > 0 AS whole;
DROP TABLE one;
SELECT user_sequence_create('one', sections => 1);
SELECT user_sequence_next('one', 7);
SELECT setval('one_section_0_seq', 9223372036854775800);
SELECT * FROM user_sequence_next_range('one', 7, 20000);
CREATE TEMP TABLE fleeting (section_0 bigint GENERATED ALWAYS AS IDENTITY, CONSTRAINT no_rows_in_1_sections CHECK (false));
SELECT user_sequence_next('fleeting', 1);
CREATE TABLE rows (body text);
SELECT user_sequence_drop('rows');

-- The view: sections in shared memory, and what their users take up there.
SELECT user_sequence_create('viewed', sections => 2, step => 10);
SELECT count(*) FROM mint.user_sequences WHERE family = 'viewed'::regclass;
SELECT max(user_sequence_next('viewed', uid * 4)) FROM generate_series(1, 40) AS uid;
SELECT user_sequence_next('viewed', 4) FROM generate_series(1, 20);
SELECT section, floor, ceiling > 20 AS raised, users > 5 AS users, memory = users * 8 AS memory, last_raise <= clock_timestamp() AS last_raise
FROM mint.user_sequences WHERE family = 'viewed'::regclass ORDER BY section;
SELECT sum(users) >= 40 AS all FROM mint.user_sequences WHERE family = 'viewed'::regclass;
SELECT ceiling = last_value AS is_on_the_page FROM mint.user_sequences, viewed_section_0_seq WHERE family = 'viewed'::regclass AND section = 0;
CREATE ROLE regress_watcher;
SET ROLE regress_watcher;
SELECT count(*) FROM mint.user_sequences;
RESET ROLE;
GRANT pg_monitor TO regress_watcher;
SET ROLE regress_watcher;
SELECT count(*) > 1 AS watched FROM mint.user_sequences;
RESET ROLE;
DROP ROLE regress_watcher;
SELECT user_sequence_drop('viewed');
SELECT count(*) FROM mint.user_sequences WHERE family::text LIKE '%viewed%';

-- Privileges.
CREATE ROLE regress_writer;
GRANT USAGE ON SCHEMA post, user_sequences_test TO regress_writer;
SET ROLE regress_writer;
SELECT user_sequence_next('post.letters', 1);
SELECT user_sequence_current('post.letters', 1);
SELECT user_sequence_drop('post.letters');
RESET ROLE;
GRANT SELECT ON post.letters TO regress_writer;
SET ROLE regress_writer;
SELECT user_sequence_next('post.letters', 1);
SELECT user_sequence_current('post.letters', 1) > 25000 AS looked;
SELECT user_sequence_next('post.letters', 1);
RESET ROLE;
GRANT INSERT ON post.letters TO regress_writer;
SET ROLE regress_writer;
SELECT user_sequence_next('post.letters', 1) > 25000 AS drawn;
RESET ROLE;
REVOKE INSERT ON post.letters FROM regress_writer;
SET ROLE regress_writer;
SELECT user_sequence_next('post.letters', 1);
RESET ROLE;
DROP OWNED BY regress_writer;
DROP ROLE regress_writer;
SELECT user_sequence_drop('one'), user_sequence_drop('post.letters');
DROP TABLE identity;
DROP SCHEMA post;
SET client_min_messages = warning;
DROP SCHEMA user_sequences_test CASCADE;
DROP EXTENSION pg_mint CASCADE;
