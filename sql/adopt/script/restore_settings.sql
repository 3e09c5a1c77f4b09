-- Gives the session the settings that fix_settings.sql has kept, and no others: a function of another role could have written
-- what is kept.

DO $block$
BEGIN
  PERFORM pg_catalog.set_config(one.name, one.value, false)
  FROM pg_catalog.jsonb_each_text(pg_catalog.current_setting('mint_script.settings'::pg_catalog.text)::pg_catalog.jsonb) AS one (name, value)
  WHERE one.name OPERATOR(pg_catalog.=) ANY (SELECT one.name FROM (VALUES $settings$, ('default_transaction_read_only', '')) AS one (name, value));
  PERFORM pg_catalog.set_config('mint_script.settings', '', false);
END
$block$
