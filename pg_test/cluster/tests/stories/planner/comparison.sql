-- Runs the queries of generator.sql with pg_mint.time_predicates off and on, and counts what they return, and compares
-- estimates of rows.
CREATE TABLE differ.difference (seed float8, query text, settings text, off_result text, on_result text);
CREATE TABLE differ.tally (outcome text PRIMARY KEY, n bigint);
INSERT INTO differ.tally VALUES ('queries', 0), ('same rows', 0), ('both refused', 0), ('refused off only', 0),
    ('compared plans', 0), ('other plans', 0), ('with rows', 0),
    ('compared estimates', 0), ('better estimates', 0), ('worse estimates', 0);

-- Runs a query and undoes what it did.
CREATE FUNCTION differ.result(query text, reader text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text; code text; message text;
BEGIN
    BEGIN
        PERFORM set_config('role', reader, true);
        EXECUTE query INTO found;
        RAISE EXCEPTION USING ERRCODE = 'DF000', MESSAGE = coalesce(found, 'NULL');
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    END;
    RETURN CASE code WHEN 'DF000' THEN message ELSE 'ERROR ' || code || ' ' || message END;
END $$;

CREATE FUNCTION differ.count(what text) RETURNS void LANGUAGE sql AS $$ UPDATE differ.tally SET n = n + 1 WHERE outcome = what $$;

-- The rows of differ.alpha that the planner expects to meet a condition.
CREATE TABLE differ.probe AS SELECT now() AS at;
CREATE FUNCTION differ.guess(condition text, setting text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    PERFORM set_config('pg_mint.time_predicates', setting, false);
    EXECUTE 'PREPARE guessed(timestamptz) AS ' || CASE WHEN condition LIKE '%probe.%'
        THEN format('SELECT (SELECT count(*) FROM differ.alpha a WHERE %s) FROM differ.probe', condition)
        ELSE format('SELECT FROM differ.alpha a WHERE %s', condition) END;
    EXECUTE 'EXPLAIN (FORMAT JSON) EXECUTE guessed(now())' INTO plan;
    DEALLOCATE guessed;
    RETURN coalesce(jsonb_path_query_first(plan, 'strict $.** ? (@."Parent Relationship" == "SubPlan")')#>'{Plans,0}', plan#>'{0,Plan}')->>'Plan Rows';
END $$;

-- Returns 1 if the estimate with bounds is more than eight times as far from what is true as that without them, and -1 if it
-- is less than an eighth of it. The nearest that it can be is one row.
CREATE FUNCTION differ.is_worse(condition text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    found float8;
    off float8 := greatest(differ.guess(condition, 'off'), 1);
    bounded float8 := greatest(differ.guess(condition, 'on'), 1);
BEGIN
    EXECUTE 'SELECT greatest(count(*), 1) FROM differ.alpha a WHERE ' || condition INTO found;
    SELECT greatest(off / found, found / off), greatest(bounded / found, found / bounded) INTO off, bounded;
    RETURN CASE WHEN bounded > 8 * off THEN 1 WHEN off > 8 * bounded THEN -1 ELSE 0 END;
END $$;

-- Runs so many queries on the same two tables, and returns how many differed.
CREATE FUNCTION differ.run(seed float8, queries int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    a record; b record;
    query text; prepared text; off_result text; on_result text; settings text[]; one text; value text;
    reader text; off_plan text; on_plan text; bad int := 0; tally int[] := '{0,0,0,0,0,0,0,0,0,0}';
    guesses float8[];
BEGIN
    PERFORM setseed(seed);
    -- The cost of a plan that is switched off would have it compiled.
    PERFORM set_config('jit', 'off', false);
    PERFORM set_config('timezone', differ.pick('UTC', 'Asia/Tokyo', 'America/Los_Angeles', 'Asia/Kolkata', 'Europe/Berlin'), false);
    SELECT * INTO a FROM differ.make_table('alpha');
    SELECT * INTO b FROM differ.make_table('beta');
    FOR i IN 1..queries LOOP
        settings := '{}';
        FOREACH one IN ARRAY ARRAY['enable_seqscan', 'enable_seqscan', 'enable_indexscan', 'enable_bitmapscan', 'enable_hashjoin',
            'enable_mergejoin', 'enable_nestloop', 'enable_partition_pruning', 'enable_indexonlyscan'] LOOP
            value := CASE WHEN random() < 0.3 THEN 'off' ELSE 'on' END;
            PERFORM set_config(one, value, false);
            settings := settings || (one || '=' || value);
        END LOOP;
        value := differ.pick('', '', '', '0');
        FOREACH one IN ARRAY ARRAY['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size', 'min_parallel_index_scan_size'] LOOP
            IF value = '0' THEN PERFORM set_config(one, value, false); ELSE EXECUTE 'RESET ' || one; END IF;
        END LOOP;
        settings := settings || (CASE value WHEN '0' THEN 'parallel' ELSE 'alone' END);
        query := differ.query(a.time_of, a.known, a.foreign_ids, b.time_of, b.known, b.foreign_ids);
        -- Under row security, bounds must not be tested before the policy where they could tell something.
        reader := CASE WHEN query LIKE '%UPDATE%' THEN 'none' ELSE differ.pick('none', 'none', 'none', 'differ_reader') END;
        settings := settings || reader;
        -- An order by an index of few rows is the cheaper one only without these.
        value := 'on';
        IF query ~ 'ORDER BY 1|max\(' AND random() < 0.6 THEN
            value := 'off';
            PERFORM set_config('enable_seqscan', value, false);
        END IF;
        PERFORM set_config('enable_sort', value, false);
        settings := settings || ('enable_sort=' || value);
        -- As a prepared statement for all values, with one of the timestamps as a parameter.
        prepared := NULL;
        IF random() < 0.2 AND query ~ $q$'[^']*'::timestamptz(?!\[)$q$ THEN
            value := (regexp_match(query, $q$('[^']*'::timestamptz)(?!\[)$q$))[1];
            PERFORM set_config('plan_cache_mode', differ.pick('force_generic_plan', 'force_generic_plan', 'force_custom_plan'), false);
            prepared := format('PREPARE it(timestamptz) AS %s', replace(query, value, '$1'));
            query := format('EXECUTE it(%s)', value);
        END IF;
        PERFORM set_config('pg_mint.time_predicates', 'off', false);
        IF prepared IS NOT NULL THEN EXECUTE prepared; END IF;
        off_result := differ.result(query, reader);
        IF i % 10 = 0 THEN EXECUTE 'EXPLAIN (FORMAT JSON, COSTS OFF) ' || query INTO off_plan; END IF;
        IF prepared IS NOT NULL THEN DEALLOCATE it; END IF;
        PERFORM set_config('pg_mint.time_predicates', 'on', false);
        IF prepared IS NOT NULL THEN EXECUTE prepared; END IF;
        on_result := differ.result(query, reader);
        IF i % 10 = 0 THEN
            EXECUTE 'EXPLAIN (FORMAT JSON, COSTS OFF) ' || query INTO on_plan;
            tally[5] := tally[5] + 1;
            IF on_plan <> off_plan THEN tally[6] := tally[6] + 1; END IF;
        END IF;
        IF prepared IS NOT NULL THEN DEALLOCATE it; END IF;
        tally[1] := tally[1] + 1;
        -- Where no time is known, bounds say nothing of how many rows there are. Where one is known, they mostly say more.
        PERFORM set_config('plan_cache_mode', 'force_generic_plan', false), set_config('max_parallel_workers_per_gather', '0', false);
        value := differ.unknown(a.time_of);
        guesses := ARRAY[differ.guess(value, 'off'), differ.guess(value, 'on')];
        tally[8] := tally[8] + 1;
        IF guesses[1] IS DISTINCT FROM guesses[2] THEN
            bad := bad + 1;
            INSERT INTO differ.difference VALUES (seed, 'estimate of ' || value, '', guesses[1], guesses[2]);
        END IF;
        IF NOT a.foreign_ids THEN
            CASE differ.is_worse(format(differ.condition(a.time_of, a.known, true), 'a'))
                WHEN 1 THEN tally[10] := tally[10] + 1;
                WHEN -1 THEN tally[9] := tally[9] + 1;
                ELSE NULL;
            END CASE;
        END IF;
        EXECUTE 'RESET max_parallel_workers_per_gather';
        -- Another one of several foreign ids can be the first.
        IF on_result = off_result OR (off_result LIKE 'ERROR 22%' AND left(on_result, 11) = left(off_result, 11)) THEN
            IF on_result LIKE 'ERROR%' THEN
                tally[3] := tally[3] + 1;
                IF on_result NOT LIKE 'ERROR 22%' THEN RAISE WARNING 'no valid query: % %', on_result, query; END IF;
            ELSE tally[2] := tally[2] + 1;
            END IF;
            IF on_result NOT LIKE 'ERROR%' AND on_result NOT LIKE '0 %' AND on_result <> 'NULL' THEN tally[7] := tally[7] + 1; END IF;
        ELSE
            -- An id that is not one of the layout was not looked at, as if it had no time.
            IF off_result LIKE 'ERROR 22%' AND on_result NOT LIKE 'ERROR%' THEN
                IF prepared IS NOT NULL THEN EXECUTE replace(prepared, 'snowflake_time(', 'differ.time_if_any('); END IF;
                off_result := differ.result(replace(query, 'snowflake_time(', 'differ.time_if_any('), reader);
                IF prepared IS NOT NULL THEN DEALLOCATE it; END IF;
                IF off_result = on_result THEN
                    tally[4] := tally[4] + 1;
                    CONTINUE;
                END IF;
            END IF;
            bad := bad + 1;
            INSERT INTO differ.difference VALUES (seed, coalesce(prepared || '; ', '') || query, array_to_string(settings, ' '), off_result, on_result);
        END IF;
    END LOOP;
    UPDATE differ.tally t SET n = t.n + tally[v.place] FROM (VALUES ('queries', 1), ('same rows', 2), ('both refused', 3),
        ('refused off only', 4), ('compared plans', 5), ('other plans', 6), ('with rows', 7),
        ('compared estimates', 8), ('better estimates', 9), ('worse estimates', 10)) v (outcome, place) WHERE t.outcome = v.outcome;
    RETURN bad;
END $$;
