-- What the swap ends with: nothing can depend on a column that it has put aside, which $kept$ finds. A text that names
-- columns by their places, and was created again, would have another one there.

SELECT pg_catalog.min(pg_catalog.pg_describe_object(p.classid, p.objid, p.objsubid)) INTO changed FROM pg_catalog.pg_depend AS p JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) p.refobjid AND a.attnum OPERATOR(pg_catalog.=) p.refobjsubid WHERE p.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND ($kept$);
      IF changed IS NOT NULL THEN RAISE EXCEPTION '% would depend on a column that the swap puts aside', changed USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'Nothing was changed.', HINT = 'Drop it, create it again after the swap, and run mint.convert_plan() again.'; END IF
