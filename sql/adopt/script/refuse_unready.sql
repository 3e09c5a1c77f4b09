-- What the swap begins with, under its locks: nothing but itself must be left of the plan. Somebody might have created an
-- index or a foreign key since, or an earlier step might have failed. $mark$ is another one if what the swap does has
-- changed: a default, a comment or a view that it would set as it was.

IF EXISTS (SELECT FROM $plan$ AS p WHERE pg_catalog.starts_with(p.note, 'blocker'::pg_catalog.text) OR p.phase OPERATOR(pg_catalog.=) ANY (ARRAY['prepare'::pg_catalog.text, 'backfill'::pg_catalog.text, 'index'::pg_catalog.text, 'constraint'::pg_catalog.text]) OR p.phase OPERATOR(pg_catalog.=) 'swap'::pg_catalog.text AND pg_catalog.strpos(p.command, '$mark$'::pg_catalog.text) OPERATOR(pg_catalog.=) 0) THEN RAISE EXCEPTION 'not all is ready for the swap' USING DETAIL = 'The tables have changed since the plan, or an earlier step has failed.', HINT = 'Run mint.convert_plan() again.'; END IF
