import { defineConfig } from "drizzle-kit";

const { DATABASE_URL, PGUSER, PGHOST = "localhost", PGPORT = 5432, PGDATABASE } = process.env;

export default defineConfig({
  dialect: "postgresql",
  schema: "./schema.js",
  out: "./drizzle",
  dbCredentials: { url: DATABASE_URL ?? `postgresql://${PGUSER}@${PGHOST}:${PGPORT}/${PGDATABASE}` },
});
