-- Gives the session the settings that fix_settings.sql has kept.

DO $block$
BEGIN
  PERFORM pg_catalog.set_config(one.name, one.value, false)
  FROM pg_catalog.jsonb_each_text(pg_catalog.current_setting('mint_script.settings'::pg_catalog.text)::pg_catalog.jsonb) AS one (name, value);
  PERFORM pg_catalog.set_config('mint_script.settings', '', false);
END
$block$
