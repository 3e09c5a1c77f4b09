-- What is this id?
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
SET TimeZone = 'UTC';

-- The first reading of published ids. Likelihoods depend on the clock.
SELECT id, it.format, it.version, it.time, it.node, it.sequence, it.parts, it.canonical = id AS canonical
FROM unnest(ARRAY['850007368138018817', 'BsOGulcndj-', '507f1f77bcf86cd799439011', '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'prefix_01h455vb4pex5vsknk084sn02q',
    '0ujtsYcgvSTl8PAuAdqWYSMnLOv', '9m4e2mr0ui3e8a215n4g', 'C232AB00-9414-11EC-B3C8-9F6BDECED846', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '919108f7-52d1-4320-9bac-f847db4148a8',
    '6ccd780c-baba-2026-9564-5b8c656024db', '00000000-0000-0000-0000-000000000000', '1700000000', '1700000000000', '42', 'cus_4jgmnx8Js8A', '1bHGAXWWp4nyyPjqh9idcZ']) WITH ORDINALITY ids (id, n),
    LATERAL (SELECT * FROM id_inspect(id) LIMIT 1) it ORDER BY n;

-- Formats of other systems, of which no function has the name.
SELECT id, it.format, it.version, it.time, it.node, it.sequence, it.parts
FROM unnest(ARRAY['6685980502161199104', '7582653507375746334', '4230466846817001', '788060252604363209', '7qyuxfswax', '9q05g8osu733039l', '9sfjyFYxWIdEMexkYa',
    '1700000000123456', '1556813561098000000', 'deployment-01GTYFV11PM7D7B30AWZSH1FZE', 'my-app-0ujtsYcgvSTl8PAuAdqWYSMnLOv']) WITH ORDINALITY ids (id, n),
    LATERAL (SELECT * FROM id_inspect(id) LIMIT 1) it ORDER BY n;
SELECT version, snowflake_time(id, (parts->>'layout')::snowflake_layout) = time AS same FROM unnest('{6685980502161199104,7582653507375746334,4230466846817001}'::bigint[]) id,
    LATERAL (SELECT * FROM id_inspect(id) LIMIT 1) it;

-- An id of another time has a row, and it is not likely.
SELECT id, it.format, it.time, it.likelihood < 0.2 AS unlikely FROM unnest('{j222222222222,czzzzzzzz0000qzrmn831i7rn,zzzzzzzzzzzzzzzzzzzz,ffffffff0000000000000000}'::text[]) id, id_inspect(id) it
WHERE it.format IN ('atproto', 'cuid', 'firebase', 'objectid');

-- Few numbers of no format look like an id.
SELECT count(*) FILTER (WHERE likelihood > 0.5) BETWEEN 1 AND 30 AS few, count(*) FROM generate_series(1, 1000) n,
    LATERAL (SELECT likelihood FROM id_inspect(('x' || substr(md5(n::text), 1, 16))::bit(64)::bigint & 9223372036854775807) LIMIT 1) it;

-- The same of the types that ids are stored as.
SELECT format, version, time, node, sequence, canonical FROM id_inspect(850007368138018817) LIMIT 1;
SELECT format, version, time, canonical FROM id_inspect('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid);
SELECT format, version, time, node, sequence, parts, canonical FROM id_inspect('507f1f77bcf86cd799439011'::objectid);
SELECT format, version, time, canonical FROM id_inspect(ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV'));

-- An id that was generated now is first, or as likely as the first, if the node is known.
SELECT what, it.likelihood = max_likelihood AS first, it.time > now() - interval '1 minute' AS now
FROM (SELECT 'instagram' AS what, id::text FROM snowflake_next_id(5) id
      UNION ALL SELECT 'twitter', id::text FROM snowflake_next_id(5, 'twitter') id
      UNION ALL SELECT 'sonyflake', id_to_text(id) FROM snowflake_next_id(5, 'sonyflake') id
      UNION ALL SELECT '7', uuid_v7()::text UNION ALL SELECT '6', uuid_to_text(uuid_v6(), 'base62') UNION ALL SELECT '1', uuid_v1()::text
      UNION ALL SELECT 'ulid', ulid() UNION ALL SELECT 'typeid', typeid('user', uuid_v7()) UNION ALL SELECT 'objectid', objectid()::text) ids,
    LATERAL (SELECT *, max(likelihood) OVER () AS max_likelihood FROM id_inspect(id, nodes => '{5}')) it WHERE what IN (it.format, it.version) AND (what <> '7' OR it.format = 'uuid') ORDER BY what;

-- Known nodes decide between layouts.
SELECT it.version, it.node FROM snowflake_encode('2026-01-01', 4711, 0) id, id_inspect(id, nodes => '{4711}') it LIMIT 1;
SELECT count(*) > 3 AS several, max(likelihood) < 0.5 AS unsure FROM id_inspect(snowflake_encode('2017-01-01', 4711, 0));
SELECT bool_and(a.likelihood > b.likelihood) FROM id_inspect(snowflake_encode('2017-01-01', 4711, 0), '{1, NULL, 4711}') a, id_inspect(snowflake_encode('2017-01-01', 4711, 0), '{1, NULL, 4711}') b
WHERE a.version = 'instagram' AND b.version = 'twitter';

-- Every layout is read; likelihoods are shares, in order, and leave some for none of them.
SELECT count(*) FROM id_inspect(850007368138018817) WHERE version IN (SELECT name FROM snowflake_layouts());
SELECT sum(likelihood) BETWEEN 0.9 AND 0.999 AS shares, array_agg(likelihood) = array_agg(likelihood ORDER BY likelihood DESC) AS in_order FROM id_inspect(850007368138018817);
SELECT count(*) FROM unnest(ARRAY['', ' ', 'no id', 'é', repeat('z', 100000), '{}', '12345678901234567890123', '_', 'user_']) id, id_inspect(id) WHERE likelihood > 0.5;
SELECT count(*) FROM id_inspect(NULL::text);
SELECT count(*) FROM id_inspect('850007368138018817', NULL);
SELECT format, version FROM id_inspect(-1);
SELECT format FROM id_inspect(E' \t850007368138018817\n') LIMIT 1;

DROP EXTENSION pg_mint;
