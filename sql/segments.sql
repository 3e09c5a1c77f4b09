CREATE VIEW pg_mint_segments AS SELECT * FROM pg_mint_segments();
COMMENT ON VIEW pg_mint_segments IS 'sequences of this database that were drawn from in segments since the server started';
GRANT SELECT ON pg_mint_segments TO PUBLIC;
