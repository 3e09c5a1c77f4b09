-- Ids as others see them: as text, also with a check character, and concealed.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;

SELECT encoding, id_to_text(1428076403798048768, encoding) AS text, id_to_text(0, encoding) AS zero,
       id_to_text(9223372036854775807, encoding) AS last,
       id_from_text(id_to_text(1428076403798048768, encoding), encoding) = 1428076403798048768 AS back
FROM unnest(ARRAY['base58', 'base58btc', 'base62', 'base64url', 'crockford', 'crockford-check', 'zbase32', 'hex']) encoding;
SELECT id_to_text(1428076403798048768), id_from_text('4jgmnx8Js8A');
SELECT id_from_text('BsOGulcndj-', 'base64url') AS instagram, snowflake_time(id_from_text('BsOGulcndj-', 'base64url')) AT TIME ZONE 'UTC' AS at;
SELECT id_from_text('7zzz-zzzz-zzzzz', 'crockford'), id_from_text('oIl', 'crockford'), id_from_text('00Ff', 'hex');
SELECT encoding, count(*), bool_and(id_from_text(id_to_text(id, encoding), encoding) = id) AS back, count(DISTINCT id_to_text(id, encoding)) AS texts
FROM unnest(ARRAY['base58', 'base58btc', 'base62', 'base64url', 'crockford', 'crockford-check', 'zbase32', 'hex']) encoding,
     (SELECT (1::bigint << s) + d AS id FROM generate_series(1, 62) s, generate_series(-1, 0) d) ids GROUP BY encoding ORDER BY encoding;

-- Texts that are not ids.
SELECT id_to_text(-1);
SELECT id_to_text(1, 'base59');
SELECT id_from_text('1', 'BASE58');
SELECT id_from_text('1', '');
SELECT id_from_text('');
SELECT id_from_text('0');
SELECT id_from_text('4jgml');
SELECT id_from_text('14jgmnx8Js8A');
SELECT id_from_text('npL6MjP8Qfd');
SELECT id_from_text('4jgmnx8Js8A ');
SELECT id_from_text('7ZZZZZZZZZZZU', 'crockford');
SELECT id_from_text('8000000000000', 'crockford');
SELECT id_from_text('--', 'crockford');
SELECT id_from_text('YB', 'zbase32');
SELECT id_from_text('0xff', 'hex');
SELECT id_from_text('8000000000000000', 'hex');
SELECT id_from_text('1é', 'base62');
SELECT id_from_text(repeat('z', 100000) || '!', 'base62') IS NULL;
SELECT id_to_text(NULL), id_to_text(1, NULL), id_from_text(NULL);

-- Arguments as tables store them: short, long, compressed, outside of the row.
CREATE TABLE stored (t text, k bytea);
ALTER TABLE stored ALTER k SET STORAGE EXTERNAL;
INSERT INTO stored VALUES ('4jgmnx8Js8A', '0123456789abcdef'), (repeat('0', 10000) || 'ff', decode(repeat('00', 10000), 'hex'));
SELECT id_from_text(t) FROM stored WHERE length(t) < 100;
SELECT id_from_text(t, 'hex') FROM stored WHERE length(t) > 100;
SELECT id_conceal(1, k) FROM stored WHERE length(k) < 100;
SELECT id_conceal(1, k) FROM stored WHERE length(k) > 100;
DROP TABLE stored;

-- Concealed ids, frozen.
SELECT id, id_conceal(id, '0123456789abcdef') AS public, id_reveal(id_conceal(id, '0123456789abcdef'), '0123456789abcdef') = id AS back,
       id_conceal(id, '0123456789abcdef0123456789abcdef') AS by_long_key
FROM unnest(ARRAY[1, 2, 4035377468834583552, 9223372036854775807]) id;
SELECT id_conceal(1970399154704386, '0123456789abcdef', bits => 53) AS public,
       id_reveal(id_conceal(1970399154704386, '0123456789abcdef', 53), '0123456789abcdef', 53) AS id;
-- Tables under one key differ by a tweak. All lengths of keys and tweaks, frozen.
SELECT tweak, id_conceal(1, '0123456789abcdef', tweak => convert_to(tweak, 'UTF8')) AS public,
       id_reveal(id_conceal(1, '0123456789abcdef', 63, convert_to(tweak, 'UTF8')), '0123456789abcdef', 63, convert_to(tweak, 'UTF8')) AS id
FROM unnest(ARRAY['', 'photo', 'owner', repeat('t', 64)]) tweak;
SELECT bits, id_conceal(1, '0123456789abcdef01234567', bits, 'photo') AS public FROM unnest(ARRAY[20, 32, 53, 63]) bits;
SELECT id_conceal(1, '0123456789abcdef', 63, convert_to(repeat('t', 65), 'UTF8'));
SELECT id_conceal(1, '0123456789abcdef', 63, NULL);
SELECT count(DISTINCT public), min(public) > 0 AS positive, max(public) < 1 << 20 AS within, bool_and(id_reveal(public, key, 20) = id) AS back
FROM (SELECT key, id, id_conceal(id, key, 20) AS public FROM (VALUES ('0123456789abcdef'::bytea)) k (key), generate_series(1, (1 << 20) - 1) id) p;
-- Several keys at once, more than a session keeps ready.
SELECT bool_and(id_reveal(id_conceal(id, key), key) = id), count(DISTINCT id_conceal(id, key)) = count(*) AS distinct
FROM (SELECT decode(lpad(to_hex(k), 32, '0') , 'hex') AS key FROM generate_series(1, 9) k
      UNION ALL SELECT decode(rpad(to_hex(k), 64, '0'), 'hex') FROM generate_series(16, 31) k) keys, generate_series(1, 100) id;
-- Neighbors say nothing: about half of the bits differ.
SELECT avg(length(replace((id_conceal(id, '0123456789abcdef') # id_conceal(id + 1, '0123456789abcdef'))::bit(64)::text, '0', ''))) BETWEEN 31 AND 32 AS half
FROM generate_series(1::bigint, 10000) id;
SELECT id_conceal(0, '0123456789abcdef');
SELECT id_conceal(-1, '0123456789abcdef');
SELECT id_conceal(1::bigint << 53, '0123456789abcdef', 53);
SELECT id_reveal(0, '0123456789abcdef');
SELECT id_conceal(1, '0123456789abcde');
SELECT id_conceal(1, '');
SELECT id_conceal(1, '0123456789abcdef', 19);
SELECT id_conceal(1, '0123456789abcdef', 64);
SELECT id_conceal(1, NULL), id_reveal(NULL, '0123456789abcdef');

-- Crockford's example, and the ends.
SELECT id, id_to_text(id, 'crockford-check') AS code, id_from_text(id_to_text(id, 'crockford-check'), 'crockford-check') = id AS back
FROM unnest(ARRAY[0, 1, 32, 36, 1234, 4035377468834583552, 9223372036854775807]) id;
SELECT string_agg(right(id_to_text(id, 'crockford-check'), 1), '' ORDER BY id) AS all_check_characters FROM generate_series(0, 36) id;
SELECT id_from_text('16-jd', 'crockford-check'), id_from_text('--1-6-J-D--', 'crockford-check'), id_from_text('00i6JD', 'crockford-check');

-- Wrong texts.
SELECT id_from_text('16JE', 'crockford-check');
SELECT id_from_text('61JD', 'crockford-check');
SELECT id_from_text('16J', 'crockford-check');
SELECT id_from_text('1*JD', 'crockford-check');
SELECT id_from_text('16J!', 'crockford-check');
SELECT id_from_text('16JDé', 'crockford-check');
SELECT id_from_text('D', 'crockford-check');
SELECT id_from_text('-', 'crockford-check');
SELECT id_from_text('8000000000000*', 'crockford-check');
SELECT id_to_text(-1, 'crockford-check');

-- Order numbers that tell nothing.
SELECT id, id_to_text(id_conceal(id, '0123456789abcdef', 30), 'crockford-check') AS number,
       id_reveal(id_from_text(id_to_text(id_conceal(id, '0123456789abcdef', 30), 'crockford-check'), 'crockford-check'), '0123456789abcdef', 30) = id AS back
FROM generate_series(1, 3) id;

-- UUIDs: what Python prints, and texts of one length.
SELECT encoding, uuid_to_text('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', encoding) AS text, length(uuid_to_text(uuid_max_value(), encoding)) AS last, uuid_to_text(uuid_nil_value(), encoding) AS nil,
       uuid_from_text(uuid_to_text('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', encoding), encoding) = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f' AS back
FROM unnest(ARRAY['base58', 'base58btc', 'base62', 'base64url', 'crockford', 'crockford-check', 'zbase32', 'hex']) encoding;
SELECT uuid_to_text('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), uuid_from_text('1bHGAXWWp4nyyPjqh9idcZ');
SELECT translate(encode(uuid_send('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), 'base64'), '+/=', '-_') = uuid_to_text('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'base64url') AS base64url;
SELECT encoding, array_agg(id ORDER BY uuid_to_text(id, encoding) COLLATE "C") = array_agg(id ORDER BY id) AS in_order
FROM unnest(ARRAY['base58', 'base58btc', 'base62', 'base64url', 'crockford', 'zbase32', 'hex']) encoding,
    (SELECT uuid_v5('dns', n::text) AS id FROM generate_series(1, 1000) n) ids
    GROUP BY encoding ORDER BY encoding;
SELECT uuid_from_text('1bHGAXWWp4nyyPjqh9idc');
SELECT uuid_from_text('01bHGAXWWp4nyyPjqh9idcZ');
SELECT uuid_from_text('0bHGAXWWp4nyyPjqh9idcZ');
SELECT uuid_from_text('ZZZZZZZZZZZZZZZZZZZZZZ');
SELECT uuid_from_text('AX8i4nmwfMOYxNwMDAc5jx', 'base64url');
SELECT uuid_from_text('017f22e279b07cc398c4dc0c0c07398', 'hex');
SELECT uuid_from_text('01FWHE4YDGFK1SHH6W1G60EECF0', 'crockford-check');
SELECT uuid_from_text('', 'hex');
SELECT uuid_to_text(uuid_nil_value(), 'base59');
SELECT uuid_from_text(repeat('z', 100000), 'base62');
SELECT uuid_to_text(NULL), uuid_from_text(NULL), uuid_to_text(uuid_nil_value(), NULL);

-- An index over public ids finds the row without the key in the query.
CREATE TABLE photo (id bigint PRIMARY KEY, public_id bigint GENERATED ALWAYS AS (id_conceal(id, '0123456789abcdef')) STORED UNIQUE);
INSERT INTO photo SELECT generate_series(1, 1000);
SELECT id FROM photo WHERE public_id = id_conceal(77, '0123456789abcdef');
DROP TABLE photo;

-- SQLSTATEs.
CREATE FUNCTION state(statement text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN EXECUTE statement; RETURN 'none'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
SELECT state(statement), statement FROM unnest(ARRAY[
    $$SELECT snowflake_scatter(9000000000000000009)$$, $$SELECT snowflake_scatter(1, 0)$$,
    $$SELECT auto_random(-1)$$, $$SELECT auto_random(1, 0)$$, $$SELECT auto_random_value(-1)$$,
    $$SELECT id_to_text(-1)$$, $$SELECT id_to_text(1, 'x')$$, $$SELECT id_from_text('0')$$, $$SELECT id_from_text('16JE', 'crockford-check')$$, $$SELECT id_from_text('zzzzzzzzzzzzz')$$,
    $$SELECT id_conceal(0, '0123456789abcdef')$$, $$SELECT id_conceal(1, 'short')$$, $$SELECT id_conceal(1, '0123456789abcdef', 1)$$,
    $$SELECT id_conceal(1, '0123456789abcdef', 63, decode(repeat('00', 65), 'hex'))$$,
    $$SELECT * FROM sequence_table('x')$$, $$SELECT * FROM sequence_table(1, 2, 0)$$, $$SELECT * FROM sequence_table(-1, 2)$$,
    $$SELECT * FROM sequence_table('seq_1_to_18446744073709551615')$$]) AS statement;
DROP FUNCTION state(text);
DROP EXTENSION pg_mint;
