-- Statements in one transaction that is short and gives up its locks early, again and again, with the privileges of the
-- owner of the tables. $locks$ is lock.sql for each table. Texts that the server has printed of expressions are read
-- with the settings with which they were printed.
--
-- COMMIT is an error in a transaction block, which would keep the locks: it comes before the first one.
--
-- An attempt waits for autovacuum first, in a mode that no client waits behind: autovacuum gives way only after
-- deadlock_timeout. For all tables together it then waits for less than that: a client that has one of them and waits for
-- another gets no deadlock.

DO $block$
DECLARE
  vacuum pg_catalog.text := (SELECT (pg_catalog.int4smaller(s.setting::pg_catalog.int4, 2147483147) OPERATOR(pg_catalog.+) 500)::pg_catalog.text FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'deadlock_timeout');
  began pg_catalog.timestamptz;$variables$
BEGIN
  COMMIT;
  $refuse_superuser$;
  SET LOCAL ROLE $owner$;
  PERFORM pg_catalog.set_config(one.name, one.value, true) FROM (VALUES $settings$) AS one (name, value);
  FOR attempt IN 1..120 LOOP
    BEGIN
      PERFORM pg_catalog.set_config('lock_timeout', vacuum, true);
      LOCK TABLE $tables$ IN SHARE UPDATE EXCLUSIVE MODE;
      began := pg_catalog.clock_timestamp();
$locks$
      $refuse_replaced$;
$statements$
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      RAISE NOTICE 'attempt % has not got its locks', attempt;
    END;
    PERFORM pg_catalog.pg_sleep(0.5);
  END LOOP;
  RAISE EXCEPTION 'could not obtain locks' USING ERRCODE = 'lock_not_available';
END
$block$
