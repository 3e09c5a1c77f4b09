-- What the swap begins with, under its locks: nothing but itself must be left of the plan. Somebody might have created an
-- index or a foreign key since, or an earlier step might have failed.

IF EXISTS (SELECT FROM $plan$ AS p WHERE pg_catalog.starts_with(p.note, 'blocker'::pg_catalog.text) OR p.phase OPERATOR(pg_catalog.=) ANY (ARRAY['prepare'::pg_catalog.text, 'backfill'::pg_catalog.text, 'index'::pg_catalog.text, 'constraint'::pg_catalog.text])) THEN RAISE EXCEPTION 'not all is ready for the swap' USING HINT = 'Run mint.convert_plan() again.'; END IF
