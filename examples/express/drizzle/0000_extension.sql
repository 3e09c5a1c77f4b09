-- Before all others: `drizzle-kit generate` does not write it.
CREATE EXTENSION IF NOT EXISTS pg_mint;
