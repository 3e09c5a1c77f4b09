-- Gives the session the settings with which the server has printed the text of the next statement. Those of before are kept:
-- for restore_settings.sql, which does not run if that statement fails, so a second time keeps the first ones.
--
-- Types in the text can call functions of the owner as soon as it is read. After a refusal the statement fails as well, in a
-- program that continues after errors: the session is read-only until the settings are restored.

DO $block$
BEGIN
  IF pg_catalog.current_setting('mint_script.settings'::pg_catalog.text, true) OPERATOR(pg_catalog.<>) ''::pg_catalog.text IS NOT TRUE THEN
    PERFORM pg_catalog.set_config('mint_script.settings', pg_catalog.jsonb_object_agg(one.name, pg_catalog.current_setting(one.name))::pg_catalog.text, false)
    FROM (VALUES $settings$) AS one (name, value);
  END IF;
  $refuse_superuser$;
  PERFORM pg_catalog.set_config(one.name, one.value, false) FROM (VALUES $settings$) AS one (name, value);
END
$block$
