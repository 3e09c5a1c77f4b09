-- What follows the locks: names must mean the tables of the plan, and these must be of the role that the block has set. The owner of
-- a schema can drop tables in it, and create others that it writes functions for.

IF EXISTS (SELECT FROM (VALUES $tables$) AS one (name, oid) LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) one.oid AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) CURRENT_USER WHERE pg_catalog.to_regclass(one.name)::pg_catalog.oid OPERATOR(pg_catalog.=) c.oid IS NOT TRUE) THEN RAISE EXCEPTION 'not all tables are those of the plan' USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'Another table has taken the place of one of them, or its owner has changed.', HINT = 'Run mint.convert_plan() again.'; END IF
