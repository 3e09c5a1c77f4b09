-- What the cleanup begins with: the column that it ends must be there. An earlier step might have failed, and psql
-- continues after an error by default, or a plan might be an old one.

IF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute AS a WHERE a.attrelid OPERATOR(pg_catalog.=) $table$::pg_catalog.regclass AND pg_catalog.quote_ident(a.attname::pg_catalog.text) OPERATOR(pg_catalog.=) $column$::pg_catalog.text AND NOT a.attisdropped) THEN RAISE EXCEPTION 'not all is ready for the cleanup' USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = pg_catalog.format('Table %s has no column %s: the swap has failed, or the plan is an old one. Nothing was changed.', $table$, $column$), HINT = 'Run mint.convert_plan() again.'; END IF
