-- Gives the session the settings with which the server has printed the text of the next statement. Those of before are kept for
-- restore_settings.sql, which does not run if that statement fails: a second time restores the first ones before.
--
-- Types in the text can call functions of the owner as soon as it is read. So after a refusal the session is read-only until its
-- settings are restored: a program that continues after errors does not run that statement.

DO $block$
BEGIN
  IF pg_catalog.current_setting('mint_script.settings'::pg_catalog.text, true) OPERATOR(pg_catalog.<>) ''::pg_catalog.text THEN
    PERFORM pg_catalog.set_config(one.name, one.value, false)
    FROM pg_catalog.jsonb_each_text(pg_catalog.current_setting('mint_script.settings'::pg_catalog.text)::pg_catalog.jsonb) AS one (name, value)
    WHERE one.name OPERATOR(pg_catalog.=) ANY (SELECT one.name FROM (VALUES $settings$, ('default_transaction_read_only', '')) AS one (name, value));
  END IF;
  PERFORM pg_catalog.set_config('mint_script.settings', pg_catalog.jsonb_object_agg(one.name, pg_catalog.current_setting(one.name))::pg_catalog.text, false)
  FROM (VALUES $settings$) AS one (name, value);
  $refuse_superuser$;
  PERFORM pg_catalog.set_config(one.name, one.value, false) FROM (VALUES $settings$) AS one (name, value);
END
$block$
