import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";

// Without DATABASE_URL, libpq's variables say where the database is: PGHOST, PGUSER, PGDATABASE ...
export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
export const db = drizzle(pool);

// The migrations of `drizzle-kit generate`. Unlike `drizzle-kit migrate`, this says what fails.
const migrationsFolder = new URL("drizzle", import.meta.url).pathname;
export const upgrade = () => migrate(db, { migrationsFolder });
