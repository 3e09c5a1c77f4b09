//! Conversion of a table's id column from a sequence to a generator of pg_mint, and back.
