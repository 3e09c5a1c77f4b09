-- Codes with a check character, and UUIDs as text.
CREATE EXTENSION pg_mint;

-- Crockford's example, and the ends.
SELECT id, id_to_text(id, 'crockford-check') AS code, id_from_text(id_to_text(id, 'crockford-check'), 'crockford-check') = id AS back
FROM unnest(ARRAY[0, 1, 32, 36, 1234, 4035377468834583552, 9223372036854775807]) id;
SELECT string_agg(right(id_to_text(id, 'crockford-check'), 1), '' ORDER BY id) AS all_check_characters FROM generate_series(0, 36) id;
SELECT id_from_text('16-jd', 'crockford-check'), id_from_text('--1-6-J-D--', 'crockford-check'), id_from_text('00i6JD', 'crockford-check');

-- Every other character in every place, and every swap of neighbors.
CREATE FUNCTION pg_temp.is_error(code text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM id_from_text(code, 'crockford-check');
    RETURN false;
EXCEPTION WHEN invalid_text_representation OR numeric_value_out_of_range THEN
    RETURN true;
END $$;
CREATE TEMPORARY TABLE code AS
SELECT code, place, substr(code, place, 1) AS digit FROM (SELECT id_to_text(id_conceal(id, '0123456789abcdef', 20 + id % 44), 'crockford-check') AS code FROM generate_series(1, 60) id) codes,
    generate_series(1, length(code)) place;
SELECT count(*) > 20000 AS many, bool_and(pg_temp.is_error(overlay(code PLACING wrong FROM place FOR 1))) AS all_errors
FROM code, regexp_split_to_table('0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U!_ é', '') wrong WHERE wrong <> digit;
SELECT count(*) > 400 AS many, bool_and(pg_temp.is_error(overlay(code PLACING substr(code, place + 1, 1) || digit FROM place FOR 2))) AS all_errors
FROM code WHERE substr(code, place + 1, 1) NOT IN ('', digit);

-- What is wrong.
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
DROP EXTENSION pg_mint;
