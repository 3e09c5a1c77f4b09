-- pg_mint in SQL: ids of pg_mint for servers where no extension can be installed. Version 0.1.0.
--
--     psql -1 -v ON_ERROR_STOP=1 -f pg_mint_sql.sql
--     psql -c 'SELECT mint_sql.shard_create(5)'
--
-- It needs a role that may create a schema in the database, and nothing else: no superuser, no setting, no library. The
-- functions have the names, arguments, results and errors of the extension, in the schema mint_sql. The page "Managed clouds"
-- of the documentation says what is guaranteed, and how to change to the extension and back. PostgreSQL 15 to 19.
--
-- It can be run again, which replaces the functions and keeps the shards. License: PostgreSQL License.

-- The names of this file are those of the server. The last statement restores the search path.
DO $$ DECLARE
    other text;
BEGIN
    PERFORM pg_catalog.set_config('mint_sql.search_path', pg_catalog.current_setting('search_path'), false),
        pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false);
    -- In a schema of another role, that role could replace what runs with this one's privileges.
    IF to_regnamespace('mint_sql') IS NULL THEN
        CREATE SCHEMA mint_sql;
        GRANT USAGE ON SCHEMA mint_sql TO PUBLIC;
        COMMENT ON SCHEMA mint_sql IS 'Ids of pg_mint, in SQL alone';
    ELSIF (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'mint_sql') <> current_user THEN
        RAISE EXCEPTION 'schema "mint_sql" belongs to another role' USING ERRCODE = 'insufficient_privilege',
            HINT = 'Run this as its owner, or drop the schema if it is empty.';
    ELSIF current_setting('mint_sql.back', true) IS DISTINCT FROM 'on' AND EXISTS (SELECT FROM pg_proc
        WHERE pronamespace = 'mint_sql'::regnamespace AND proname = 'snowflake_time' AND prosqlbody IS NOT NULL) THEN
        RAISE EXCEPTION 'functions of schema "mint_sql" are those of the extension' USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'For the way back to ids in SQL, run from_extension.sql.';
    END IF;
    FOR other IN SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END FROM pg_namespace, aclexplode(nspacl)
        WHERE nspname = 'mint_sql' AND grantee <> nspowner AND privilege_type = 'CREATE' LOOP
        EXECUTE format('REVOKE CREATE ON SCHEMA mint_sql FROM %s CASCADE', other);
    END LOOP;
END $$;
-- What another role has made in the schema, of any class, would run with this role's privileges.
CREATE OR REPLACE FUNCTION mint_sql.refuse_others() RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    other text;
BEGIN
    SELECT pg_describe_object(class, id, 0) || ' belongs to role ' || owner::regrole || '.' INTO other FROM (
        SELECT tableoid AS class, oid AS id, pronamespace AS place, proowner AS owner FROM pg_proc
        UNION ALL SELECT tableoid, oid, relnamespace, relowner FROM pg_class UNION ALL SELECT tableoid, oid, typnamespace, typowner FROM pg_type
        UNION ALL SELECT tableoid, oid, oprnamespace, oprowner FROM pg_operator UNION ALL SELECT tableoid, oid, opcnamespace, opcowner FROM pg_opclass
        UNION ALL SELECT tableoid, oid, opfnamespace, opfowner FROM pg_opfamily UNION ALL SELECT tableoid, oid, collnamespace, collowner FROM pg_collation
        UNION ALL SELECT tableoid, oid, connamespace, conowner FROM pg_conversion UNION ALL SELECT tableoid, oid, stxnamespace, stxowner FROM pg_statistic_ext
        UNION ALL SELECT tableoid, oid, dictnamespace, dictowner FROM pg_ts_dict UNION ALL SELECT tableoid, oid, cfgnamespace, cfgowner FROM pg_ts_config
    ) AS o WHERE place = 'mint_sql'::regnamespace AND owner <> current_user::regrole LIMIT 1;
    IF other IS NOT NULL THEN
        RAISE EXCEPTION 'schema "mint_sql" has objects of another role' USING ERRCODE = 'insufficient_privilege',
            DETAIL = upper(left(other, 1)) || substr(other, 2), HINT = 'Drop them, or make one role the owner of all.';
    END IF;
END
$$;
DO $$ BEGIN PERFORM mint_sql.refuse_others(); END $$;

-- Functions of one expression have bodies that are bound to their operators when they are created, and are inlined by the
-- planner. Those in PL/pgSQL have a search path of their own, or qualified operators where that would cost too much.

-- Errors
CREATE OR REPLACE FUNCTION mint_sql.refuse(code text, message text, detail text DEFAULT NULL, hint text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF detail IS NOT NULL AND hint IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message, DETAIL = detail, HINT = hint;
    ELSIF detail IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message, DETAIL = detail;
    ELSIF hint IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message, HINT = hint;
    END IF;
    RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.excerpt(whole text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN octet_length(whole) <= 100 THEN whole
    ELSE (SELECT left(start, max(n)) FROM left(whole, 100) AS start, generate_series(25, 100) AS n WHERE octet_length(left(start, n)) <= 100 GROUP BY start) || '...' END;
-- What is wrong with a text, as the detail of its error.
CREATE OR REPLACE FUNCTION mint_sql.refuse_text(name text, whole text, problem text, code text DEFAULT '22P02', hint text DEFAULT NULL)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mint_sql.refuse(code, format('invalid %s: "%s"', name, mint_sql.excerpt(whole)),
    upper(left(problem, 1) COLLATE "C") || substr(problem, 2) || '.', hint);
-- The same, where the problem is an array: detail, hint, SQLSTATE; NULL if nothing is wrong.
CREATE OR REPLACE FUNCTION mint_sql.refuse_problem(name text, whole text, problem text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN problem IS NOT NULL THEN mint_sql.refuse_text(name, whole, problem[1], coalesce(problem[3], '22P02'), problem[2]) END;

-- Timestamps as microseconds since 1970. The zone is an interval, as PostgreSQL 18 looks up names such as UTC in the session's zone first.
CREATE OR REPLACE FUNCTION mint_sql.micros(at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN -9222425352054775808
    ELSE least(extract(epoch FROM at AT TIME ZONE interval '0') * 1000000, 9223372036854775807)::bigint END;
-- Whole days and the rest of the day, as a double has no room for both. Epochs can be before the first timestamp.
CREATE OR REPLACE FUNCTION mint_sql.at(micros bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN micros >= -210866803200000000 THEN (timestamp '1970-01-01' + make_interval(days => (micros / 86400000000)::integer,
    secs => (micros % 86400000000)::double precision / 1000000)) AT TIME ZONE interval '0'
    ELSE mint_sql.refuse('22008', format('timestamp out of range', micros),
        'The timestamp of the id is out of range for type timestamp with time zone.')::timestamptz END;
CREATE OR REPLACE FUNCTION mint_sql.now_micros() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE RETURN (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
-- The calendar repeats after 400 years, so years that timestamptz does not have are written too.
CREATE OR REPLACE FUNCTION mint_sql.time_text(micros bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cycle constant bigint := 146097 * 86400000000;
    cycles constant bigint := micros / cycle - (micros % cycle < 0)::integer;
    at constant timestamp := mint_sql.at(micros - cycles * cycle) AT TIME ZONE interval '0';
    year constant bigint := extract(year FROM at)::bigint + 400 * cycles;
    fraction constant text := rtrim(to_char(at, 'US'), '0');
BEGIN
    RETURN CASE WHEN year < 0 THEN '-' || lpad((-year)::text, 6, '0') WHEN year < 10000 THEN lpad(year::text, 4, '0') ELSE year::text END
        || to_char(at, '-MM-DD"T"HH24:MI:SS') || CASE fraction WHEN '' THEN '' ELSE '.' || fraction END || 'Z';
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.duration_text(micros bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN rtrim(rtrim(CASE WHEN micros < 1000000 THEN to_char(micros / 1000.0, 'FM999999990.000')
    WHEN micros < 10000000 THEN to_char(trunc(micros / 1000000.0, 3), 'FM999999999999990.000')
    ELSE round(micros / 1000000.0)::text END, CASE WHEN micros < 10000000 THEN '0' ELSE '' END), '.')
    || CASE WHEN micros < 1000000 THEN ' ms' ELSE ' s' END;

-- Layouts
--
-- A layout is a text, which the domain checks. Its fields are an array:
--     1 order (0 to 5)       4 bits of the shard, lower part   7 epoch, microseconds   10 shift of the shard
--     2 bits of time         5 bits of the sequence            8 bits of a random start 11 shift of the sequence
--     3 bits of the shard    6 tick, microseconds              9 shift of the time     12 last tick
CREATE OR REPLACE FUNCTION mint_sql.layout_names() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['instagram', 'twitter', 'leaf', 'discord', 'java', 'sonyflake', 'sonyflake2', 'goflake', 'taobao', 'baidu', 'mastodon',
    'pgedge', 'tso', 'yitter', 'javascript', 'tsid', 'pgdog', 'pgdog_compact'];
CREATE OR REPLACE FUNCTION mint_sql.refuse_layout(whole text, problem text, hint text DEFAULT NULL) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mint_sql.refuse_text('input syntax for type snowflake_layout', whole, problem, '22P02',
    coalesce(hint, 'Use fields such as time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z.'));
CREATE OR REPLACE FUNCTION mint_sql.layout_width(whole text, field text, value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF value !~ '^0*[0-9]{1,2}$' THEN
        PERFORM mint_sql.refuse_layout(whole, format('"%s" is not a width in bits for field "%s"', mint_sql.excerpt(value), field));
    ELSIF value ~ '^0+$' THEN
        PERFORM mint_sql.refuse_layout(whole, format('field "%s" has zero bits', field));
    END IF;
    RETURN right(value, 2)::bigint;
END
$$;
-- RFC 3339 and ISO 8601 with an offset, in the basic and the extended format.
CREATE OR REPLACE FUNCTION mint_sql.layout_epoch(whole text, value text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    hint constant text := 'Use an epoch such as epoch:2011-08-24T21:07:01.721Z or epoch:2016-05-20T00:00:00+08:00, '
        'or milliseconds since 1970 such as epoch:1314220021721.';
    shown constant text := mint_sql.excerpt(value);
    p constant text[] := regexp_match(value, '^([+-][0-9]{6}|[0-9]{4})(-?)([0-9]{2})(-?)([0-9]{2})[Tt]'
        '([0-9]{2})(?:(:?)([0-9]{2})(?:(:?)([0-9]{2})(?:[.,]([0-9]{1,9}))?)?)?'
        '(?:[Zz]|([+-])([0-9]{2})(?:(:?)([0-9]{2})(?:(:?)([0-9]{2})(?:[.,]([0-9]{1,9}))?)?)?)$');
    year constant integer := p[1]::integer;
    minutes constant integer := coalesce(p[8]::integer, 0); seconds constant integer := coalesce(p[10]::integer, 0);
    nanos constant bigint := rpad(coalesce(p[11], '0'), 9, '0')::bigint;
    offset_seconds integer := coalesce(p[13]::integer, 0) * 3600 + coalesce(p[15]::integer, 0) * 60 + coalesce(p[17]::integer, 0)
        + (coalesce(p[18], '0') >= '5')::integer;
    days integer; micros numeric;
BEGIN
    -- Digits alone are milliseconds where they can be nothing else.
    IF value ~ '^(0+|0*[1-9][0-9]{11,12})$' THEN
        RETURN value::numeric * 1000;
    ELSIF value ~ '^[0-9]+$' THEN
        PERFORM mint_sql.refuse_layout(whole, format('epoch "%s" is ambiguous: digits alone are milliseconds since 1970, of 12 or 13 digits', shown),
            'Use milliseconds such as epoch:1288834974657, which are 1000 times the seconds, or a timestamp such as epoch:2010-11-04T01:42:54.657Z.');
    END IF;
    IF p IS NULL OR value ~ ':60' OR p[2] <> p[4] OR p[7] <> p[9] OR p[14] <> p[16] OR p[1] = '-000000' OR year NOT BETWEEN -9999 AND 9999
        OR p[3]::integer NOT BETWEEN 1 AND 12 OR p[6]::integer > 23 OR minutes > 59 OR seconds > 60
        OR p[13]::integer > 25 OR p[15]::integer > 59 OR p[17]::integer > 59 OR offset_seconds >= 16 * 3600
    THEN
        PERFORM mint_sql.refuse_layout(whole, format('"%s" is not a timestamp with a time zone', shown), hint);
    END IF;
    -- The same day of a year that make_date has.
    days := CASE p[3]::integer WHEN 2 THEN 28 + ((year % 4 = 0 AND year % 100 <> 0) OR year % 400 = 0)::integer
        WHEN 4 THEN 30 WHEN 6 THEN 30 WHEN 9 THEN 30 WHEN 11 THEN 30 ELSE 31 END;
    IF p[5]::integer NOT BETWEEN 1 AND days THEN
        PERFORM mint_sql.refuse_layout(whole, format('"%s" is not a timestamp with a time zone', shown), hint);
    END IF;
    days := make_date(year % 400 + 2000, p[3]::integer, p[5]::integer) - date '1970-01-01' + (year / 400 - 5) * 146097;
    micros := ((days::numeric * 86400 + p[6]::integer * 3600 + minutes * 60 + least(seconds, 59)) * 1000000
        - CASE p[12] WHEN '-' THEN -offset_seconds ELSE offset_seconds END * 1000000::numeric) + nanos / 1000;
    IF micros NOT BETWEEN -377705023201000000 AND 253402207200999999 THEN
        PERFORM mint_sql.refuse_layout(whole, format('epoch "%s" is out of range', shown));
    ELSIF nanos % 1000 <> 0 THEN
        PERFORM mint_sql.refuse_layout(whole, format('epoch "%s" is finer than a microsecond', shown));
    ELSIF micros > 253402207200000000 THEN
        PERFORM mint_sql.refuse_layout(whole, format('epoch "%s" is out of range', shown));
    END IF;
    RETURN micros;
END
$$;
-- The random start of a tick in bits.
CREATE OR REPLACE FUNCTION mint_sql.layout_start(whole text, value text, seq bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE value WHEN 'zero' THEN 0 WHEN 'random' THEN seq - 1 ELSE coalesce(
    (SELECT bit FROM generate_series(0, least(seq, 63)) AS bit WHERE power(2::numeric, bit) = substring(value FROM '^random[(]0*([0-9]{1,19})[)]$')::numeric),
    mint_sql.refuse_layout(whole, format('start "%s" is not zero, random, or random(n) with n a power of two up to the range of the sequence',
        mint_sql.excerpt(value)))::bigint) END;
-- The shifts of the fields and the last tick, behind the eight that define a layout. The 64th bit of a layout is the sign of bigint.
CREATE OR REPLACE FUNCTION mint_sql.layout_derived(f bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN f || CASE f[1] WHEN 0 THEN ARRAY[f[3] + f[4] + f[5], f[5], 0] WHEN 1 THEN ARRAY[f[3] + f[4] + f[5], 0, f[3] + f[4]]
    WHEN 2 THEN ARRAY[f[5], f[2] + f[5], 0] WHEN 3 THEN ARRAY[0, f[5] + f[2], f[2]]
    WHEN 4 THEN ARRAY[f[3] + f[4], 0, f[2] + f[3] + f[4]] ELSE ARRAY[0, f[2], f[2] + f[3] + f[4]] END
    || (9223372036854775807 >> (63 - f[2] + (f[2] + f[3] + f[4] + f[5]) / 64)::integer);
CREATE OR REPLACE FUNCTION mint_sql.layout_parse(whole text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    words text[]; word text; field text; value text; given text[]; base bigint[]; letters text := '';
    time bigint; upper_bits bigint; lower_bits bigint; seq bigint; unit bigint; epoch bigint; start text; start_bits bigint;
    order_number bigint; total bigint; micros numeric;
BEGIN
    IF octet_length(whole) > 1000 THEN
        PERFORM mint_sql.refuse_layout(whole, format('the text has %s bytes, but a layout has at most 1000', octet_length(whole)));
    END IF;
    words := regexp_split_to_array(btrim(whole, E' \t\n\f\r'), E'[ \t\n\f\r]+');
    IF strpos(words[1], ':') = 0 THEN
        IF mint_sql.ascii_lower(words[1]) <> ALL (mint_sql.layout_names()) THEN
            PERFORM mint_sql.refuse_layout(whole, format('"%s" is not a built-in layout', mint_sql.excerpt(words[1])),
                format('Use a built-in layout (%s), a built-in layout with changes such as twitter shard:8 seq:14, '
                    'or fields from the top bit down.', array_to_string(mint_sql.layout_names(), ', ')));
        END IF;
        base := mint_sql.layout_fields(mint_sql.ascii_lower(words[1]));
        words := words[2:];
    END IF;
    FOREACH word IN ARRAY words LOOP
        IF strpos(word, ':') = 0 THEN
            PERFORM mint_sql.refuse_layout(whole, format('"%s" is not of the form field:value', mint_sql.excerpt(word)));
        END IF;
        field := split_part(word, ':', 1);
        value := substr(word, strpos(word, ':') + 1);
        CASE field
            WHEN 'time' THEN
                letters := letters || 't';
                time := mint_sql.layout_width(whole, field, value);
            WHEN 'shard' THEN
                letters := letters || 'n';
                IF value LIKE '%+%+%' THEN
                    PERFORM mint_sql.refuse_layout(whole, format('shard "%s" has more than two parts', mint_sql.excerpt(value)),
                        'Use two parts such as shard:5+5: write further parts as one that has the bits of both.');
                END IF;
                upper_bits := mint_sql.layout_width(whole, field, split_part(value, '+', 1));
                lower_bits := CASE strpos(value, '+') WHEN 0 THEN 0 ELSE mint_sql.layout_width(whole, field, split_part(value, '+', 2)) END;
            WHEN 'seq' THEN
                letters := letters || 's';
                seq := mint_sql.layout_width(whole, field, value);
            WHEN 'unit' THEN
                micros := substring(value FROM '^([0-9]+)(us|ms|s)$')::numeric
                    * CASE WHEN value ~ 'us$' THEN 1 WHEN value ~ 'ms$' THEN 1000 ELSE 1000000 END;
                IF (micros BETWEEN 1 AND 3600000000) IS NOT TRUE THEN
                    PERFORM mint_sql.refuse_layout(whole, format('"%s" is not a unit between 1us and 3600s', mint_sql.excerpt(value)));
                END IF;
                unit := micros;
            WHEN 'epoch' THEN epoch := mint_sql.layout_epoch(whole, value);
            WHEN 'start' THEN start := value;
            ELSE PERFORM mint_sql.refuse_layout(whole, format('"%s" is not a field of layouts', mint_sql.excerpt(field)));
        END CASE;
        IF field = ANY (given) THEN
            PERFORM mint_sql.refuse_layout(whole, format('field "%s" is given more than once', field));
        END IF;
        given := given || field;
    END LOOP;
    time := coalesce(time, base[2]);
    seq := coalesce(seq, base[5]);
    IF time IS NULL OR seq IS NULL THEN
        PERFORM mint_sql.refuse_layout(whole, format('field "%s" is missing', CASE WHEN time IS NULL THEN 'time' ELSE 'seq' END));
    END IF;
    IF start IS NOT NULL THEN
        start_bits := mint_sql.layout_start(whole, start, seq);
    ELSIF base[8] > seq THEN
        PERFORM mint_sql.refuse_layout(whole, format('start "random(%s)" of the built-in layout is out of range for a sequence of %s bits, '
            'so a start must be given', 1::bigint << base[8]::integer, seq));
    ELSE
        start_bits := coalesce(base[8], 0);
    END IF;
    epoch := coalesce(epoch, base[7]);
    IF epoch IS NULL THEN
        PERFORM mint_sql.refuse_layout(whole, 'field "epoch" is missing');
    END IF;
    IF upper_bits IS NULL THEN
        upper_bits := coalesce(base[3], 0);
        lower_bits := coalesce(base[4], 0);
        letters := replace(letters, 't', 'tn');
    END IF;
    order_number := coalesce(base[1], array_position(ARRAY['tns', 'tsn', 'nts', 'nst', 'stn', 'snt'], letters) - 1);
    IF upper_bits = 0 THEN
        order_number := CASE WHEN order_number < 3 THEN 0 ELSE 4 END;
    END IF;
    total := time + upper_bits + lower_bits + seq;
    IF total > 64 OR time > 63 OR seq > 63 THEN
        PERFORM mint_sql.refuse_layout(whole, format('the fields have %s bits in total, but a bigint has only 64', total));
    ELSIF upper_bits + lower_bits > 31 THEN
        PERFORM mint_sql.refuse_layout(whole, format('field "shard" has %s bits, but a shard has at most 31', upper_bits + lower_bits));
    ELSIF total = 64 AND (order_number > 1 OR time = 1) THEN
        PERFORM mint_sql.refuse_layout(whole,
            'a layout of 64 bits must begin with a time field of at least two bits, the first of which is the sign');
    END IF;
    RETURN mint_sql.layout_derived(
        ARRAY[order_number, time, upper_bits, lower_bits, seq, coalesce(unit, base[6], 1000), epoch, start_bits]);
END
$$;
-- The fields and the name of sequences of a layout that is not built in. layout_declare replaces these two functions.
CREATE OR REPLACE FUNCTION mint_sql.layout_declared(layout text) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN mint_sql.layout_parse(layout);
CREATE OR REPLACE FUNCTION mint_sql.lane_declared(layout text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN NULL::text;
-- Inlined, so that a layout that is built in or declared costs a comparison of texts.
CREATE OR REPLACE FUNCTION mint_sql.layout_fields(layout text) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE layout
    WHEN 'instagram' THEN '{0,41,13,0,10,1000,1314220021721000,0,23,10,0,1099511627775}'::bigint[]
    WHEN 'twitter' THEN '{0,41,5,5,12,1000,1288834974657000,0,22,12,0,2199023255551}'
    WHEN 'leaf' THEN '{0,41,10,0,12,1000,1288834974657000,7,22,12,0,2199023255551}'
    WHEN 'discord' THEN '{0,42,5,5,12,1000,1420070400000000,0,22,12,0,2199023255551}'
    WHEN 'java' THEN '{0,41,10,0,12,1000,1420070400000000,0,22,12,0,2199023255551}'
    WHEN 'sonyflake' THEN '{1,39,16,0,8,10000,1409529600000000,0,24,0,16,549755813887}'
    WHEN 'sonyflake2' THEN '{1,39,16,0,8,10000,1735689600000000,0,24,0,16,549755813887}'
    WHEN 'goflake' THEN '{0,41,10,0,12,1000,1474802888000000,0,22,12,0,2199023255551}'
    WHEN 'taobao' THEN '{0,49,4,0,10,1000,1361753741828000,0,14,10,0,562949953421311}'
    WHEN 'baidu' THEN '{0,28,22,0,13,1000000,1463673600000000,0,35,13,0,268435455}'
    WHEN 'mastodon' THEN '{0,48,0,0,16,1000,0,0,16,16,0,140737488355327}'
    WHEN 'pgedge' THEN '{0,41,10,0,12,1000,1672531200000000,0,22,12,0,2199023255551}'
    WHEN 'tso' THEN '{0,46,0,0,18,1000,0,0,18,18,0,35184372088831}'
    WHEN 'yitter' THEN '{0,52,6,0,6,1000,1582136402000000,0,12,6,0,2251799813685247}'
    WHEN 'javascript' THEN '{0,41,4,0,8,1000,1735689600000000,0,12,8,0,2199023255551}'
    WHEN 'tsid' THEN '{0,42,10,0,12,1000,1577836800000000,12,22,12,0,2199023255551}'
    WHEN 'pgdog' THEN '{0,41,10,0,12,1000,1764184395000000,0,22,12,0,2199023255551}'
    WHEN 'pgdog_compact' THEN '{0,41,6,0,6,1000,1764184395000000,0,12,6,0,2199023255551}'
    ELSE mint_sql.layout_declared(layout) END;
DO $$ BEGIN
    IF pg_catalog.to_regtype('mint_sql.snowflake_layout') IS NULL THEN
        CREATE DOMAIN mint_sql.snowflake_layout AS text COLLATE "C" CHECK (pg_catalog.cardinality(mint_sql.layout_fields(VALUE)) > 0);
    END IF;
END $$;
COMMENT ON DOMAIN mint_sql.snowflake_layout IS 'Layout of a 64-bit id: the bits of its time, shard and sequence';
-- The largest number of so many bits.
CREATE OR REPLACE FUNCTION mint_sql.mask(bits bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 9223372036854775807 >> (63 - bits)::integer;
CREATE OR REPLACE FUNCTION mint_sql.layout_bits(f bigint[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    words constant text[] := ARRAY['time:' || f[2],
        CASE WHEN f[3] = 0 THEN NULL WHEN f[4] = 0 THEN 'shard:' || f[3] ELSE 'shard:' || f[3] || '+' || f[4] END, 'seq:' || f[5]];
    places constant integer[] := ('{{1,2,3},{1,3,2},{2,1,3},{2,3,1},{3,1,2},{3,2,1}}'::integer[])[f[1] + 1:f[1] + 1];
BEGIN
    RETURN concat_ws(' ', words[places[1][1]], words[places[1][2]], words[places[1][3]]);
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.layout_definition(f bigint[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN mint_sql.layout_bits(f) || ' unit:' || CASE WHEN f[6] % 1000000 = 0 THEN f[6] / 1000000 || 's'
    WHEN f[6] % 1000 = 0 THEN f[6] / 1000 || 'ms' ELSE f[6] || 'us' END
    || ' epoch:' || mint_sql.time_text(f[7]) || CASE f[8] WHEN 0 THEN '' ELSE ' start:random(' || power(2::numeric, f[8])::numeric(20) || ')' END;
-- The name of a built-in layout, by whatever text it was given; NULL for others.
CREATE OR REPLACE FUNCTION mint_sql.layout_name(fields bigint[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT name FROM unnest(mint_sql.layout_names()) AS name WHERE mint_sql.layout_fields(name) = fields);
CREATE OR REPLACE FUNCTION mint_sql.layout_text(layout text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE f constant bigint[] := mint_sql.layout_fields(layout);
BEGIN RETURN coalesce(mint_sql.layout_name(f), mint_sql.layout_definition(f)); END
$$;
CREATE OR REPLACE FUNCTION mint_sql.layout_row(whole text) RETURNS TABLE (
    name text, layout mint_sql.snowflake_layout, bits text, unit interval, epoch timestamptz, shards bigint, ids_per_second double precision, first_invalid timestamptz, expired boolean, definition text
)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f constant bigint[] := mint_sql.layout_fields(whole);
    -- The end of time that 64 bits of microseconds have, and those of messages with it, is a layout without an end.
    ending constant numeric := (f[12]::numeric + 1) * f[6] + f[7];
BEGIN
    name := mint_sql.layout_name(f);
    layout := mint_sql.layout_text(whole);
    bits := mint_sql.layout_bits(f);
    unit := make_interval(secs => f[6]::double precision / 1000000);
    epoch := mint_sql.at(f[7]);
    shards := mint_sql.mask(f[3] + f[4]) + 1;
    ids_per_second := (mint_sql.mask(f[5])::double precision + 1) * 1000000 / f[6];
    IF ending <= 9223372036854775807 THEN
        first_invalid := CASE WHEN ending >= -210866803200000000 THEN mint_sql.at(ending::bigint) END;
    END IF;
    expired := ending <= mint_sql.now_micros();
    definition := mint_sql.layout_definition(f);
    RETURN NEXT;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.snowflake_layouts(layout mint_sql.snowflake_layout) RETURNS TABLE (
    name text, layout mint_sql.snowflake_layout, bits text, unit interval, epoch timestamptz, shards bigint, ids_per_second double precision, first_invalid timestamptz, expired boolean, definition text
)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT * FROM mint_sql.layout_row($1);
END;
COMMENT ON FUNCTION mint_sql.snowflake_layouts(mint_sql.snowflake_layout) IS 'Returns how long a layout lasts, how many shards it has, and how many ids a second';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_layouts() RETURNS TABLE (
    name text, layout mint_sql.snowflake_layout, bits text, unit interval, epoch timestamptz, shards bigint, ids_per_second double precision, first_invalid timestamptz, expired boolean, definition text
)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 15
BEGIN ATOMIC
    SELECT l.* FROM unnest(mint_sql.layout_names()) WITH ORDINALITY AS names (name, place), mint_sql.layout_row(names.name) AS l
    ORDER BY names.place;
END;
COMMENT ON FUNCTION mint_sql.snowflake_layouts() IS 'Returns the built-in layouts';

-- 64-bit ids: reading
CREATE OR REPLACE FUNCTION mint_sql.refuse_id(id bigint, layout text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN mint_sql.refuse('22003', format('id %s is not valid for layout "%s"', id, mint_sql.layout_text(layout)),
    CASE WHEN id >= 0 THEN 'The id has bits or a timestamp that the layout cannot have.' END, CASE WHEN id < 0 THEN 'Exclude negative ids by WHERE id >= 0.' ELSE 'Use the layout that the id was generated with.' END);
CREATE OR REPLACE FUNCTION mint_sql.field(id bigint, shift bigint, bits bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (id >> shift::integer) & (9223372036854775807 >> (63 - bits)::integer);
-- A product that exceeds 64 bits can fit with an epoch that is negative.
CREATE OR REPLACE FUNCTION mint_sql.tick_start(tick bigint, f bigint[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN tick <= 4611686018427387904 / f[6] THEN tick * f[6] + f[7] ELSE (tick::numeric * f[6] + f[7])::bigint END;
CREATE OR REPLACE FUNCTION mint_sql.is_outside(id bigint, tick bigint, f bigint[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN id < 0 OR (f[2] + f[3] + f[4] + f[5] < 63 AND id >> (f[2] + f[3] + f[4] + f[5])::integer <> 0)
    OR (tick > 4611686018427387904 / f[6] AND tick::numeric * f[6] + f[7] > 9223372036854775807);
CREATE OR REPLACE FUNCTION mint_sql.snowflake_time(id bigint, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    f pg_catalog.int8[] := mint_sql.layout_fields(layout::pg_catalog.text);
    tick pg_catalog.int8 := mint_sql.field(id, f[9], f[2]);
BEGIN
    IF mint_sql.is_outside(id, tick, f) THEN
        PERFORM mint_sql.refuse_id(id, layout::pg_catalog.text);
    END IF;
    RETURN mint_sql.at(mint_sql.tick_start(tick, f));
END
$$;
COMMENT ON FUNCTION mint_sql.snowflake_time(bigint, mint_sql.snowflake_layout) IS 'Returns the start of an id''s tick: when it was generated, or up to 2 s later';
-- The field of an id that has this place in the array of a layout.
CREATE OR REPLACE FUNCTION mint_sql.id_field(id bigint, layout text, place integer) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f constant bigint[] := mint_sql.layout_fields(layout);
BEGIN
    IF mint_sql.is_outside(id, mint_sql.field(id, f[9], f[2]), f) THEN
        PERFORM mint_sql.refuse_id(id, layout);
    END IF;
    RETURN mint_sql.field(id, f[place], CASE place WHEN 9 THEN f[2] WHEN 10 THEN f[3] + f[4] ELSE f[5] END);
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.snowflake_shard(id bigint, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mint_sql.id_field(id, layout, 10)::integer;
COMMENT ON FUNCTION mint_sql.snowflake_shard(bigint, mint_sql.snowflake_layout) IS 'Returns the shard of an id';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_sequence(id bigint, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mint_sql.id_field(id, layout, 11);
COMMENT ON FUNCTION mint_sql.snowflake_sequence(bigint, mint_sql.snowflake_layout) IS 'Returns the sequence of an id within its tick';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_decode(id bigint, layout mint_sql.snowflake_layout DEFAULT 'instagram')
RETURNS TABLE (at timestamptz, shard integer, sequence bigint, parts integer[])
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f constant bigint[] := mint_sql.layout_fields(layout::text);
BEGIN
    at := mint_sql.snowflake_time(id, layout);
    shard := mint_sql.field(id, f[10], f[3] + f[4]);
    sequence := mint_sql.field(id, f[11], f[5]);
    IF f[4] > 0 THEN
        parts := ARRAY[shard >> f[4]::integer, shard & mint_sql.mask(f[4])];
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION mint_sql.snowflake_decode(bigint, mint_sql.snowflake_layout) IS 'Returns the timestamp, the shard and the sequence of an id';

-- 64-bit ids: time ranges

-- The first or the last id of the tick of a timestamp, moved by some ticks and microseconds; NULL if there is none.
CREATE OR REPLACE FUNCTION mint_sql.bound(at timestamptz, ticks bigint, micros bigint, is_upper boolean, layout text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f constant bigint[] := mint_sql.layout_fields(layout);
    age constant numeric := mint_sql.micros(at)::numeric - f[7] + ticks * f[6] + micros;
    tick numeric := div(age, f[6]) - (mod(age, f[6]) < 0)::integer;
BEGIN
    IF f[1] > 1 THEN
        PERFORM mint_sql.refuse('22023', format('layout "%s" does not begin with its time field', mint_sql.layout_text(layout)),
            'Ids of this layout do not sort by time, so a span of time is not a range of ids.');
    END IF;
    tick := CASE WHEN is_upper THEN least(tick, f[12]) ELSE greatest(tick, 0) END;
    IF tick NOT BETWEEN 0 AND f[12] THEN
        RETURN NULL;
    END IF;
    RETURN (tick::bigint << f[9]::integer) | CASE WHEN is_upper THEN mint_sql.mask(f[9]) ELSE 0 END;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.snowflake_min(at timestamptz, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100 RETURN mint_sql.bound(at, 1, -1, false, layout);
COMMENT ON FUNCTION mint_sql.snowflake_min(timestamptz, mint_sql.snowflake_layout) IS 'Returns the smallest id at or after a timestamp';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_max(at timestamptz, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100 RETURN mint_sql.bound(at, 0, 0, true, layout);
COMMENT ON FUNCTION mint_sql.snowflake_max(timestamptz, mint_sql.snowflake_layout) IS 'Returns the largest id at or before a timestamp';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_min_after(at timestamptz, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100 RETURN mint_sql.bound(at, 1, 0, false, layout);
COMMENT ON FUNCTION mint_sql.snowflake_min_after(timestamptz, mint_sql.snowflake_layout) IS 'Returns the smallest id after a timestamp';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_max_before(at timestamptz, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 100 RETURN mint_sql.bound(at, 0, -1, true, layout);
COMMENT ON FUNCTION mint_sql.snowflake_max_before(timestamptz, mint_sql.snowflake_layout) IS 'Returns the largest id before a timestamp';
-- Not STRICT, so that the planner inlines it and sees a range of the key.
CREATE OR REPLACE FUNCTION mint_sql.snowflake_between(id bigint, since timestamptz, until timestamptz, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS boolean
LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
RETURN id >= mint_sql.snowflake_min(since, layout) AND id <= mint_sql.snowflake_max_before(until, layout);
COMMENT ON FUNCTION mint_sql.snowflake_between(bigint, timestamptz, timestamptz, mint_sql.snowflake_layout) IS 'Returns whether an id has a time in a range whose end is excluded';

-- 64-bit ids: making ids from parts
CREATE OR REPLACE FUNCTION mint_sql.check_shard(shard integer, layout text) RETURNS void LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last constant bigint := mint_sql.mask((mint_sql.layout_fields(layout))[3] + (mint_sql.layout_fields(layout))[4]);
BEGIN
    IF shard NOT BETWEEN 0 AND last THEN
        PERFORM mint_sql.refuse('22003', format('shard %s is out of range for layout "%s"', shard, mint_sql.layout_text(layout)),
            CASE last WHEN 0 THEN 'The layout has no shard field, so its only shard is 0.'
            ELSE format('Shards of this layout must be between 0 and %s.', last) END, NULL);
    END IF;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.layout_last(f bigint[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN f[12]::numeric * f[6] + f[7] > 9223372036854775807 THEN 'infinity'
    ELSE mint_sql.time_text((f[12]::numeric * f[6] + f[7])::bigint) END;
CREATE OR REPLACE FUNCTION mint_sql.snowflake_encode(at timestamptz, shard integer, sequence bigint, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f constant bigint[] := mint_sql.layout_fields(layout::text);
    age constant numeric := mint_sql.micros(at)::numeric - f[7];
BEGIN
    PERFORM mint_sql.check_shard(shard, layout::text);
    IF sequence NOT BETWEEN 0 AND mint_sql.mask(f[5]) THEN
        PERFORM mint_sql.refuse('22003', format('sequence %s is out of range for layout "%s"', sequence, mint_sql.layout_text(layout::text)),
            format('Sequences of this layout must be between 0 and %s.', mint_sql.mask(f[5])));
    ELSIF age < 0 OR div(age, f[6]) > f[12] THEN
        PERFORM mint_sql.refuse('22008', format('timestamp out of range for layout "%s"', mint_sql.layout_text(layout::text)),
            format('Timestamps of this layout must be between %s and %s.', mint_sql.time_text(f[7]), mint_sql.layout_last(f)));
    END IF;
    RETURN (div(age, f[6])::bigint << f[9]::integer) | (shard::bigint << f[10]::integer) | (sequence << f[11]::integer);
END
$$;
COMMENT ON FUNCTION mint_sql.snowflake_encode(timestamptz, integer, bigint, mint_sql.snowflake_layout) IS 'Returns the id of a timestamp, a shard and a sequence';

-- 64-bit ids: generating
--
-- Each shard of a layout that is declared has three sequences. An id is made of its word, tick << bits of the sequence |
-- sequence, and that is the value of the counter, which only nextval moves, plus the value of the floor:
--
--     word = nextval(counter) + floor
--
-- The floor only ascends. It is moved under an advisory lock, to where the next word is in the current tick. A session reads it
-- before and after it draws from the counter, and draws again if the two differ. So each word is the sum of two numbers that the
-- sequences had at the same time, of which one ascends with every draw and the other never descends: no word is drawn twice, and
-- words ascend in the order of the draws. Neither rollback nor the clock changes that.
--
-- Counter and floor are unlogged, so a call writes nothing to disk. No word is above the third sequence, the ceiling, which is
-- logged and moved a second ahead at a time: a session that commits a row has it before the row in the WAL. A crash empties the
-- other two, and words continue above the ceiling. Only the owner can draw from a counter directly: the generator runs with the
-- owner's privileges, and does not draw what it could not return, so calls that fail do not move a shard ahead of the clock.
-- So many microseconds in words, and the last word.
CREATE OR REPLACE FUNCTION mint_sql.words(micros bigint, f bigint[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(micros::double precision / f[6] * power(2::double precision, f[5]::double precision), 4e18::double precision)::bigint;
CREATE OR REPLACE FUNCTION mint_sql.last_word(f bigint[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (f[12] << f[5]::integer) | (9223372036854775807 >> (63 - f[5])::integer);
CREATE OR REPLACE FUNCTION mint_sql.lane_key(f bigint[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(mint_sql.layout_name(f), 'layout_' || left(md5(array_to_string(f[:8], ',')), 20));
-- A sequence of a shard; NULL if the shard is not declared.
CREATE OR REPLACE FUNCTION mint_sql.lane(layout text, f bigint[], shard integer, suffix text) RETURNS regclass
LANGUAGE sql STABLE PARALLEL SAFE RETURN to_regclass('mint_sql.' || CASE WHEN layout = ANY (mint_sql.layout_names()) THEN layout
    ELSE coalesce(mint_sql.lane_declared(layout), mint_sql.lane_key(f)) END
    || '_' || shard || suffix);
-- Writes the layouts of declared shards, as they were given and by definition, into the bodies of two functions, so that they are not
-- parsed at each call.
CREATE OR REPLACE FUNCTION mint_sql.layout_declare() RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    form constant text := 'CREATE OR REPLACE FUNCTION mint_sql.%s(layout text) RETURNS %s LANGUAGE sql IMMUTABLE PARALLEL SAFE '
        'RETURN CASE layout %s ELSE %s END';
    fields text;
    lanes text;
BEGIN
    SELECT string_agg(format('WHEN %L THEN %L::bigint[]', layout, f), ' '), string_agg(format('WHEN %L THEN %L', layout, mint_sql.lane_key(f)), ' ')
    INTO fields, lanes
    FROM (
        SELECT DISTINCT layout, mint_sql.layout_parse(layout) AS f
        FROM (SELECT obj_description(s.oid, 'pg_class') AS layout FROM pg_class AS s
            WHERE s.relkind = 'S' AND s.relnamespace = 'mint_sql'::regnamespace AND s.relname ~ '_[0-9]+(_floor)?$') AS s
        WHERE layout <> ALL (mint_sql.layout_names())
    ) AS l;
    IF fields IS NOT NULL THEN
        EXECUTE format(form, 'layout_declared', 'bigint[]', fields, 'mint_sql.layout_parse(layout)');
        EXECUTE format(form, 'lane_declared', 'text', lanes, 'NULL');
    END IF;
END
$$;
-- Revokes what default privileges have given to others, who could set sequences back, or add a function that fits a call of the owner's
-- better. The owner can grant it again.
CREATE OR REPLACE FUNCTION mint_sql.revoke(object text, acl aclitem[]) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    other oid;
BEGIN
    FOR other IN SELECT DISTINCT grantee FROM aclexplode(acl) WHERE grantee <> current_user::regrole LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', object, CASE other WHEN 0 THEN 'PUBLIC' ELSE other::regrole::text END);
    END LOOP;
END
$$;
-- A dump without privileges is restored with a function that everybody can execute.
CREATE OR REPLACE FUNCTION mint_sql.refuse_public(function regprocedure) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN has_function_privilege('public', function, 'EXECUTE')
    THEN mint_sql.refuse('42501', 'PUBLIC may execute ' || function::text, NULL, 'Run pg_mint_sql.sql again, which revokes that.') END;
CREATE OR REPLACE FUNCTION mint_sql.shard_create(shard integer, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter constant text := mint_sql.lane_key(mint_sql.layout_fields(layout::text)) || '_' || shard;
    name text;
BEGIN
    PERFORM mint_sql.refuse_public('mint_sql.shard_create(integer, mint_sql.snowflake_layout)'::regprocedure);
    PERFORM mint_sql.check_shard(shard, layout::text);
    PERFORM pg_advisory_xact_lock(1835626100::bigint << 32);
    IF to_regclass('mint_sql.' || counter) IS NOT NULL THEN
        RAISE EXCEPTION 'shard % of layout "%" is already declared', shard, mint_sql.layout_text(layout::text)
            USING ERRCODE = 'duplicate_object';
    END IF;
    EXECUTE format('CREATE UNLOGGED SEQUENCE mint_sql.%I MINVALUE 0 NO CYCLE CACHE 1', counter);
    EXECUTE format('CREATE UNLOGGED SEQUENCE mint_sql.%I MINVALUE -9223372036854775807 START 0 NO CYCLE CACHE 1', counter || '_floor');
    EXECUTE format('CREATE SEQUENCE mint_sql.%I MINVALUE 0 NO CYCLE CACHE 1', counter || '_ceiling');
    FOREACH name IN ARRAY ARRAY[counter, counter || '_floor', counter || '_ceiling'] LOOP
        PERFORM mint_sql.revoke('SEQUENCE ' || oid::regclass, relacl) FROM pg_class WHERE oid = format('mint_sql.%I', name)::regclass;
    END LOOP;
    EXECUTE format('COMMENT ON SEQUENCE mint_sql.%I IS %L', counter, layout);
    EXECUTE format('COMMENT ON SEQUENCE mint_sql.%I IS %L', counter || '_floor', mint_sql.layout_text(layout::text));
    PERFORM mint_sql.layout_declare();
END
$$;
COMMENT ON FUNCTION mint_sql.shard_create(integer, mint_sql.snowflake_layout) IS 'Declares a shard of a layout, for which this server then generates ids';
CREATE OR REPLACE FUNCTION mint_sql.refuse_end(layout text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN mint_sql.refuse('2200H', format('layout "%s" has reached the end of its time field', mint_sql.layout_text(layout)),
    format('The last tick of the layout starts at %s.', mint_sql.layout_last(mint_sql.layout_fields(layout))),
    'Use a layout that lasts longer, and convert existing ids to it.');
-- Moves the floor so far that the next word is above the given one, and the ceiling above that, and returns the floor. A session that
-- had to wait for another goes ahead by some words more, or a queue for the lock would form at every tick.
CREATE OR REPLACE FUNCTION mint_sql.raise_floor(counter regclass, floor regclass, ceiling regclass, f bigint[], word bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    key pg_catalog.int8 := (1835626100::pg_catalog.int8 OPERATOR(pg_catalog.<<) 32) OPERATOR(pg_catalog.|) floor::pg_catalog.oid::pg_catalog.int8;
    last pg_catalog.int8 := mint_sql.last_word(f);
    above pg_catalog.int8 := word;
    base pg_catalog.int8; top pg_catalog.int8; drawn pg_catalog.int8;
BEGIN
    -- The lock of a transaction is held to its end, that of a session after an error too: this one ends with the block, in any case.
    BEGIN
        IF NOT pg_catalog.pg_try_advisory_xact_lock(key) THEN
            PERFORM pg_catalog.pg_advisory_xact_lock(key);
            above := word OPERATOR(pg_catalog.+) LEAST(mint_sql.words(10000::pg_catalog.int8, f), last OPERATOR(pg_catalog.-) GREATEST(word, 0));
        END IF;
        base := pg_catalog.pg_sequence_last_value(floor);
        top := pg_catalog.pg_sequence_last_value(ceiling);
        drawn := pg_catalog.pg_sequence_last_value(counter);
        IF base IS NULL OR drawn IS NULL THEN
            -- After a crash, or for the first id. The first word of the counter is drawn here, so that it is not taken for an empty one again.
            PERFORM mint_sql.refuse_closed(floor);
            drawn := COALESCE(drawn, pg_catalog.nextval(counter));
            above := GREATEST(above, top);
        ELSIF base OPERATOR(pg_catalog.>) 0 AND drawn OPERATOR(pg_catalog.>) (last OPERATOR(pg_catalog.-) base) THEN
            above := last;
        ELSE
            above := GREATEST(above, drawn OPERATOR(pg_catalog.+) base);
        END IF;
        IF top IS NULL OR above OPERATOR(pg_catalog.>=) top THEN
            PERFORM mint_sql.refuse_unlogged(ceiling);
            PERFORM pg_catalog.setval(ceiling, above OPERATOR(pg_catalog.+)
                LEAST(mint_sql.words(1000000::pg_catalog.int8, f) OPERATOR(pg_catalog.+) 1, last OPERATOR(pg_catalog.-) GREATEST(above, 0)));
        END IF;
        IF base IS NULL OR above OPERATOR(pg_catalog.-) drawn OPERATOR(pg_catalog.>) base THEN
            base := pg_catalog.setval(floor, above OPERATOR(pg_catalog.-) drawn);
        END IF;
        RAISE SQLSTATE 'MINT0';
    EXCEPTION WHEN SQLSTATE 'MINT0' THEN
        RETURN base;
    END;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.refuse_tick(tick bigint, layout text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN tick > 0 THEN mint_sql.refuse_end(layout)
    ELSE mint_sql.refuse('58000', format('epoch of layout "%s" is in the future', mint_sql.layout_text(layout)),
        format('The epoch of the layout is %s.', mint_sql.time_text((mint_sql.layout_fields(layout))[7])),
        'Use a layout with an epoch in the past. If the system clock is wrong, correct it.') END;
-- A shard that to_extension.sql has closed, for a session that is within an older function.
CREATE OR REPLACE FUNCTION mint_sql.refuse_closed(floor regclass) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN (pg_sequence_parameters(floor)).cycle_option
    THEN mint_sql.refuse('40001', 'functions of schema "mint_sql" were replaced', format('Sequence %s is closed.', floor), 'Repeat the transaction.') END;
-- A crash would empty the ceiling too.
CREATE OR REPLACE FUNCTION mint_sql.refuse_unlogged(ceiling regclass) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT mint_sql.refuse('55000', format('sequence "%s" is unlogged', ceiling), 'After a crash, ids of its shard would repeat.',
    format('Run ALTER SEQUENCE %s SET LOGGED, and then mint_sql.snowflake_start_above with the largest id of the shard.', ceiling)) FROM pg_class WHERE oid = ceiling AND relpersistence <> 'p');
-- If the declaration is rolled back, a later one does not know of its ids. Its transaction has the only lock of this mode.
CREATE OR REPLACE FUNCTION mint_sql.refuse_declaring(floor regclass) RETURNS text LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (SELECT mint_sql.refuse('55000', format('shard of sequence "%s" was declared in this transaction', floor),
    'If it is rolled back, a later declaration would repeat its ids.', 'Commit the transaction before the shard is used.')
    FROM pg_lock_status() WHERE pid = pg_backend_pid() AND relation = floor AND mode = 'AccessExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
CREATE OR REPLACE FUNCTION mint_sql.refuse_lane(shard integer, layout text) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF layout IS NULL OR shard IS NULL THEN
        PERFORM mint_sql.refuse('22004', CASE WHEN layout IS NULL THEN 'layout' ELSE 'shard' END || ' must not be null', NULL, NULL);
    END IF;
    PERFORM mint_sql.check_shard(shard, layout);
    PERFORM mint_sql.refuse('55000', format('shard %s of layout "%s" is not declared', shard, mint_sql.layout_text(layout)),
        'A shard that no other server has must be declared once.',
        format('Run SELECT mint_sql.shard_create(%s, %L) as the owner of schema "mint_sql".', shard, mint_sql.layout_text(layout)));
END
$$;
-- Waits while an id is more than 2 s ahead of the clock, and returns whether it was: the clock was set back, or the layout's rate is used up.
CREATE OR REPLACE FUNCTION mint_sql.lane_wait(micros bigint, shard integer, layout text) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ahead bigint;
    has_waited boolean := false;
BEGIN
    LOOP
        ahead := micros - mint_sql.now_micros();
        IF ahead <= 2000000 THEN
            RETURN has_waited;
        END IF;
        has_waited := true;
        IF ahead > 7000000 THEN
            PERFORM mint_sql.refuse('58000', format('system clock is %s behind the last id of lane (layout "%s", shard %s)',
                mint_sql.duration_text(ahead), mint_sql.layout_text(layout), shard), format('The last id is further ahead of the clock than 2 s. The next id is %s away, which is longer than 5 s.',
                    mint_sql.duration_text(ahead - 2000000)),
                'Wait. If the system clock is wrong, correct it.');
        END IF;
        PERFORM pg_sleep(least(ahead - 2000000, 1000000) / 1000000.0);
    END LOOP;
END
$$;
-- Parts of the next function, inlined into it, as its own search path would cost it more than all else.
CREATE OR REPLACE FUNCTION mint_sql.now_tick(f bigint[]) RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE RETURN ((date_part('epoch', clock_timestamp()) * 1000000)::bigint - f[7]) / f[6];
CREATE OR REPLACE FUNCTION mint_sql.first_word(tick bigint, f bigint[]) RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE RETURN (tick << f[5]::integer) | floor(random() * (1::bigint << f[8]::integer))::bigint;
CREATE OR REPLACE FUNCTION mint_sql.word_of(id bigint, f bigint[]) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (mint_sql.field(id, f[9], f[2]) << f[5]::integer) | mint_sql.field(id, f[11], f[5]);
CREATE OR REPLACE FUNCTION mint_sql.id_of(word bigint, shard integer, f bigint[]) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ((word >> f[5]::integer) << f[9]::integer) | (shard::bigint << f[10]::integer)
    | ((word & (9223372036854775807 >> (63 - f[5])::integer)) << f[11]::integer);
-- With so few ids a second, those that sessions draw at once and discard would be seconds: one session at a time draws, in the order in
-- which they have come. The lock ends with the block, so the next id of a statement queues again, and no session holds two.
CREATE OR REPLACE FUNCTION mint_sql.take_turn(counter regclass, floor regclass, ceiling regclass, f bigint[], shard integer, layout text) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tick bigint; word bigint;
BEGIN
    PERFORM pg_advisory_xact_lock((1835626100::bigint << 32) | floor::oid::bigint);
    tick := mint_sql.now_tick(f);
    word := pg_sequence_last_value(counter) + pg_sequence_last_value(floor);
    IF tick NOT BETWEEN 0 AND f[12] THEN
        PERFORM mint_sql.refuse_tick(tick, layout);
    ELSIF word IS NULL THEN
        PERFORM mint_sql.refuse_declaring(floor);
    END IF;
    IF word IS NULL OR word < (tick << f[5]::integer) - 1 OR word >= pg_sequence_last_value(ceiling) THEN
        word := mint_sql.raise_floor(counter, floor, ceiling, f, mint_sql.first_word(tick, f) - 1) + pg_sequence_last_value(counter);
    END IF;
    IF word >= mint_sql.last_word(f) THEN
        PERFORM mint_sql.refuse_end(layout);
    END IF;
    PERFORM mint_sql.lane_wait(mint_sql.tick_start((word + 1) >> f[5]::integer, f), shard, layout);
    word := nextval(counter) + pg_sequence_last_value(floor);
    RAISE SQLSTATE 'MINT0';
EXCEPTION WHEN SQLSTATE 'MINT0' THEN
    RETURN mint_sql.id_of(word, shard, f);
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.snowflake_next_id(shard integer, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER AS $$
DECLARE
    name pg_catalog.text := layout;
    f pg_catalog.int8[] := mint_sql.layout_fields(name);
    counter pg_catalog.regclass := mint_sql.lane(name, f, shard, ''::pg_catalog.text);
    floor pg_catalog.regclass := mint_sql.lane(name, f, shard, '_floor'::pg_catalog.text);
    ceiling pg_catalog.regclass := mint_sql.lane(name, f, shard, '_ceiling'::pg_catalog.text);
    now pg_catalog.int8; base pg_catalog.int8; top pg_catalog.int8; tick pg_catalog.int8; word pg_catalog.int8;
BEGIN
    IF ceiling IS NULL THEN
        PERFORM mint_sql.refuse_lane(shard, name);
    ELSIF (f[6] OPERATOR(pg_catalog.>>) f[5]::pg_catalog.int4) OPERATOR(pg_catalog.>) 99 THEN
        RETURN mint_sql.take_turn(counter, floor, ceiling, f, shard, name);
    END IF;
    -- The id is of the time at which the call began, or of a later one.
    now := mint_sql.now_tick(f);
    LOOP
        base := pg_catalog.pg_sequence_last_value(floor);
        word := pg_catalog.pg_sequence_last_value(counter);
        -- In a layout of 63 bits, no word is after the last one.
        IF base OPERATOR(pg_catalog.>) 0 AND word OPERATOR(pg_catalog.>=) (9223372036854775807 OPERATOR(pg_catalog.-) base) THEN
            PERFORM mint_sql.refuse_end(name);
        END IF;
        word := word OPERATOR(pg_catalog.+) base;
        IF word IS NULL OR now OPERATOR(pg_catalog.<) 0 OR now OPERATOR(pg_catalog.>) f[12] OR word OPERATOR(pg_catalog.<) ((now OPERATOR(pg_catalog.<<) f[5]::pg_catalog.int4) OPERATOR(pg_catalog.-) 1) THEN
            -- The clock can have been set back meanwhile.
            tick := mint_sql.now_tick(f);
            now := LEAST(now, tick);
            IF tick OPERATOR(pg_catalog.<) 0 OR tick OPERATOR(pg_catalog.>) f[12] THEN
                PERFORM mint_sql.refuse_tick(tick, name);
            ELSIF word IS NULL THEN
                PERFORM mint_sql.refuse_declaring(floor);
            END IF;
            base := mint_sql.raise_floor(counter, floor, ceiling, f, mint_sql.first_word(tick, f) OPERATOR(pg_catalog.-) 1);
            -- After a crash, the ceiling can be far ahead of the clock.
            CONTINUE WHEN word IS NULL;
        ELSE
            IF ((word OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog.>>) f[5]::pg_catalog.int4) OPERATOR(pg_catalog.-) now OPERATOR(pg_catalog.>) (2000000 OPERATOR(pg_catalog./) f[6]) THEN
                -- Others have waited for the same tick.
                CONTINUE WHEN mint_sql.lane_wait(mint_sql.tick_start(LEAST((word OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog.>>) f[5]::pg_catalog.int4, f[12]), f), shard, name);
            END IF;
            IF word OPERATOR(pg_catalog.>=) top THEN
                IF top OPERATOR(pg_catalog.=) mint_sql.last_word(f) THEN
                    PERFORM mint_sql.refuse_end(name);
                END IF;
                base := mint_sql.raise_floor(counter, floor, ceiling, f, word);
            END IF;
        END IF;
        word := pg_catalog.nextval(counter);
        CONTINUE WHEN base OPERATOR(pg_catalog.>) 0 AND word OPERATOR(pg_catalog.>) (9223372036854775807 OPERATOR(pg_catalog.-) base);
        word := word OPERATOR(pg_catalog.+) base;
        top := pg_catalog.pg_sequence_last_value(ceiling);
        EXIT WHEN word OPERATOR(pg_catalog.<=) top AND (word OPERATOR(pg_catalog.>>) f[5]::pg_catalog.int4) OPERATOR(pg_catalog.>=) now
            AND base OPERATOR(pg_catalog.=) pg_catalog.pg_sequence_last_value(floor);
    END LOOP;
    RETURN mint_sql.id_of(word, shard, f);
END
$$;
COMMENT ON FUNCTION mint_sql.snowflake_next_id(integer, mint_sql.snowflake_layout) IS 'Generates an id for a shard';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_next_ids(shard integer, count bigint, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF shard IS NULL OR layout IS NULL THEN
        PERFORM mint_sql.refuse_lane(shard, layout::text);
    END IF;
    PERFORM mint_sql.check_shard(shard, layout::text);
    IF count IS NULL THEN
        PERFORM mint_sql.refuse('22004', 'count must not be null');
    ELSIF count < 0 THEN
        PERFORM mint_sql.refuse('22023', 'count must not be negative');
    END IF;
    FOR place IN 1..count LOOP
        RETURN NEXT mint_sql.snowflake_next_id(shard, layout);
    END LOOP;
END
$$;
COMMENT ON FUNCTION mint_sql.snowflake_next_ids(integer, bigint, mint_sql.snowflake_layout) IS 'Generates many ids for a shard, in ascending order';
-- The shard of this server, by a setting with the name that the extension has for it.
CREATE OR REPLACE FUNCTION mint_sql.own_shard(layout text) RETURNS integer LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f constant bigint[] := mint_sql.layout_fields(layout);
    last constant bigint := mint_sql.mask(f[3] + f[4]);
    node constant text := coalesce(current_setting('pg_mint.node', true), '');
BEGIN
    IF layout IS NULL THEN
        PERFORM mint_sql.refuse('22004', 'layout must not be null');
    ELSIF last = 0 THEN
        RETURN 0;
    ELSIF node IN ('', '-1') THEN
        PERFORM mint_sql.refuse('55000', 'parameter "pg_mint.node" is not set', 'Ids without a shard are generated as the node of the server.',
            'Set "pg_mint.node" to a number that no other server uses, or pass a shard.');
    ELSIF node !~ '^[0-9]{1,10}$' THEN
        PERFORM mint_sql.refuse('22023', format('invalid value for parameter "pg_mint.node": "%s"', mint_sql.excerpt(node)),
            'Without the extension, the node is a number.');
    ELSIF node::bigint > last THEN
        PERFORM mint_sql.refuse('22003', format('node %s is out of range for layout "%s"', node::bigint, mint_sql.layout_text(layout)),
            NULL, format('Set "pg_mint.node" to a number between 0 and %s.', last));
    END IF;
    RETURN node::integer;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.snowflake_next(layout mint_sql.snowflake_layout) RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN mint_sql.snowflake_next_id(mint_sql.own_shard(layout), layout);
COMMENT ON FUNCTION mint_sql.snowflake_next(mint_sql.snowflake_layout) IS 'Generates an id for the node of this server, pg_mint.node';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_next_id() RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE RETURN mint_sql.snowflake_next_id(mint_sql.own_shard('instagram'), 'instagram');
COMMENT ON FUNCTION mint_sql.snowflake_next_id() IS 'Generates an id of the layout instagram for pg_mint.node';
CREATE OR REPLACE FUNCTION mint_sql.snowflake_start_above(id bigint, layout mint_sql.snowflake_layout DEFAULT 'instagram') RETURNS timestamptz
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name constant text := layout;
    f constant bigint[] := mint_sql.layout_fields(name);
    shard constant integer := mint_sql.id_field(id, name, 10);
    ahead constant bigint := mint_sql.micros(mint_sql.snowflake_time(id, layout)) - mint_sql.now_micros();
    floor constant regclass := mint_sql.lane(name, f, shard, '_floor'::text);
BEGIN
    PERFORM mint_sql.refuse_public('mint_sql.snowflake_start_above(bigint, mint_sql.snowflake_layout)'::regprocedure);
    IF floor IS NULL THEN
        PERFORM mint_sql.refuse_lane(shard, name);
    ELSIF ahead > 3600000000 THEN
        PERFORM mint_sql.refuse('22023', format('id is %s ahead of the system clock', mint_sql.duration_text(ahead)),
            'A shard can start at most 1 h ahead of the clock.', 'Wait, or correct the system clock.');
    END IF;
    PERFORM mint_sql.refuse_declaring(floor);
    PERFORM mint_sql.raise_floor(mint_sql.lane(name, f, shard, ''::text), floor, mint_sql.lane(name, f, shard, '_ceiling'::text), f, mint_sql.word_of(id, f));
    RETURN mint_sql.snowflake_time(mint_sql.last_id(shard, name), layout);
END
$$;
COMMENT ON FUNCTION mint_sql.snowflake_start_above(bigint, mint_sql.snowflake_layout) IS 'Lets the shard of an id generate nothing at or below the id, and returns the time from which its ids continue';
CREATE OR REPLACE FUNCTION mint_sql.last_id(shard integer, layout text) RETURNS bigint LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f constant bigint[] := mint_sql.layout_fields(layout);
    -- A call at the end of a layout can have drawn a word after the last one, which bigint does not have.
    word constant numeric := coalesce(pg_sequence_last_value(mint_sql.lane(layout, f, shard, '_floor'))::numeric
        + pg_sequence_last_value(mint_sql.lane(layout, f, shard, '')), pg_sequence_last_value(mint_sql.lane(layout, f, shard, '_ceiling')));
BEGIN
    RETURN CASE WHEN word >= 0 THEN mint_sql.id_of(least(word, mint_sql.last_word(f))::bigint, shard, f) END;
END
$$;
CREATE OR REPLACE VIEW mint_sql.shards AS
SELECT shard, layout, mint_sql.last_id(shard, layout) AS last_id, name
FROM (
    -- A dump without comments has the names of layouts that are built in.
    SELECT substring(s.relname FROM '([0-9]+)_floor$')::integer AS shard, coalesce(obj_description(s.oid, 'pg_class'),
        (SELECT name FROM unnest(mint_sql.layout_names()) AS name WHERE s.relname ~ ('^' || name || '_[0-9]+_floor$'))) AS layout,
        s.relname AS name
    FROM pg_class AS s
    JOIN pg_sequence AS q ON q.seqrelid = s.oid AND NOT q.seqcycle
    WHERE s.relnamespace = 'mint_sql'::regnamespace AND s.relname ~ '_[0-9]+_floor$'
) AS s;
COMMENT ON VIEW mint_sql.shards IS 'Shows the shards that are declared, and the last id of each';

-- UUIDs of version 7
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7_of(micros bigint) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE RETURN encode(int8send(((micros / 1000) << 16) | 28672 | (((micros % 1000) << 12) / 1000))
    || substring(uuid_send(gen_random_uuid()) FROM 9), 'hex')::uuid;
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7() RETURNS uuid LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- Decided at each call, so that a dump can be restored on any version.
    IF current_setting('server_version_num')::integer >= 180000 THEN
        RETURN uuidv7();
    END IF;
    RETURN mint_sql.uuid_v7_of(mint_sql.now_micros());
END
$$;
COMMENT ON FUNCTION mint_sql.uuid_v7() IS 'Generates a UUID of version 7, which sorts by time';
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7(at timestamptz) RETURNS uuid LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF mint_sql.micros(at) NOT BETWEEN 0 AND 281474976710655999 THEN
        PERFORM mint_sql.refuse('22008', 'timestamp out of range for UUID version 7', 'Timestamps must be between 1970-01-01T00:00:00Z and 10889-08-02T05:31:50.655999Z.');
    END IF;
    RETURN mint_sql.uuid_v7_of(mint_sql.micros(at));
END
$$;
COMMENT ON FUNCTION mint_sql.uuid_v7(timestamptz) IS 'Generates a UUID of version 7 for a given timestamp';
CREATE OR REPLACE FUNCTION mint_sql.milli(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('x' || encode(substring(uuid_send(id) FROM 1 FOR 6), 'hex'))::bit(48)::bigint;
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN id::text ~ '^.{14}7.{4}[89ab]' THEN mint_sql.at(mint_sql.milli(id) * 1000) END;
COMMENT ON FUNCTION mint_sql.uuid_v7_time(uuid) IS 'Returns when a UUID of version 7 was generated; NULL for other versions';
-- The first 48 bits of a bound: the first millisecond at or after a timestamp, or the last one at or before it; NULL if there is none.
CREATE OR REPLACE FUNCTION mint_sql.first_milli(micros bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN micros <= 281474976710655000 THEN lpad(to_hex((greatest(micros, 0) + 999) / 1000), 12, '0') END;
CREATE OR REPLACE FUNCTION mint_sql.last_milli(micros bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN micros >= 0 THEN lpad(to_hex(least(micros / 1000, 281474976710655)), 12, '0') END;
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7_min(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN (mint_sql.first_milli(mint_sql.micros(at)) || '70008000000000000000')::uuid;
COMMENT ON FUNCTION mint_sql.uuid_v7_min(timestamptz) IS 'Returns the smallest UUID of version 7 at or after a timestamp';
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7_max(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN (mint_sql.last_milli(mint_sql.micros(at)) || '7fffbfffffffffffffff')::uuid;
COMMENT ON FUNCTION mint_sql.uuid_v7_max(timestamptz) IS 'Returns the largest UUID of version 7 at or before a timestamp';
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7_min_after(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (mint_sql.first_milli(least(mint_sql.micros(at), 9223372036854775806) + 1) || '70008000000000000000')::uuid;
COMMENT ON FUNCTION mint_sql.uuid_v7_min_after(timestamptz) IS 'Returns the smallest UUID of version 7 after a timestamp';
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7_max_before(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (mint_sql.last_milli(mint_sql.micros(at) - 1) || '7fffbfffffffffffffff')::uuid;
COMMENT ON FUNCTION mint_sql.uuid_v7_max_before(timestamptz) IS 'Returns the largest UUID of version 7 before a timestamp';
-- Not STRICT, so that the planner inlines it and sees a range of the key.
CREATE OR REPLACE FUNCTION mint_sql.uuid_v7_between(id uuid, since timestamptz, until timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
RETURN id >= mint_sql.uuid_v7_min(since) AND id <= mint_sql.uuid_v7_max_before(until);
COMMENT ON FUNCTION mint_sql.uuid_v7_between(uuid, timestamptz, timestamptz) IS 'Returns whether a UUID of version 7 has a time in a range whose end is excluded';

-- ULIDs
CREATE OR REPLACE FUNCTION mint_sql.ulid_min(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN (mint_sql.first_milli(mint_sql.micros(at)) || '00000000000000000000')::uuid;
COMMENT ON FUNCTION mint_sql.ulid_min(timestamptz) IS 'Returns the smallest ULID at or after a timestamp, as a UUID';
CREATE OR REPLACE FUNCTION mint_sql.ulid_max(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN (mint_sql.last_milli(mint_sql.micros(at)) || 'ffffffffffffffffffff')::uuid;
COMMENT ON FUNCTION mint_sql.ulid_max(timestamptz) IS 'Returns the largest ULID at or before a timestamp, as a UUID';
CREATE OR REPLACE FUNCTION mint_sql.ulid_min_after(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (mint_sql.first_milli(least(mint_sql.micros(at), 9223372036854775806) + 1) || '00000000000000000000')::uuid;
COMMENT ON FUNCTION mint_sql.ulid_min_after(timestamptz) IS 'Returns the smallest ULID after a timestamp, as a UUID';
CREATE OR REPLACE FUNCTION mint_sql.ulid_max_before(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (mint_sql.last_milli(mint_sql.micros(at) - 1) || 'ffffffffffffffffffff')::uuid;
COMMENT ON FUNCTION mint_sql.ulid_max_before(timestamptz) IS 'Returns the largest ULID before a timestamp, as a UUID';
-- Not STRICT, so that the planner inlines it and sees a range of the key.
CREATE OR REPLACE FUNCTION mint_sql.ulid_between(id uuid, since timestamptz, until timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 1
RETURN id >= mint_sql.ulid_min(since) AND id <= mint_sql.ulid_max_before(until);
COMMENT ON FUNCTION mint_sql.ulid_between(uuid, timestamptz, timestamptz) IS 'Returns whether a ULID that is stored as a UUID has a time in a range whose end is excluded';
-- A text in base 32 with 26 digits: ULIDs in either case of the letters, TypeIDs in lower case.
CREATE OR REPLACE FUNCTION mint_sql.ascii_upper(whole text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN translate(whole, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
CREATE OR REPLACE FUNCTION mint_sql.ascii_lower(whole text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN translate(whole, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
-- What is wrong with a character that is not one of some: detail and hint.
CREATE OR REPLACE FUNCTION mint_sql.digit_problem(digit text, digits text, name text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN CASE
    WHEN digit <> mint_sql.ascii_lower(digit) AND strpos(digits, mint_sql.ascii_lower(digit)) > 0
        THEN ARRAY[format('"%s" is not a %s digit, but "%s" is', digit, name, mint_sql.ascii_lower(digit)),
            'Keep the case of each digit as it was written.']
    WHEN digit <> mint_sql.ascii_upper(digit) AND strpos(digits, mint_sql.ascii_upper(digit)) > 0
        THEN ARRAY[format('"%s" is not a %s digit, but "%s" is', digit, name, mint_sql.ascii_upper(digit)),
            'Keep the case of each digit as it was written.']
    ELSE ARRAY[format('"%s" is not a %s digit', digit, name), NULL] END;
CREATE OR REPLACE FUNCTION mint_sql.length_problem(whole text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN octet_length(whole) > 1048576 THEN format('the text has %s bytes, and at most 1048576 are allowed', octet_length(whole)) END;
-- What is wrong with such a text: detail, hint and SQLSTATE; NULL if nothing is.
CREATE OR REPLACE FUNCTION mint_sql.base32_problem(whole text, digits text, name text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN CASE
    WHEN mint_sql.length_problem(whole) IS NOT NULL THEN ARRAY[mint_sql.length_problem(whole), NULL, '22P02']
    WHEN whole ~ ('[^' || digits || ']')
        THEN mint_sql.digit_problem(substring(whole FROM '[^' || digits || ']'), digits, name) || ARRAY['22P02']
    WHEN length(whole) <> 26 THEN ARRAY[format('the text has %s digits, and 26 were expected', length(whole)), NULL, '22P02']
    WHEN whole ~ '^[^0-7]' THEN ARRAY['the value is out of range for type uuid', NULL, '22003'] END;
CREATE OR REPLACE FUNCTION mint_sql.base32_uuid(whole text, digits text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT (lpad(to_hex(substr(bits, 3, 64)::bit(64)::bigint), 16, '0') || lpad(to_hex(substr(bits, 67, 64)::bit(64)::bigint), 16, '0'))::uuid
    FROM (
        SELECT string_agg((strpos(digits, substr(whole, place, 1)) - 1)::bit(5)::text, '' ORDER BY place) AS bits
        FROM generate_series(1, 26) AS place
    ) AS b;
END;
CREATE OR REPLACE FUNCTION mint_sql.base32_text(id uuid, digits text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT string_agg(substr(digits, substr(bits, place, 5)::bit(5)::integer + 1, 1), '' ORDER BY place)
    FROM (SELECT '00' || ('x' || encode(uuid_send(id), 'hex'))::bit(128)::text AS bits) AS b, generate_series(1, 126, 5) AS place;
END;
CREATE OR REPLACE FUNCTION mint_sql.ulid_to_uuid(id text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole constant text COLLATE "C" := id;
    digits constant text COLLATE "C" := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
BEGIN
    PERFORM mint_sql.refuse_problem('ULID', whole, mint_sql.base32_problem(whole, digits || 'abcdefghjkmnpqrstvwxyz', 'ULID'));
    RETURN mint_sql.base32_uuid(mint_sql.ascii_upper(whole), digits);
END
$$;
COMMENT ON FUNCTION mint_sql.ulid_to_uuid(text) IS 'Returns the UUID with the same bits as a ULID';
CREATE OR REPLACE FUNCTION mint_sql.uuid_to_ulid(id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mint_sql.base32_text(id, '0123456789ABCDEFGHJKMNPQRSTVWXYZ');
COMMENT ON FUNCTION mint_sql.uuid_to_ulid(uuid) IS 'Returns the ULID with the same bits as a UUID';
CREATE OR REPLACE FUNCTION mint_sql.ulid() RETURNS text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE RETURN mint_sql.uuid_to_ulid(mint_sql.uuid_v7());
COMMENT ON FUNCTION mint_sql.ulid() IS 'Generates a ULID, a UUID of version 7 as 26 characters';
CREATE OR REPLACE FUNCTION mint_sql.ulid_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mint_sql.at(mint_sql.milli(id) * 1000);
COMMENT ON FUNCTION mint_sql.ulid_time(uuid) IS 'Returns when a ULID that is stored as a UUID was generated';
CREATE OR REPLACE FUNCTION mint_sql.ulid_time(id text) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN mint_sql.ulid_time(mint_sql.ulid_to_uuid(id));
COMMENT ON FUNCTION mint_sql.ulid_time(text) IS 'Returns when a ULID was generated';

-- TypeIDs
CREATE OR REPLACE FUNCTION mint_sql.prefix_problem(prefix text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN CASE
    WHEN mint_sql.length_problem(prefix) IS NOT NULL THEN mint_sql.length_problem(prefix)
    WHEN prefix ~ '[^abcdefghijklmnopqrstuvwxyz_]' THEN 'the prefix has characters other than a to z and the underscore'
    WHEN prefix ~ '^_|_$' THEN 'the prefix begins or ends with an underscore'
    WHEN length(prefix) > 63 THEN format('the prefix has %s characters, and at most 63 are allowed', length(prefix)) END;
CREATE OR REPLACE FUNCTION mint_sql.check_prefix(prefix text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN mint_sql.prefix_problem(prefix) IS NOT NULL THEN mint_sql.refuse_text('TypeID prefix', prefix, mint_sql.prefix_problem(prefix), '22023',
    'Use up to 63 lower case letters and underscores, with a letter at both ends, or an empty prefix.') END;

-- What is wrong with a TypeID: detail, hint and SQLSTATE; NULL if nothing is.
CREATE OR REPLACE FUNCTION mint_sql.typeid_problem(id text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole constant text COLLATE "C" := id;
    problem text := mint_sql.length_problem(id);
    prefix text COLLATE "C";
BEGIN
    prefix := CASE WHEN problem IS NULL THEN substring(whole FROM '^(.*)_') END;
    IF problem IS NULL AND prefix = '' THEN
        problem := 'the separator has no prefix before it';
    ELSIF problem IS NULL THEN
        problem := mint_sql.prefix_problem(prefix);
    END IF;
    RETURN CASE WHEN problem IS NOT NULL THEN ARRAY[problem, NULL, '22P02']
        ELSE mint_sql.base32_problem(substring(whole FROM '[^_]*$'), '0123456789abcdefghjkmnpqrstvwxyz', 'TypeID') END;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.typeid(prefix text, id uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name constant text COLLATE "C" := prefix;
BEGIN
    PERFORM mint_sql.check_prefix(name);
    RETURN name || CASE name WHEN '' THEN '' ELSE '_' END || mint_sql.base32_text(id, '0123456789abcdefghjkmnpqrstvwxyz');
END
$$;
COMMENT ON FUNCTION mint_sql.typeid(text, uuid) IS 'Returns the TypeID of a prefix and a UUID';
CREATE OR REPLACE FUNCTION mint_sql.typeid_uuid(id text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole constant text COLLATE "C" := id;
BEGIN
    PERFORM mint_sql.refuse_problem('TypeID', whole, mint_sql.typeid_problem(whole));
    RETURN mint_sql.base32_uuid(right(whole, 26), '0123456789abcdefghjkmnpqrstvwxyz');
END
$$;
COMMENT ON FUNCTION mint_sql.typeid_uuid(text) IS 'Returns the UUID of a TypeID';
CREATE OR REPLACE FUNCTION mint_sql.typeid_prefix(id text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN mint_sql.typeid_uuid(id) IS NOT NULL THEN coalesce(substring(id COLLATE "C" FROM '^(.*)_'), '') END;
COMMENT ON FUNCTION mint_sql.typeid_prefix(text) IS 'Returns the prefix of a TypeID';
CREATE OR REPLACE FUNCTION mint_sql.typeid_check(id text, prefix text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM mint_sql.check_prefix(prefix COLLATE "C");
    RETURN mint_sql.typeid_problem(id) IS NULL AND coalesce(substring(id COLLATE "C" FROM '^(.*)_'), '') = prefix COLLATE "C";
END
$$;
COMMENT ON FUNCTION mint_sql.typeid_check(text, text) IS 'Returns whether a text is a TypeID with a prefix';

-- 64-bit ids as short text
CREATE OR REPLACE FUNCTION mint_sql.encoding_digits(encoding text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    CASE encoding COLLATE "C"
        WHEN 'base58' THEN RETURN '123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';
        WHEN 'base58btc' THEN RETURN '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
        WHEN 'base62' THEN RETURN '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
        WHEN 'base64url' THEN RETURN 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        WHEN 'crockford', 'crockford-check', 'tsid' THEN RETURN '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
        WHEN 'zbase32' THEN RETURN 'ybndrfg8ejkmcpqxot1uwisza345h769';
        WHEN 'hex' THEN RETURN '0123456789abcdef';
        ELSE PERFORM mint_sql.refuse('22023', format('unrecognized encoding: "%s"', mint_sql.excerpt(encoding)), NULL,
            'Use one of the encodings base58, base58btc, base62, base64url, crockford, crockford-check, zbase32, hex, tsid.');
    END CASE;
    RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION mint_sql.id_to_text(id bigint, encoding text DEFAULT 'base58') RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name constant text COLLATE "C" := encoding;
    digits constant text := mint_sql.encoding_digits(name);
    radix constant integer := length(digits);
    rest bigint := id;
    result text := CASE name WHEN 'crockford-check' THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U', (id % 37)::integer + 1, 1) ELSE '' END;
BEGIN
    IF id < 0 THEN
        PERFORM mint_sql.refuse('22003', format('cannot encode negative id %s', id), NULL, 'Exclude negative ids by WHERE id >= 0.');
    END IF;
    LOOP
        result := substr(digits, (rest % radix)::integer + 1, 1) || result;
        rest := rest / radix;
        EXIT WHEN rest = 0;
    END LOOP;
    RETURN CASE name WHEN 'tsid' THEN lpad(result, 13, '0') ELSE result END;
END
$$;
COMMENT ON FUNCTION mint_sql.id_to_text(bigint, text) IS 'Returns an id as short text';
CREATE OR REPLACE FUNCTION mint_sql.id_from_text(id text, encoding text DEFAULT 'base58') RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    whole constant text COLLATE "C" := id;
    code constant text COLLATE "C" := encoding;
    symbols constant text COLLATE "C" := '0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U';
    digits constant text COLLATE "C" := mint_sql.encoding_digits(code);
    is_lenient constant boolean := code IN ('crockford', 'crockford-check', 'hex', 'tsid');
    -- Every character that is read, in the case of the digits; one that stands for a digit is that digit.
    read text COLLATE "C"; symbol text COLLATE "C"; digit text COLLATE "C";
    place integer := 0; value numeric := 0; count integer := 0;
    name constant text := code || ' id';
BEGIN
    IF mint_sql.length_problem(whole) IS NOT NULL THEN
        PERFORM mint_sql.refuse_text(name, whole, mint_sql.length_problem(whole));
    END IF;
    read := CASE WHEN code = 'hex' THEN mint_sql.ascii_lower(whole)
        WHEN is_lenient THEN translate(mint_sql.ascii_upper(whole), 'OIL', '011') ELSE whole END;
    IF code = 'crockford-check' THEN
        symbol := substring(read FROM '([^-])-*$');
        IF symbol IS NULL THEN
            PERFORM mint_sql.refuse_text(name, whole, 'the text has no digits');
        ELSIF strpos(symbols, symbol) = 0 THEN
            place := length(substring(read FROM '^[0-9A-HJKMNP-TV-Z*~$=U-]*'));
            digit := substr(whole, place + 1, 1);
            IF digit = '' THEN
                digit := substring(whole FROM '([^-])-*$');
            END IF;
            PERFORM mint_sql.refuse_problem(name, whole, mint_sql.digit_problem(digit, digits, code));
        END IF;
        read := substring(read FROM '^(.*)[^-]-*$');
    END IF;
    place := 0;
    FOREACH digit IN ARRAY string_to_array(read, NULL) LOOP
        place := place + 1;
        CONTINUE WHEN digit = '-' AND code <> 'base64url' AND code LIKE 'crockford%';
        IF strpos(digits, digit) = 0 THEN
            PERFORM mint_sql.refuse_problem(name, whole, mint_sql.digit_problem(substr(whole, place, 1), digits, code));
        ELSIF value = 0 AND count > 0 AND NOT is_lenient THEN
            PERFORM mint_sql.refuse_text(name, whole, format('the leading digit "%s" has the value zero', left(digits, 1)), '22P02',
                'Remove the leading digits whose value is zero.');
        END IF;
        value := value * length(digits) + strpos(digits, digit) - 1;
        count := count + 1;
        IF value > 9223372036854775807 THEN
            -- A character that is not a digit says more than the range.
            read := CASE WHEN code LIKE 'crockford%' THEN replace(read, '-', '0') ELSE read END;
            place := length(read) - length(ltrim(read, digits));
            EXIT WHEN place = length(read);
            PERFORM mint_sql.refuse_problem(name, whole, mint_sql.digit_problem(substr(whole, place + 1, 1), digits, code));
        END IF;
    END LOOP;
    IF value > 9223372036854775807 THEN
        PERFORM mint_sql.refuse_text(name, whole, 'the value is out of range for type bigint', '22003');
    ELSIF count = 0 THEN
        PERFORM mint_sql.refuse_text(name, whole, 'the text has no digits');
    ELSIF code = 'tsid' AND count <> 13 THEN
        PERFORM mint_sql.refuse_text(name, whole, format('the text has %s digits, and 13 were expected', count));
    ELSIF symbol IS NOT NULL AND strpos(symbols, symbol) - 1 <> value % 37 THEN
        PERFORM mint_sql.refuse_text(name, whole, format('the check character "%s" does not belong to the digits',
            substring(whole FROM '([^-])-*$')), '22P02', 'A character is wrong or missing, or two have changed places.');
    END IF;
    RETURN value;
END
$$;
COMMENT ON FUNCTION mint_sql.id_from_text(text, text) IS 'Returns the id of a text that id_to_text returned';
-- What a run of the file over another has replaced, and comments. The search path is the caller's again.
DO $$ DECLARE
    f regprocedure;
BEGIN
    -- Again, as a transaction that was open before can have made some.
    PERFORM mint_sql.refuse_others();
    PERFORM mint_sql.layout_declare();
    PERFORM mint_sql.revoke(CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || oid::regclass, relacl) FROM pg_class
    WHERE relnamespace = 'mint_sql'::regnamespace AND relkind IN ('S', 'v');
    PERFORM mint_sql.revoke('FUNCTION ' || oid::regprocedure, coalesce(proacl, acldefault('f', proowner))) FROM pg_proc
    WHERE pronamespace = 'mint_sql'::regnamespace AND proname IN ('layout_declare', 'revoke', 'shard_create', 'raise_floor', 'take_turn', 'snowflake_start_above');
    FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'mint_sql'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL LOOP
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', f, 'Internal: part of other functions of the schema');
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', pg_catalog.current_setting('mint_sql.search_path'), false);
END $$;
