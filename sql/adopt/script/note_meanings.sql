-- What texts call before they are created again, see convert_meanings.sql.

EXECUTE meaning INTO STRICT meant USING $relations$, NULL::pg_catalog.text[], NULL::pg_catalog.text[]
