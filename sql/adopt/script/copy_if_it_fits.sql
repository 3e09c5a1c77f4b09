-- The same after the swap, when the shadow is narrower than its column: an id that does not fit is null there.

BEGIN NEW.$shadow$ := CASE WHEN NEW.$column$ OPERATOR(pg_catalog.>=) '$least$'::pg_catalog.int8 AND NEW.$column$ OPERATOR(pg_catalog.<=) '$most$'::pg_catalog.int8 THEN NEW.$column$ END; RETURN NEW; END
