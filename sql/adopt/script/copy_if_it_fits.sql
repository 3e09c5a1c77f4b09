-- The same after the swap, when the shadow is narrower than its column: an id that does not fit is null there. The column is
-- the last one of its table now, and an INSERT without a list of columns gives its value to the shadow.

BEGIN
  IF TG_OP OPERATOR(pg_catalog.=) 'INSERT'::pg_catalog.text AND NEW.$shadow$ IS NOT NULL AND (NEW.$shadow$::pg_catalog.int8 OPERATOR(pg_catalog.=) NEW.$column$) IS NOT TRUE THEN
    RAISE EXCEPTION 'INSERT has a value for column "%" of table "%", which is of its conversion', $shown$, TG_TABLE_NAME
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Write the list of columns: the column that has the ids is the last one of the table now.';
  END IF;
  NEW.$shadow$ := CASE WHEN NEW.$column$ OPERATOR(pg_catalog.>=) '$least$'::pg_catalog.int8 AND NEW.$column$ OPERATOR(pg_catalog.<=) '$most$'::pg_catalog.int8 THEN NEW.$column$ END;
  RETURN NEW;
END
