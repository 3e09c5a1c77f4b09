-- Ids of nanoid: random characters of an alphabet.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;

SELECT count(DISTINCT id), bool_and(id ~ '^[A-Za-z0-9_-]{21}$') AS usual FROM (SELECT nano_id() AS id FROM generate_series(1, 10000)) ids;
SELECT size, length(nano_id(size)), nano_id(size) ~ '^[A-Za-z0-9_-]*$' AS usual FROM unnest(ARRAY[1, 21, 255]) size;
SELECT length(nano_id(12, 'aé€😀')), nano_id(100, 'aé€😀') ~ '^[aé€😀]*$' AS of_alphabet, nano_id(NULL), nano_id(5, NULL);

-- Every character is equally likely: within 6 standard deviations of 255,000 draws.
SELECT alphabet, count(DISTINCT sign), bool_and(abs(drawn - expected) < 6 * sqrt(expected)) AS likely
FROM unnest(ARRAY['ab', 'abc', '0123456789', '_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ']) alphabet,
    LATERAL (SELECT 255000.0 / length(alphabet) AS expected) e,
    LATERAL (SELECT sign, count(*) AS drawn FROM generate_series(1, 1000) n, regexp_split_to_table(nano_id(255 + 0 * n, alphabet), '') sign GROUP BY sign) d
GROUP BY alphabet ORDER BY length(alphabet);

-- Refused.
SELECT nano_id(0);
\echo :LAST_ERROR_SQLSTATE
SELECT nano_id(256);
SELECT nano_id(5, '');
SELECT nano_id(5, 'é');
SELECT nano_id(5, (SELECT string_agg(chr(n), '') FROM generate_series(256, 512) n));
SELECT nano_id(5, 'abcéxé');
SELECT nano_id(5, repeat('a', 100000));
\echo :LAST_ERROR_SQLSTATE

-- The origin of a Nano id is unknown, and it can be a default.
SELECT format, time, parts, canonical, likelihood FROM id_inspect('V1StGXR8_Z5jdHi6B-myT');
SELECT count(*) FROM id_inspect('a-slug-of-21-letters-');
CREATE TABLE link (id text PRIMARY KEY DEFAULT nano_id(), url text);
CREATE TABLE short_link (id text PRIMARY KEY DEFAULT nano_id(10, '23456789abcdefghjkmnpqrstuvwxyz'), url text);
CREATE TABLE loaded (id text PRIMARY KEY);
INSERT INTO loaded VALUES ('V1StGXR8_Z5jdHi6B-myT'), ('IvJ0p8TrHgE3VzN5w-DkQ');
SELECT relation, kind FROM mint.id_columns ORDER BY 1;

DROP TABLE link, short_link, loaded;
DROP EXTENSION pg_mint;
