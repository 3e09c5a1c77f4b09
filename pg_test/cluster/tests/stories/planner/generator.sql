-- Random tables, ids, conditions and queries. Every choice is by random(), so that a seed repeats a run.
CREATE SCHEMA differ;
DO $$ BEGIN CREATE ROLE differ_reader; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
GRANT USAGE ON SCHEMA differ TO differ_reader;

CREATE FUNCTION differ.pick(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE
    RETURN choices[1 + floor(random() * array_length(choices, 1))::int];
CREATE FUNCTION differ.below(n int) RETURNS int LANGUAGE sql VOLATILE RETURN floor(random() * n)::int;

-- A built-in layout or one of random fields, with the time mostly on top.
CREATE FUNCTION differ.layout() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    made text;
    fields text[];
    shard int; seq int;
BEGIN
    LOOP
        IF random() < 0.4 THEN
            RETURN differ.pick('instagram', 'twitter', 'discord', 'mastodon', 'sonyflake', 'baidu', 'leaf', 'tso', 'yitter', 'pgedge', 'javascript');
        END IF;
        shard := differ.below(20);
        seq := 1 + differ.below(20);
        fields := ARRAY['time:' || (63 - shard - seq - (differ.below(3) * differ.below(15))),
            CASE WHEN shard > 0 THEN 'shard:' || shard END, 'seq:' || seq];
        IF random() < 0.3 THEN fields := ARRAY[fields[1], fields[3], fields[2]]; END IF;
        IF random() < 0.1 THEN fields := ARRAY[fields[3], fields[1], fields[2]]; END IF;
        made := array_to_string(fields, ' ') || ' unit:' || differ.pick('1us', '7us', '1ms', '1ms', '3ms', '10ms', '1s', '1h')
            || ' epoch:' || differ.pick('1970-01-01T00:00:00Z', '2020-01-01T00:00:00Z', '2015-01-01T00:00:00.000001Z',
                '2026-01-01T00:00:00.5Z', '1601-01-01T00:00:00Z', '1582-10-15T00:00:00Z', '9999-12-31T23:59:59Z');
        BEGIN
            RETURN made::snowflake_layout::text;
        EXCEPTION WHEN OTHERS THEN NULL;    -- Of no valid layout: another one.
        END;
    END LOOP;
END $$;

-- Timestamps where rounding, ends and infinities matter. `known` are times of ids.
CREATE FUNCTION differ.instant(known timestamptz[]) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE at timestamptz := known[1 + differ.below(coalesce(array_length(known, 1), 0))];
BEGIN
    IF at IS NULL OR random() < 0.1 THEN
        RETURN differ.pick('-infinity', 'infinity', '1970-01-01 00:00Z', '1969-12-31 23:59:59.999999Z', '2106-02-07 06:28:15Z',
            '2106-02-07 06:28:16Z', '2026-01-01 00:00Z', '2300-01-01 00:00Z', '4713-01-01 00:00Z BC', '294276-12-31 23:59:59Z',
            '10889-08-02 05:31:50.655Z', '0001-01-01 00:00Z',
            -- Clocks change at these times.
            '2026-03-29 01:00Z', '2026-10-25 00:30Z', '2026-03-08 10:00Z', '2026-11-01 08:30Z')::timestamptz;
    END IF;
    IF NOT isfinite(at) OR extract(year FROM at) > 290000 THEN RETURN at; END IF;
    RETURN at + (differ.pick('0', '0', '1', '-1', '499', '500', '1000', '-1000', '10000', '-3600000000', '1000000',
        (differ.below(2000000) - 1000000)::text) || ' us')::interval;
END $$;

-- A condition on the id itself, or on rows that begin with it or its time: of a value, and of the id of a value. %1$s is the
-- name of the table.
CREATE FUNCTION differ.beside(time_of text, value text, of_id text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id text := CASE WHEN time_of ~ $q$'(seq|shard)$q$ THEN (random() * 9e18)::bigint::text
        ELSE regexp_replace(replace(time_of, '%1$s.id', of_id), '^(snowflake|objectid|uuid_v7|uuid)_time',
            CASE WHEN time_of LIKE 'uuid%' THEN 'uuid_v7_min' ELSE '\1_min' END) END;
    op text := differ.pick('<', '<=', '>=', '>');
BEGIN
    RETURN format(differ.pick('%%1$s.id %s %s', '%%1$s.id %s %s', '%2$s %1$s %%1$s.id', '%%1$s.id BETWEEN %2$s AND %2$s', 'NOT %%1$s.id %s %s',
        '%%1$s.id <> %2$s', '(%%1$s.id, %%1$s.n) %s (%s, 7)', '(%3$s, %%1$s.n) %1$s (%4$s, 7)', '%4$s %1$s %3$s'), op, id, time_of, value);
END $$;

-- A condition on the time of differ.alpha, all of whose values are not known when the query is planned. The planner has no
-- statistics of the time, and none of its values, so that it has the same estimate with bounds and without.
CREATE FUNCTION differ.unknown(time_of text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    value text := differ.pick('$1', '(SELECT now())', 'probe.at', '$1::date', '(SELECT now())::timestamp');
    op text := differ.pick('<', '<=', '>=', '>');
    made text;
BEGIN
    made := format(differ.pick('%1$s %2$s %3$s', '%1$s %2$s %3$s', '%3$s %2$s %1$s', 'NOT %1$s %2$s %3$s', '(%1$s, a.n) %2$s (%3$s, 7)',
        '%1$s BETWEEN %3$s AND %3$s + interval ''1 day''', '%1$s <@ tstzrange(%3$s::timestamptz, NULL)', '%1$s > %3$s AND %1$s < %3$s + interval ''1 day'''),
        format(time_of, 'a'), op, value);
    IF random() < 0.3 THEN made := made || format(' AND a.n %s %s', op, differ.below(30)); END IF;
    WHILE random() < 0.4 LOOP
        -- The value is another one: the planner notices that there is nothing before a time and after it.
        value := format('(%s + interval ''%s ms'')', value, 1 + differ.below(1000000));
        made := made || ' AND ' || format(differ.beside(time_of, value, differ.pick(value, '''2026-01-01 00:30Z''::timestamptz')), 'a');
    END LOOP;
    RETURN made;
END $$;

-- A time is compared with each kind of expression of the same value.
CREATE FUNCTION differ.expression(at timestamptz) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF at IS NULL OR random() < 0.01 THEN RETURN 'NULL::timestamptz'; END IF;
    CASE differ.below(CASE WHEN isfinite(at) AND at BETWEEN '2000-01-01 BC' AND '200000-01-01' THEN 9 ELSE 5 END)
        WHEN 0, 1 THEN RETURN format('%L::timestamptz', at);
        WHEN 2 THEN RETURN format('(SELECT %L::timestamptz)', at);
        WHEN 3 THEN RETURN format('(SELECT max(v) FROM (VALUES (%L::timestamptz), (NULL)) v(v))', at);
        WHEN 4 THEN RETURN format('differ.same(%L::timestamptz)', at);
        WHEN 5 THEN RETURN format('(now() - (now() - %L::timestamptz))', at);
        WHEN 6 THEN RETURN format('%L::date', (at AT TIME ZONE current_setting('timezone'))::date);
        WHEN 7 THEN RETURN format('%L::timestamp', at AT TIME ZONE current_setting('timezone'));
        ELSE RETURN format('(%L::timestamptz + age(now(), now()))', at);
    END CASE;
END $$;
CREATE FUNCTION differ.same(at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN at; END $$;

-- A list of values, as a list, an expression or an array; a range of times, as an expression or a constant.
CREATE FUNCTION differ.list(known timestamptz[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE at timestamptz[];
BEGIN
    FOR i IN 0..differ.below(4) LOOP at[i + 1] := CASE WHEN random() < 0.9 THEN differ.instant(known) END; END LOOP;
    CASE differ.below(3)
        WHEN 0 THEN RETURN format('IN (%s)', (SELECT string_agg(differ.expression(a), ', ') FROM unnest(at) a));
        WHEN 1 THEN RETURN format('= ANY(%L::timestamptz[])', at);
        ELSE RETURN format('= ANY(ARRAY[%s]::timestamptz[])', (SELECT string_agg(differ.expression(a), ', ') FROM unnest(at) a));
    END CASE;
END $$;
CREATE FUNCTION differ.range(known timestamptz[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    a timestamptz := CASE WHEN random() < 0.9 THEN differ.instant(known) END;
    b timestamptz := CASE WHEN random() < 0.9 THEN differ.instant(known) END;
    ends text := differ.pick('[)', '[)', '[]', '(]', '()');
BEGIN
    IF a > b THEN SELECT a, b INTO b, a; END IF;
    CASE differ.below(10)
        WHEN 0, 1, 2 THEN RETURN format('%L::tstzrange', tstzrange(a, b, ends));
        WHEN 3 THEN RETURN differ.pick($q$'empty'::tstzrange$q$, 'NULL::tstzrange', $q$'(,)'::tstzrange$q$);
        ELSE RETURN format('tstzrange(%s, %s, %L)', CASE WHEN a IS NULL THEN 'NULL' ELSE format('%L::timestamptz', a) END,
            CASE WHEN b IS NULL THEN 'NULL' ELSE format('differ.same(%L::timestamptz)', b) END, ends);
    END CASE;
END $$;

-- The time of an id where it has one. It has no bounds, and is what a query with bounds says of an id without one.
CREATE FUNCTION differ.time_if_any(id bigint, layout snowflake_layout DEFAULT 'instagram') RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN snowflake_time(id, layout);
EXCEPTION WHEN OTHERS THEN RETURN NULL;
END $$;

-- Conditions on the time of one table's id. %s is the name of the table.
CREATE FUNCTION differ.condition(time_of text, known timestamptz[], foreign_ids boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    a text := differ.expression(differ.instant(known));
    b text := differ.expression(differ.instant(known));
    op text := differ.pick('<', '<=', CASE WHEN foreign_ids THEN '<' ELSE '=' END, '>=', '>');
    made text;
BEGIN
    -- Only of comparisons in an AND bounds are derived; others can meet foreign ids in one plan and not in another.
    CASE differ.below(CASE WHEN foreign_ids THEN 9 WHEN random() < 0.7 THEN 12 ELSE 23 END)
        WHEN 0, 1, 2, 3 THEN made := format('%s %s %s', time_of, op, a);
        WHEN 4, 5 THEN made := format('%s %s %s', a, op, time_of);
        WHEN 6 THEN made := format('%s BETWEEN %s AND %s', time_of, a, b);
        WHEN 7 THEN made := format('%s >= %s AND %s < %s', time_of, a, time_of, b);
        WHEN 8 THEN made := format('NOT %s %s %s', time_of, op, a);
        WHEN 12 THEN made := format('%s BETWEEN SYMMETRIC %s AND %s', time_of, a, b);
        WHEN 13 THEN made := format('(%s %s %s OR %s %s %s)', time_of, op, a, b, differ.pick('<', '<=', '=', '>=', '>'), time_of);
        WHEN 14 THEN made := format('(%s %s %s AND %s > %s OR %s %s)', time_of, op, a, time_of, b, time_of, differ.list(known));
        WHEN 15 THEN made := format('%s %s', time_of, differ.list(known));
        WHEN 9 THEN made := format('%s <@ %s', time_of, differ.range(known));
        WHEN 10 THEN made := format('%s @> %s', differ.range(known), time_of);
        WHEN 11 THEN
            op := differ.pick('<', '<=', '>', '>=');
            made := CASE WHEN random() < 0.5 THEN format('(%s, %%1$s.n) %s (%s, %s)', time_of, op, a, differ.below(30))
                ELSE format('(%s, %s) %s (%s, %%1$s.n)', a, differ.below(30), op, time_of) END;
        WHEN 16 THEN made := format('(%s %s %s AND %%1$s.n > 3 OR %%1$s.n = %s AND NOT %s %s)', time_of, op, a, differ.below(30),
            time_of, differ.list(known));
        -- The other part can be true of an id that is null, as of a row that an outer join has not found.
        WHEN 17 THEN made := format('(%s %s %s OR %%1$s.id IS NULL)', time_of, op, a);
        WHEN 18 THEN made := format('(%s %s %s OR coalesce(%%1$s.n, 7) %s %s)', time_of, op, a, differ.pick('<', '>', '='), differ.below(30));
        WHEN 20 THEN made := format('(%s %s %s OR %%1$s.id IS NOT NULL)', time_of, op, a);
        WHEN 21 THEN made := format('(%s BETWEEN %s AND %s OR %%1$s.n < %s AND %%1$s.id IS NOT NULL)', time_of, a, b, differ.below(30));
        WHEN 19 THEN made := format('(%s %s OR %s IS NULL)', time_of, differ.list(known), time_of);
        ELSE made := format('(%s %s %s OR %s IS NULL)', time_of, op, a, b);
    END CASE;
    IF random() < 0.1 THEN made := made || ' AND %1$s.id IS NOT NULL'; END IF;
    IF random() < 0.2 AND NOT foreign_ids THEN made := made || ' AND ' || differ.beside(time_of, a, b); END IF;
    RETURN CASE WHEN random() < 0.15 THEN made || format(' AND %%1$s.n %s %s', differ.pick('<', '>', '='), differ.below(30)) ELSE made END;
END $$;

-- Returns whether the time of an id can be told.
CREATE FUNCTION differ.has_time(time_of text, id text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT ' || format(time_of, id);
    RETURN true;
EXCEPTION WHEN OTHERS THEN RETURN false;
END $$;

-- Makes the table differ.NAME of random ids, and returns how the time of its id is written, and times of its
-- ids.
CREATE FUNCTION differ.make_table(name text, OUT time_of text, OUT known timestamptz[], OUT foreign_ids boolean) LANGUAGE plpgsql AS $$
DECLARE
    family text := differ.pick('snowflake', 'snowflake', 'snowflake', 'snowflake', 'uuid_v7', 'uuid', 'objectid');
    layout text := differ.layout();
    typ text; own text; minimum text; maximum text;
    rows int := 20 + differ.below(150);
    kind text := differ.pick('key', 'key', 'unique', 'brin', 'two', 'partial', 'range', 'range', 'times', 'hash', 'children', 'none');
    at timestamptz; cut text[]; one text;
BEGIN
    -- A table that nothing is derived for can be read where it was not before, as another one is read in another order.
    -- A foreign id in it is an error then.
    foreign_ids := kind <> 'times' AND layout !~ '^(seq|shard)' AND random() < 0.15;
    EXECUTE format('DROP TABLE IF EXISTS differ.%I CASCADE', name);
    IF family = 'snowflake' THEN
        typ := differ.pick('bigint', 'bigint', 'bigint', 'differ.id');
        time_of := CASE WHEN layout = 'instagram' THEN 'snowflake_time(%1$s.id)' ELSE format('snowflake_time(%%1$s.id, %L)', layout) END;
        minimum := format('snowflake_min(%%L, %L)', layout);
        maximum := format('snowflake_max(%%L, %L)', layout);
        own := format('(SELECT CASE WHEN snowflake_is_valid(i, %L) THEN i END FROM (SELECT (random() * 9e18)::bigint >> differ.below(10)) v(i))', layout);
    ELSIF family LIKE 'uuid%' THEN
        typ := 'uuid';
        time_of := format('%s_time(%%1$s.id)', family);
        minimum := 'uuid_v7_min(%L)';
        maximum := 'uuid_v7_max(%L)';
        own := $q$uuid_v7(timestamptz '2026-01-01' + random() * interval '1 hour')$q$;
    ELSE
        typ := 'objectid';
        time_of := 'objectid_time(%1$s.id)';
        minimum := 'objectid_min(%L)';
        maximum := 'objectid_max(%L)';
        own := $q$(SELECT string_agg(substr('0123456789abcdef', 1 + differ.below(16), 1), '') FROM generate_series(1, 24))::objectid$q$;
    END IF;
    EXECUTE format('CREATE TEMP TABLE made (id %s, n int)', typ);
    FOR i IN 1..rows LOOP
        at := CASE WHEN random() < 0.05 THEN differ.instant(NULL)
            ELSE timestamptz '2026-01-01' + differ.below(7200000) * interval '1 us' * differ.pick('1', '1000', '1000000')::int END;
        BEGIN
            EXECUTE format('INSERT INTO made VALUES (' ||
                differ.pick(own, 'NULL', format(maximum, at), format(maximum, at), format(maximum, at), format(minimum, at),
                    format(minimum, at), format(minimum, at), format(minimum, at)) || ', %s)', differ.below(30));
        EXCEPTION WHEN OTHERS THEN      -- A layout without bounds.
            EXECUTE format('INSERT INTO made VALUES (%s, %s)', own, differ.below(30));
        END;
    END LOOP;
    IF foreign_ids THEN
        EXECUTE 'INSERT INTO made SELECT i, differ.below(30) FROM unnest(' || CASE typ
            WHEN 'uuid' THEN $q$ARRAY[uuid_v1(), uuid_v6(), uuid_v4(), uuid_v6_to_v1(uuid_v6()), '00000000-0000-0000-0000-000000000000',
                'ffffffff-ffff-ffff-ffff-ffffffffffff', '019b7711-967f-7fff-4fff-ffffffffffff', '019b7711-967f-7fff-ffff-ffffffffffff',
                'fffffffe-967f-7fff-bfff-ffffffffffff']::uuid[]$q$
            WHEN 'objectid' THEN $q$ARRAY['000000000000000000000000', 'ffffffffffffffffffffffff']::objectid[]$q$
            ELSE $q$ARRAY[-1, -9223372036854775808, 9223372036854775807, 0, 1, (random() * 9e18)::bigint, -(random() * 9e18)::bigint]$q$
            END || ') i';
    END IF;
    -- Some ends of a layout are beyond the last timestamp.
    IF NOT foreign_ids THEN
        EXECUTE format('DELETE FROM made WHERE NOT differ.has_time(%L, id::text)', replace(time_of, '%1$s.id', '%L::' || typ));
    END IF;
    EXECUTE 'DELETE FROM made a USING made b WHERE a.id = b.id AND a.ctid > b.ctid';
    EXECUTE format('CREATE TABLE differ.%I (id %s, n int) %s', name, typ,
        CASE kind WHEN 'range' THEN 'PARTITION BY RANGE (id)' WHEN 'hash' THEN 'PARTITION BY HASH (n)'
            WHEN 'times' THEN format('PARTITION BY RANGE ((%s))', replace(time_of, '%1$s.id', 'id')) ELSE '' END);
    IF kind = 'range' THEN
        EXECUTE 'SELECT array_agg(v::text) FROM (SELECT id AS v FROM (SELECT id FROM made WHERE id IS NOT NULL ORDER BY random() LIMIT 3) s ORDER BY id) s' INTO cut;
        FOR i IN 2..coalesce(array_length(cut, 1), 0) LOOP
            EXECUTE format('CREATE TABLE differ.%I PARTITION OF differ.%I FOR VALUES FROM (%L) TO (%L)', name || i, name, cut[i - 1], cut[i])
                || CASE i WHEN 3 THEN ' PARTITION BY RANGE (id)' ELSE '' END;
        END LOOP;
        -- One of them has a part and a default partition of its own.
        IF array_length(cut, 1) = 3 THEN
            EXECUTE 'SELECT v::text FROM (SELECT id AS v FROM made WHERE id > $1::text::' || typ || ' AND id < $2::text::' || typ
                || ' ORDER BY random() LIMIT 1) s' INTO one USING cut[2], cut[3];
            IF one IS NOT NULL THEN
                EXECUTE format('CREATE TABLE differ.%I PARTITION OF differ.%I FOR VALUES FROM (%L) TO (%L)', name || '3_part', name || 3, cut[2], one);
            END IF;
            EXECUTE format('CREATE TABLE differ.%I PARTITION OF differ.%I DEFAULT', name || '3_rest', name || 3);
        END IF;
        EXECUTE format('CREATE TABLE differ.%I PARTITION OF differ.%I DEFAULT', name || '_rest', name);
    ELSIF kind = 'times' THEN
        EXECUTE format('SELECT array_agg(v::text ORDER BY v) FROM (SELECT DISTINCT %s AS v FROM made ORDER BY 1 LIMIT 40) s WHERE isfinite(v)',
            replace(time_of, '%1$s.id', 'made.id')) INTO cut;
        IF array_length(cut, 1) > 3 THEN
            EXECUTE format('CREATE TABLE differ.%I PARTITION OF differ.%I FOR VALUES FROM (%L) TO (%L)', name || '_part', name, cut[1 + differ.below(2)], cut[array_length(cut, 1) - differ.below(2)]);
        END IF;
        EXECUTE format('CREATE TABLE differ.%I PARTITION OF differ.%I DEFAULT', name || '_rest', name);
    ELSIF kind = 'hash' THEN
        FOR i IN 0..1 LOOP
            EXECUTE format('CREATE TABLE differ.%I PARTITION OF differ.%I FOR VALUES WITH (MODULUS 2, REMAINDER %s)', name || i, name, i);
        END LOOP;
    ELSIF kind = 'children' THEN
        EXECUTE format('CREATE TABLE differ.%I () INHERITS (differ.%I)', name || '_child', name);
        EXECUTE format('CREATE INDEX ON differ.%I (id)', name || '_child');
        EXECUTE format('INSERT INTO differ.%I SELECT * FROM made WHERE n > 20', name || '_child');
        EXECUTE 'DELETE FROM made WHERE n > 20';
    END IF;
    EXECUTE format('INSERT INTO differ.%I SELECT * FROM made', name);
    -- These constraints say that there are no others: a UUID of no version passes.
    IF family = 'uuid' AND random() < 0.7 THEN
        EXECUTE format('DELETE FROM differ.%I WHERE uuid_version_of(id) <> 7', name);
        EXECUTE format('ALTER TABLE differ.%I ADD CHECK (uuid_version_of(id) = 7)', name);
    END IF;
    DROP TABLE made;
    CASE kind
        WHEN 'key', 'hash', 'times', 'children', 'unique' THEN EXECUTE format('CREATE INDEX ON differ.%I (id%s)', name, differ.pick('', ' DESC', ', n', ' NULLS FIRST'));
        WHEN 'brin' THEN EXECUTE format('CREATE INDEX ON differ.%I USING brin (n, %s) WITH (pages_per_range = 1)', name, CASE WHEN typ = 'objectid' THEN 'n' ELSE 'id' END);
        WHEN 'two' THEN EXECUTE format('CREATE INDEX ON differ.%I (n, id)', name); EXECUTE format('CREATE INDEX ON differ.%I (id, n)', name);
        WHEN 'partial' THEN EXECUTE format('CREATE INDEX ON differ.%I (id) WHERE n > 10', name);
        ELSE NULL;
    END CASE;
    IF random() < 0.8 THEN EXECUTE format('ANALYZE differ.%I', name); END IF;
    EXECUTE format('CREATE VIEW differ.%I AS SELECT id, n, %s AS at FROM differ.%I it', name || '_view', format(time_of, 'it'), name);
    -- Read by its owner and superusers whole, and by others in part.
    EXECUTE format('GRANT ALL ON differ.%I, differ.%I TO differ_reader', name, name || '_view');
    EXECUTE format('ALTER TABLE differ.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY not_7 ON differ.%I USING (n <> 7) WITH CHECK (true)', name);
    -- Times of ids that have one.
    known := '{}';
    DECLARE one timestamptz; ids text[];
    BEGIN
        EXECUTE format('SELECT array_agg(id::text) FROM differ.%I', name) INTO ids;
        FOR i IN 1..coalesce(array_length(ids, 1), 0) LOOP
            BEGIN
                EXECUTE 'SELECT ' || format(replace(time_of, '%1$s.id', '%L::' || typ), ids[i]) INTO one;
                IF one IS NOT NULL THEN known := known || one; END IF;
            EXCEPTION WHEN OTHERS THEN NULL;    -- Of another layout.
            END;
        END LOOP;
    END;
END $$;
CREATE DOMAIN differ.id AS bigint;

-- A query of an order of times, or of what snowflake_decode says. Rows of equal times can have any order, and a LIMIT any of
-- them: so what is compared is what the order is by.
CREATE FUNCTION differ.ordered(a text, known timestamptz[], on_a text, more_a text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    at text := format(a, 'a');
    way text := differ.pick('', '', ' DESC', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST');
    rows text := format('LIMIT %s OFFSET %s', 1 + differ.below(20), differ.pick('0', '0', '3'));
    list text := $q$SELECT coalesce(string_agg(concat_ws(' ', r), ','), '') FROM ($q$;
    decode text := replace(replace(at, 'snowflake_time(', 'snowflake_decode('), 'a.id', differ.pick('a.id', 'a.id::bigint'));
BEGIN
    CASE differ.below(CASE WHEN at LIKE 'snowflake%' THEN 12 ELSE 9 END)
        WHEN 0 THEN RETURN list || format('SELECT %s FROM differ.alpha a ORDER BY 1%s %s) r', at, way, rows);
        WHEN 1 THEN RETURN list || format('SELECT %s FROM differ.alpha a WHERE %s ORDER BY 1%s %s) r', at, on_a, way, rows);
        WHEN 2 THEN RETURN list || format('SELECT %s, a.n FROM differ.alpha a WHERE %s ORDER BY 1%s, a.n %s) r', at, on_a, way, rows);
        WHEN 3 THEN RETURN list || format('SELECT a.n, %s FROM differ.alpha a WHERE %s ORDER BY 1, 2%s %s) r', at, more_a, way, rows);
        WHEN 4 THEN RETURN format('SELECT concat_ws('' '', min(%1$s), max(%1$s), count(*)) FROM differ.alpha a WHERE %2$s', at, on_a);
        WHEN 5 THEN RETURN CASE WHEN at LIKE 'snowflake%' AND random() < 0.5
            THEN format('SELECT concat_ws('' '', min(a.id), max(a.id)) FROM differ.alpha a WHERE %s', on_a)
            ELSE format('SELECT concat_ws('' '', min(%1$s), max(%1$s)) FROM differ.alpha a', at) END;
        WHEN 6 THEN RETURN list || format('SELECT v.at FROM differ.alpha_view v WHERE v.at %s %s ORDER BY v.at%s %s) r',
            differ.pick('<', '<=', '>=', '>'), differ.expression(differ.instant(known)), way, rows);
        WHEN 7 THEN RETURN list || format('SELECT %s FROM (SELECT * FROM differ.alpha UNION ALL SELECT * FROM differ.alpha WHERE n < 9) a ORDER BY 1%s %s) r',
            at, way, rows);
        WHEN 8 THEN RETURN list || format('SELECT %s FROM differ.alpha a %s JOIN differ.beta b ON b.n = a.n AND b.n > 5 ORDER BY 1%s %s) r',
            at, differ.pick('', 'LEFT', 'FULL'), way, rows);
        WHEN 9 THEN RETURN format($q$SELECT count(*) || ' ' || coalesce(sum(hashtext(r::text)), 0) FROM (SELECT a.*, d.*, to_json(d) FROM differ.alpha a, %s d
            WHERE d.at %s %s AND %s) r$q$, decode, differ.pick('<', '<=', '=', '>=', '>'), differ.expression(differ.instant(known)), more_a);
        WHEN 10 THEN RETURN format($q$SELECT count(*) || ' ' || coalesce(sum(hashtext(r::text)), 0) FROM (SELECT a.*, d.*, d IS NULL AS is_null
            FROM differ.alpha a LEFT JOIN LATERAL %s d ON d.at %s %s) r$q$, decode, differ.pick('<', '<=', '=', '>=', '>'), differ.expression(differ.instant(known)));
        ELSE RETURN list || format('SELECT d.at, (SELECT e.sequence FROM %s e) AS s, (SELECT count(*) FROM differ.beta b, %1$s e WHERE b.n < e.shard) FROM differ.alpha a, %1$s d
            ORDER BY 1%s, 2, 3 %s) r', decode, way, rows);
    END CASE;
END $$;

-- A query of two tables, which returns one text.
CREATE FUNCTION differ.query(a text, known_a timestamptz[], foreign_a boolean, b text, known_b timestamptz[], foreign_b boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    on_a text := format(differ.condition(a, known_a, foreign_a), 'a');
    more_a text := format(differ.condition(a, known_a, foreign_a), 'a');
    on_b text := format(differ.condition(b, known_b, foreign_b), 'b');
    plain_a text := format(differ.condition(a, known_a, foreign_a), 'alpha');
    rows text := $q$SELECT count(*) || ' ' || coalesce(sum(hashtext(r::text)), 0) FROM ($q$;
    sides text := differ.pick('JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN');
    -- On the side whose rows an outer join keeps, nothing is derived of its ON: no foreign ids there.
    join_on text := CASE WHEN sides = 'FULL JOIN' OR (foreign_a AND sides = 'LEFT JOIN') OR (foreign_b AND sides = 'RIGHT JOIN') THEN 'b.n = a.n'
        ELSE differ.pick('b.n = a.n', 'b.n = a.n AND ' || on_b, 'b.n = a.n AND ' || on_a) END;
BEGIN
    -- An order among foreign ids depends on whether their times are asked for.
    IF random() < 0.2 AND NOT (foreign_a AND a LIKE 'snowflake%') THEN RETURN differ.ordered(a, known_a, on_a, more_a); END IF;
    CASE differ.below(16)
        WHEN 0, 1, 2, 3 THEN RETURN rows || format('SELECT * FROM differ.alpha a WHERE %s) r', on_a);
        WHEN 4 THEN RETURN rows || format('SELECT * FROM differ.alpha a WHERE %s AND %s) r', on_a, more_a);
        WHEN 5 THEN RETURN rows || format('SELECT a.*, b.n AS m FROM differ.alpha a %s differ.beta b ON %s WHERE %s) r', sides, join_on, on_a);
        WHEN 6 THEN RETURN rows || format('SELECT a.*, b.n AS m FROM differ.alpha a %s differ.beta b ON %s WHERE %s) r', sides, join_on, on_b);
        WHEN 7 THEN RETURN rows || format('SELECT a.*, b.n AS m FROM differ.alpha a %s differ.beta b ON %s) r', sides, join_on);
        WHEN 8 THEN RETURN rows || format('SELECT * FROM differ.alpha a WHERE %s (SELECT FROM differ.beta b WHERE b.n = a.n AND %s) AND %s) r', differ.pick('EXISTS', 'NOT EXISTS'), on_b, on_a);
        WHEN 9 THEN RETURN rows || format('SELECT a.*, (SELECT count(*) FROM differ.beta b WHERE b.n >= a.n AND %s) FROM differ.alpha a WHERE %s) r', on_b, on_a);
        WHEN 10 THEN RETURN format('WITH d AS (DELETE FROM differ.alpha WHERE %s RETURNING *) ', plain_a) || rows || 'TABLE d) r';
        WHEN 11 THEN RETURN format('WITH d AS (UPDATE differ.alpha SET n = n + 1 WHERE %s RETURNING *) ', plain_a) || rows || 'TABLE d) r';
        WHEN 12 THEN RETURN format('WITH c AS %s (SELECT * FROM differ.alpha a WHERE %s) ', differ.pick('MATERIALIZED', 'NOT MATERIALIZED'), on_a) || rows || format('SELECT * FROM c a WHERE %s) r', more_a);
        WHEN 13 THEN RETURN format('SELECT n::text FROM differ.alpha a WHERE %s ORDER BY id, n LIMIT 1', on_a);
        WHEN 14 THEN RETURN rows || format('SELECT a.n, count(*) FROM (SELECT * FROM differ.alpha UNION ALL SELECT * FROM differ.alpha) a WHERE %s GROUP BY a.n) r', on_a);
        ELSE RETURN rows || format('SELECT a.*, b.n AS m FROM differ.alpha a %s (SELECT b.* FROM differ.beta b WHERE %s) b ON b.n = a.n) r',
            differ.pick('JOIN', 'LEFT JOIN'), on_b);
    END CASE;
END $$;
