-- What they call afterwards must be the same: $pairs$ are the names of texts before and after.

EXECUTE meaning INTO STRICT means USING $relations$, NULL::pg_catalog.text[], NULL::pg_catalog.text[];
      SELECT pg_catalog.min(one.was) INTO changed FROM ($pairs$) AS one (was, becomes) WHERE ARRAY[meant OPERATOR(pg_catalog.->) one.was] OPERATOR(pg_catalog.<>) ARRAY[means OPERATOR(pg_catalog.->) one.becomes];
      IF changed IS NOT NULL THEN RAISE EXCEPTION '% would not mean the same as before', changed USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'It would call other functions or operators, or have other constants. Nothing was changed.', HINT = 'Drop it, create it again after the swap, and run mint.convert_plan() again.'; END IF
