-- Functions and operators of pg_catalog again in the schema evil, those that PL/pgSQL can have: each raises an error.
CREATE SCHEMA evil;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
CREATE SEQUENCE s;
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result
        FROM pg_proc AS p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
            AND p.prorettype <> ALL ('{internal,cstring,trigger,event_trigger,language_handler,index_am_handler,"\"any\""}'::regtype[])
            AND NOT (p.proargtypes::regtype[] && '{internal,cstring,"\"any\""}'::regtype[])
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.proname, f.arguments, f.result,
                format('BEGIN RAISE EXCEPTION ''evil.%%was called'', %L; END', f.proname || ' '));
        EXCEPTION WHEN OTHERS THEN
            NULL;
        END;
    END LOOP;
    FOR f IN
        SELECT o.oprname, o.oprleft::regtype AS l, o.oprright::regtype AS r, p.proname
        FROM pg_operator AS o JOIN pg_proc AS p ON p.oid = o.oprcode
        WHERE o.oprnamespace = 'pg_catalog'::regnamespace
    LOOP
        BEGIN
            EXECUTE format('CREATE OPERATOR evil.%s (%sRIGHTARG = %s, FUNCTION = evil.%I)', f.oprname,
                CASE WHEN f.l = 0 THEN '' ELSE format('LEFTARG = %s, ', f.l) END, f.r, f.proname);
        EXCEPTION WHEN OTHERS THEN
            NULL;
        END;
    END LOOP;
END
$$;
