-- One generator of arguments for the functions of sql/managed/pg_mint_sql.sql and for those of the extension. eq.run compares
-- what both answer: the result as text, or the SQLSTATE, the message, the detail and the hint.
CREATE SCHEMA eq;

-- The call of each function of the file: its arguments are columns of eq.argument. Expressions of PL/pgSQL without a query are
-- planned once, and not at each call.
CREATE TABLE eq.call (name text PRIMARY KEY, call text NOT NULL, source text NOT NULL DEFAULT 'eq.argument');
INSERT INTO eq.call (name, call) VALUES
    ('layout', '(SELECT l::text FROM mint_sql.snowflake_layouts(layout_text::mint_sql.snowflake_layout) AS l)'),
    ('decode', '(SELECT d::text FROM mint_sql.snowflake_decode(id, layout::mint_sql.snowflake_layout) AS d)'),
    ('time', 'mint_sql.snowflake_time(id, layout)::text'),
    ('shard', 'mint_sql.snowflake_shard(id, layout)::text'),
    ('sequence', 'mint_sql.snowflake_sequence(id, layout)::text'),
    ('time, by default', 'mint_sql.snowflake_time(id)::text'),
    ('encode', 'mint_sql.snowflake_encode(at, shard, sequence, layout)::text'),
    ('min', 'mint_sql.snowflake_min(at, layout)::text'),
    ('max', 'mint_sql.snowflake_max(at, layout)::text'),
    ('min_after', 'mint_sql.snowflake_min_after(at, layout)::text'),
    ('max_before', 'mint_sql.snowflake_max_before(at, layout)::text'),
    ('between', 'mint_sql.snowflake_between(id, at, until, layout)::text'),
    ('uuid_v7_time', 'mint_sql.uuid_v7_time(uuid)::text'),
    ('uuid_v7 of a time', 'left(mint_sql.uuid_v7(at)::text, 19)'),
    ('uuid_v7_min', 'mint_sql.uuid_v7_min(at)::text'),
    ('uuid_v7_max', 'mint_sql.uuid_v7_max(at)::text'),
    ('uuid_v7_min_after', 'mint_sql.uuid_v7_min_after(at)::text'),
    ('uuid_v7_max_before', 'mint_sql.uuid_v7_max_before(at)::text'),
    ('uuid_v7_between', 'mint_sql.uuid_v7_between(uuid, at, until)::text'),
    ('ulid_to_uuid', 'mint_sql.ulid_to_uuid(base32)::text'),
    ('uuid_to_ulid', 'mint_sql.uuid_to_ulid(uuid)'),
    ('ulid_time of a text', 'mint_sql.ulid_time(base32)::text'),
    ('ulid_time of a UUID', 'mint_sql.ulid_time(uuid)::text'),
    ('ulid_min', 'mint_sql.ulid_min(at)::text'),
    ('ulid_max', 'mint_sql.ulid_max(at)::text'),
    ('ulid_min_after', 'mint_sql.ulid_min_after(at)::text'),
    ('ulid_max_before', 'mint_sql.ulid_max_before(at)::text'),
    ('ulid_between', 'mint_sql.ulid_between(uuid, at, until)::text'),
    ('typeid', 'mint_sql.typeid(prefix, uuid)'),
    ('typeid_uuid', 'mint_sql.typeid_uuid(typeid)::text'),
    ('typeid_prefix', 'mint_sql.typeid_prefix(typeid)'),
    ('typeid_check', 'mint_sql.typeid_check(typeid, prefix)::text'),
    ('id_to_text', 'mint_sql.id_to_text(id, encoding)'),
    ('id_from_text', 'mint_sql.id_from_text(short, encoding)::text');

-- Every public function of the file that is pure is called.
CREATE VIEW eq.not_called AS
SELECT p.oid::regprocedure AS function FROM pg_proc AS p
WHERE pronamespace = 'mint_sql'::regnamespace AND obj_description(p.oid, 'pg_proc') NOT LIKE 'Internal: %' AND provolatile <> 'v'
    AND NOT EXISTS (SELECT FROM eq.call WHERE call ~ ('mint_sql\.' || proname || '\('));

-- Words of layouts, right and wrong.
CREATE FUNCTION eq.pick(choices text[]) RETURNS text LANGUAGE sql VOLATILE
RETURN choices[1 + floor(random() * cardinality(choices))::integer];

CREATE FUNCTION eq.bits(many integer) RETURNS text LANGUAGE sql VOLATILE RETURN (1 + floor(random() * many)::integer)::text;

CREATE FUNCTION eq.random_epoch() RETURNS text LANGUAGE sql VOLATILE
RETURN CASE floor(random() * 3)::integer
    WHEN 0 THEN eq.pick(ARRAY['1314220021721', '0', '000', '01288834974657', '1314220021', '20110824', '99999999999999',
        '2011-08-24T21:07:01.721Z', '1970-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '-009999-01-02T01:59:59Z',
        '9999-12-30T22:00:00Z', '9999-12-30T22:00:00.000001Z', '+009999-12-30T22:00:00Z', '-000001-12-31T23:59:59.999999Z', '20160520T000000Z',
        '2016-05-20T00:00:00+08:00', '2016-05-20t00:00:00-1545', '2016-05-20T00:00Z', '2016-05-20T05z', '2016-05-20T00:00:00,5Z',
        '20160520T0102+05', '2016-02-29T00:00:00Z', '2015-02-29T00:00:00Z', '1900-02-29T00:00:00Z', '2000-02-29T00:00:00+05:30:30.6',
        '2016-05-20T23:59:60Z', '20160520T235960Z', '2016-05-20T24:00:00Z', '2016-13-20T00:00:00Z', '2016-04-31T00:00:00Z',
        '2016-05-20T00:00:00', '2016-05-20', '2016-05-20T00:00:00+16:00', '2016-05-20T00:00:00+15:59:59.9', '2016-05-20T00:00:00.1234567Z',
        '2016-05-20T00:00:00.123456000Z', '2016-05-20T00:00:00.1234567890Z', '-000000-01-01T00:00:00Z', '-009999-01-02T01:59:58Z', '2016-0520T00:00:00Z',
        '2016-05-20T00:0000Z', '2016-05-20T00:00:00+25:00', '2016-05-20T00:00:00Z[UTC]', '10000-01-01T00:00:00Z', '', 'Z', 'now'])
    WHEN 1 THEN format('%s-%s-%sT%s:%s:%sZ', lpad(floor(random() * 10000)::text, 4, '0'), lpad((1 + floor(random() * 12))::text, 2, '0'),
        lpad((1 + floor(random() * 28))::text, 2, '0'), lpad(floor(random() * 24)::text, 2, '0'), lpad(floor(random() * 60)::text, 2, '0'),
        lpad(floor(random() * 60)::text, 2, '0'))
    ELSE format('20%s-0%s-1%sT0%s:1%s:2%s.%s+0%s:00', 10 + floor(random() * 20), 1 + floor(random() * 9), floor(random() * 10), floor(random() * 10),
        floor(random() * 10), floor(random() * 10), floor(random() * 1000000), floor(random() * 10)) END;

-- Layouts that are valid, by a random order, widths that fit, units and epochs.
CREATE FUNCTION eq.random_layout() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    total integer := CASE WHEN random() < 0.6 THEN 60 + floor(random() * 5)::integer ELSE 3 + floor(random() * 60)::integer END;
    shard integer := floor(random() * least(total - 2, 32));
    time integer := 1 + floor(random() * (total - shard - 1))::integer;
    seq integer := total - shard - time;
    words text[] := ARRAY['time:' || time, CASE WHEN shard = 0 THEN NULL WHEN shard > 1 AND random() < 0.3
        THEN format('shard:%s+%s', shard - shard / 2, shard / 2) ELSE 'shard:' || shard END, 'seq:' || seq];
    result text;
BEGIN
    IF total = 64 OR random() < 0.5 THEN
        result := array_to_string(CASE WHEN random() < 0.5 THEN words ELSE ARRAY[words[1], words[3], words[2]] END, ' ');
    ELSE
        result := (SELECT string_agg(word, ' ' ORDER BY random()) FROM unnest(words) AS word);
    END IF;
    RETURN result || eq.pick(ARRAY['', ' unit:1ms', ' unit:1us', ' unit:10ms', ' unit:7us', ' unit:1s', ' unit:3600s', ' unit:3600000000us', ' unit:1500ms'])
        || ' epoch:' || eq.pick(ARRAY['2011-08-24T21:07:01.721Z', '1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '-009999-01-02T01:59:59Z',
            '9999-12-30T22:00:00Z', '-004000-06-05T04:03:02.000001Z', '2026-01-01T00:00:00Z', '2016-05-20T00:00:00+08:00', '2100-01-01T00:00:00.123456Z'])
        || CASE WHEN random() < 0.8 THEN '' ELSE format(' start:random(%s)', power(2::numeric, floor(random() * (seq + 1))::integer)::numeric(20)) END;
END
$$;

-- Texts of layouts, most of them with something wrong.
CREATE FUNCTION eq.random_layout_text() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    words text[] := CASE WHEN random() < 0.3 THEN ARRAY[eq.pick(mint_sql.layout_names() || ARRAY['Instagram', 'nope', repeat('ä', 60), ''])]
        ELSE '{}'::text[] END;
BEGIN
    IF random() < 0.3 THEN
        RETURN eq.random_layout();
    END IF;
    FOR place IN 1..floor(random() * 7)::integer LOOP
        words := words || CASE floor(random() * 9)::integer
            WHEN 0 THEN 'time:' || eq.bits(64) WHEN 1 THEN 'time:' || eq.pick(ARRAY['41', '0', '00', '041', '', 'x', '-1', '100', '99', '4294967297', '4١'])
            WHEN 2 THEN 'shard:' || eq.bits(33) WHEN 3 THEN format('shard:%s+%s', eq.pick(ARRAY['5', '0', '', '16', 'a']), eq.pick(ARRAY['5', '0', '16', '1+1', '']))
            WHEN 4 THEN 'seq:' || eq.pick(ARRAY['10', '12', '0', '63', '64', '22', 'x', '1'])
            WHEN 5 THEN 'unit:' || eq.pick(ARRAY['1ms', '10ms', '1us', '1s', '3600s', '3601s', '0ms', '1', 'ms', '1h', '01ms', '3600000001us', '99999999999us', '1 ms', '1sm'])
            WHEN 6 THEN 'epoch:' || eq.random_epoch()
            WHEN 7 THEN 'start:' || eq.pick(ARRAY['zero', 'random', 'random(8)', 'random(1)', 'random(0)', 'random(3)', 'random(4096)', 'random()', 'random(8', 'x', '',
                'random(9223372036854775808)', 'random(008)', 'random(18446744073709551616)'])
            ELSE eq.pick(ARRAY['nope', 'node:5', 'TIME:41', 'time', ':', 'shard5', repeat('x', 120) || ':1', 'epoch:' || repeat('€', 50), 'seq:' || repeat('7', 1000)])
        END;
    END LOOP;
    RETURN array_to_string(words, eq.pick(ARRAY[' ', ' ', ' ', E'\t', '  ', E' \n', E'\u000b']));
END
$$;

CREATE FUNCTION eq.random_uuid() RETURNS uuid LANGUAGE sql VOLATILE
RETURN CASE floor(random() * 6)::integer WHEN 0 THEN '00000000-0000-0000-0000-000000000000'::uuid
    WHEN 1 THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHEN 2 THEN mint_sql.uuid_v7_min(now() + (random() - 0.5) * interval '900 years')
    WHEN 3 THEN overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid WHEN 4 THEN md5(random()::text)::uuid ELSE gen_random_uuid() END;

-- A text with some of its characters changed.
CREATE FUNCTION eq.spoiled(whole text) RETURNS text LANGUAGE sql VOLATILE
RETURN CASE WHEN random() < 0.4 THEN whole WHEN random() < 0.3 THEN upper(whole) WHEN random() < 0.2 THEN lower(whole)
    ELSE overlay(whole PLACING eq.pick(ARRAY['', '-', '_', '0', '1', 'O', 'l', 'I', 'u', 'U', 'Z', 'z', '!', 'ä', '😀', ' ', '*', '=', '8', 'ſ', 'İ', '--', 'zzzz', 'a_'])
        FROM 1 + floor(random() * length(whole))::integer FOR floor(random() * 2)::integer) END;

CREATE TABLE eq.argument (
    number bigint PRIMARY KEY, layout text, layout_text text, id bigint, at timestamptz, until timestamptz, shard integer, sequence bigint,
    uuid uuid, base32 text, prefix text, typeid text, encoding text, short text
);

-- Layouts with a declared shard, whose fields are in the body of a function.
CREATE TABLE eq.declared (layout text PRIMARY KEY);
CREATE FUNCTION eq.declare(many integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    layout text;
BEGIN
    FOR place IN 1..many LOOP
        layout := eq.random_layout();
        IF eq.outcome_of_layout(layout) IS NULL AND to_regclass('mint_sql.' || mint_sql.lane_key(mint_sql.layout_fields(layout)) || '_0') IS NULL THEN
            PERFORM mint_sql.shard_create(0, layout);
            INSERT INTO eq.declared VALUES (layout);
        END IF;
    END LOOP;
END
$$;

-- Fills the table of arguments: layouts that are valid, ids that they have and others, timestamps at and around the ends of what they have.
CREATE FUNCTION eq.fill(seed double precision, many bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    declared text[];
BEGIN
    PERFORM setseed(seed);
    PERFORM eq.declare(10);
    declared := ARRAY(SELECT layout FROM eq.declared);
    INSERT INTO eq.argument (number, layout, layout_text, uuid, encoding, prefix)
    SELECT number, CASE floor(random() * 4)::integer
            WHEN 0 THEN eq.pick(declared) WHEN 1 THEN eq.random_layout() ELSE eq.pick(mint_sql.layout_names()) END, eq.random_layout_text(), eq.random_uuid(),
        eq.pick(ARRAY['base58', 'base58btc', 'base62', 'base64url', 'crockford', 'crockford', 'crockford-check', 'crockford-check', 'zbase32', 'hex', 'tsid', 'tsid',
            CASE WHEN random() < 0.1 THEN 'Base58' ELSE 'hex' END]),
        eq.pick(ARRAY['user', '', 'a_b', '_a', 'a_', 'User', 'ä', repeat('x', 63), repeat('x', 64), repeat('x', 150), 'user1', '_'])
    FROM generate_series(1, many) AS number;
    -- Layouts that the two read differently are found by "layout" alone; here both must have them.
    UPDATE eq.argument SET layout = 'twitter' WHERE eq.outcome_of_layout(layout) IS NOT NULL;
    UPDATE eq.argument AS a SET
        at = CASE floor(random() * 8)::integer
            WHEN 0 THEN eq.pick(ARRAY['infinity', '-infinity', '4714-11-24 00:00:00+00 BC', '294276-12-31 23:59:59.999999+00', '1970-01-01Z', '1969-12-31 23:59:59.999999Z',
                '10889-08-02 05:31:50.655Z', '10889-08-02 05:31:50.655001Z', '10889-08-02 05:31:50.656Z', '294247-01-10 04:00:54.775807Z'])::timestamptz
            WHEN 1 THEN mint_sql.at(least(greatest(f[7] + floor(random() * 3)::bigint - 1, -210866803200000000), 9223372036854775806))
            WHEN 2 THEN mint_sql.at(least(greatest(f[12]::numeric * f[6] + f[7] + floor(random() * 3 - 1)::bigint, -210866803200000000), 9223372036854775806)::bigint)
            WHEN 3 THEN mint_sql.at(least(greatest((f[12]::numeric + 1) * f[6] + f[7] + floor(random() * 3 - 1)::bigint, -210866803200000000), 9223372036854775806)::bigint)
            WHEN 4 THEN now() + random() ^ 4 * interval '280000 years' - random() ^ 4 * interval '6000 years'
            ELSE now() + (random() - 0.5) * interval '60 years' END,
        shard = CASE WHEN random() < 0.7 THEN floor(random() * (mint_sql.mask(f[3] + f[4]) + 1)) ELSE eq.pick(ARRAY['0', '-1', '1', '1023', '1024', '8191', '8192',
            '2147483647', '-2147483648'])::integer END,
        sequence = CASE WHEN random() < 0.7 THEN (random() * mint_sql.mask(f[5])::float8 * 0.999)::bigint ELSE eq.pick(ARRAY['0', '-1', '1', '1023', '1024', '4096',
            '9223372036854775807', '-9223372036854775808'])::bigint END,
        base32 = eq.spoiled(CASE WHEN random() < 0.1 THEN eq.pick(ARRAY['', '80000000000000000000000000', '7zzzzzzzzzzzzzzzzzzzzzzzzz', repeat('0', 1000), repeat('é', 99)])
            ELSE mint_sql.uuid_to_ulid(a.uuid) END)
    FROM (SELECT number, mint_sql.layout_fields(layout) AS f FROM eq.argument) AS l
    WHERE l.number = a.number;
    UPDATE eq.argument SET
        until = CASE WHEN at < '294276-12-30' THEN at + random() * interval '1 day' ELSE at END,
        typeid = eq.spoiled(CASE WHEN prefix = '' OR random() < 0.1 THEN eq.pick(ARRAY['', '_', 'a_']) ELSE prefix || '_' END || lower(eq.pick(ARRAY[mint_sql.uuid_to_ulid(uuid), base32]))),
        id = CASE floor(random() * 4)::integer
            WHEN 0 THEN eq.pick(ARRAY['0', '1', '-1', '9223372036854775807', '-9223372036854775808', '1949525278279603310', '4611686018427387904'])::bigint
            WHEN 1 THEN (('x' || md5(random()::text))::bit(64)::bigint >> floor(random() * 64)::integer)
            ELSE (('x' || md5(random()::text))::bit(64)::bigint & mint_sql.mask(least(63, (SELECT sum(f) FROM unnest((mint_sql.layout_fields(layout))[2:5]) AS f)::bigint))) END;
    UPDATE eq.argument SET short = CASE WHEN encoding = 'Base58' THEN 'abc' WHEN random() < 0.1
            THEN eq.pick(ARRAY['', '-', '--', '0', '1', 'A', 'y', '00', '11', repeat('z', 40), repeat('-', 30), repeat('f', 16), '7fffffffffffffff', '8000000000000000', 'ÿ', 'U', '~', 'O', repeat('ab-', 60)])
        ELSE eq.spoiled(mint_sql.id_to_text(CASE WHEN id < 0 THEN -(id + 1) ELSE id END, encoding)) END;
END
$$;

-- A function for each call of each side, with a plan of its own, that returns the result or the error.
CREATE FUNCTION eq.make(side text, place text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT *, row_number() OVER (ORDER BY name) AS number FROM eq.call LOOP
        EXECUTE format($make$
            CREATE OR REPLACE FUNCTION eq.%I(a eq.argument) RETURNS text LANGUAGE plpgsql VOLATILE AS $body$
            DECLARE
                layout text := a.layout; layout_text text := a.layout_text; id bigint := a.id; at timestamptz := a.at; until timestamptz := a.until;
                shard integer := a.shard; sequence bigint := a.sequence; uuid uuid := a.uuid; base32 text := a.base32; prefix text := a.prefix;
                typeid text := a.typeid; encoding text := a.encoding; short text := a.short;
                code text; message text; detail text; hint text;
            BEGIN
                RETURN %s;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                RETURN concat_ws(' | ', code, message, detail, hint);
            END
            $body$ $make$, side || c.number, replace(CASE place WHEN 'public'
                -- The extension has functions that only its planner needs in another schema.
                THEN regexp_replace(c.call, 'mint_sql\.(?=\w+_(min_after|max_before)\()', 'mint.', 'g') ELSE c.call END, 'mint_sql.', place || '.'));
    END LOOP;
END
$$;

CREATE FUNCTION eq.outcome_of_layout(layout text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM layout::mint_sql.snowflake_layout;
    PERFORM layout::public.snowflake_layout;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END
$$;

CREATE TABLE eq.difference (name text, argument text, ours text, theirs text);
CREATE TABLE eq.tally (name text, calls bigint, errors bigint, sqlstates bigint);

-- Compares one of several parts of the calls on all arguments.
CREATE FUNCTION eq.run(part integer, parts integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT *, row_number() OVER (ORDER BY name) AS number FROM eq.call LOOP
        CONTINUE WHEN c.number % parts <> part;
        EXECUTE format($run$
            WITH both_sides AS MATERIALIZED (
                SELECT a, eq.%1$I(a) AS ours, eq.%2$I(a) AS theirs FROM eq.argument AS a
            ), differences AS (
                INSERT INTO eq.difference SELECT %3$L, a::text, ours, theirs FROM both_sides WHERE eq.shown(ours) IS DISTINCT FROM eq.shown(theirs)
            )
            INSERT INTO eq.tally SELECT %3$L, count(*), count(*) FILTER (WHERE theirs ~ '^[0-9A-Z]{5} \| '),
                count(DISTINCT left(theirs, 5)) FILTER (WHERE theirs ~ '^[0-9A-Z]{5} \| ')
            FROM both_sides
            $run$, 'ours' || c.number, 'theirs' || c.number, c.name);
    END LOOP;
END
$$;

-- The server's own error of a timestamp that timestamptz does not have has no detail.
CREATE FUNCTION eq.shown(outcome text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN replace(outcome, ' | The timestamp of the id is out of range for type timestamp with time zone.', '');
