-- TypeIDs: UUIDs with their type in front. The vectors of the specification 0.3.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;

CREATE TABLE valid (name text, typeid text, prefix text, id uuid);
INSERT INTO valid VALUES
    ('nil', '00000000000000000000000000', '', '00000000-0000-0000-0000-000000000000'),
    ('one', '00000000000000000000000001', '', '00000000-0000-0000-0000-000000000001'),
    ('ten', '0000000000000000000000000a', '', '00000000-0000-0000-0000-00000000000a'),
    ('sixteen', '0000000000000000000000000g', '', '00000000-0000-0000-0000-000000000010'),
    ('thirty-two', '00000000000000000000000010', '', '00000000-0000-0000-0000-000000000020'),
    ('max-valid', '7zzzzzzzzzzzzzzzzzzzzzzzzz', '', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    ('valid-alphabet', 'prefix_0123456789abcdefghjkmnpqrs', 'prefix', '0110c853-1d09-52d8-d73e-1194e95b5f19'),
    ('valid-uuidv7', 'prefix_01h455vb4pex5vsknk084sn02q', 'prefix', '01890a5d-ac96-774b-bcce-b302099a8057'),
    ('prefix-underscore', 'pre_fix_00000000000000000000000000', 'pre_fix', '00000000-0000-0000-0000-000000000000');
SELECT name, typeid_prefix(typeid) = prefix AS prefix, typeid_uuid(typeid) = id AS id, typeid(prefix, id) = typeid AS typeid, typeid_check(typeid, prefix) AS checked,
       typeid_check(typeid, 'other') AS of_other FROM valid;

CREATE TABLE invalid (name text, typeid text);
INSERT INTO invalid VALUES
    ('prefix-uppercase', 'PREFIX_00000000000000000000000000'),
    ('prefix-numeric', '12345_00000000000000000000000000'),
    ('prefix-period', 'pre.fix_00000000000000000000000000'),
    ('prefix-non-ascii', 'préfix_00000000000000000000000000'),
    ('prefix-spaces', '  prefix_00000000000000000000000000'),
    ('prefix-64-chars', 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl_00000000000000000000000000'),
    ('separator-empty-prefix', '_00000000000000000000000000'),
    ('separator-empty', '_'),
    ('suffix-short', 'prefix_1234567890123456789012345'),
    ('suffix-long', 'prefix_123456789012345678901234567'),
    ('suffix-spaces', 'prefix_1234567890123456789012345 '),
    ('suffix-uppercase', 'prefix_0123456789ABCDEFGHJKMNPQRS'),
    ('suffix-hyphens', 'prefix_123456789-123456789-123456'),
    ('suffix-wrong-alphabet', 'prefix_ooooooiiiiiiuuuuuuulllllll'),
    ('suffix-ambiguous-crockford', 'prefix_i23456789ol23456789oi23456'),
    ('suffix-hyphens-crockford', 'prefix_123456789-0123456789-0123456'),
    ('suffix-overflow', 'prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz'),
    ('prefix-underscore-start', '_prefix_00000000000000000000000000'),
    ('prefix-underscore-end', 'prefix__00000000000000000000000000');
CREATE FUNCTION pg_temp.error(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE query;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN sqlstate || ' ' || detail;
END $$;
SELECT name, typeid_check(typeid, 'prefix') AS checked, pg_temp.error(format('SELECT typeid_uuid(%L)', typeid)) AS uuid,
       pg_temp.error(format('SELECT typeid_uuid(%L)', typeid)) = pg_temp.error(format('SELECT typeid_prefix(%L)', typeid)) AS same FROM invalid;
SELECT typeid_uuid('prefix_0123456789ABCDEFGHJKMNPQRS');
SELECT typeid_prefix('prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz');

-- Prefixes.
SELECT length(typeid(repeat('a', 63), uuid_v7()));
SELECT typeid(repeat('a', 64), uuid_v7());
SELECT typeid('User', uuid_v7());
SELECT typeid('user_', uuid_v7());
SELECT typeid('usér', uuid_v7());
SELECT typeid_check('user_01h455vb4pex5vsknk084sn02q', 'USER');
SELECT typeid(NULL, uuid_v7()), typeid('user', NULL), typeid_uuid(NULL), typeid_prefix(NULL), typeid_check(NULL, 'user');

-- Domains and columns.
CREATE DOMAIN user_id AS text CHECK (typeid_check(VALUE, 'user'));
CREATE TABLE account (
    id uuid PRIMARY KEY DEFAULT uuid_v7(),
    user_id user_id GENERATED ALWAYS AS (typeid('user', id)) STORED
);
INSERT INTO account VALUES ('01890a5d-ac96-774b-bcce-b302099a8057') RETURNING *;
SELECT id FROM account WHERE id = typeid_uuid('user_01h455vb4pex5vsknk084sn02q');
SELECT 'order_01h455vb4pex5vsknk084sn02q'::user_id;
SELECT 'user_01h455vb4pex5vsknk084sn02'::user_id;
INSERT INTO account SELECT uuid_v7() FROM generate_series(1, 1000);
SELECT bool_and(typeid_uuid(user_id) = id), array_agg(id ORDER BY user_id COLLATE "C") = array_agg(id ORDER BY id) AS in_order FROM account;

DROP TABLE account, valid, invalid;
DROP DOMAIN user_id;
DROP EXTENSION pg_mint;
