import { defineConfig } from "drizzle-kit";

const { PGHOST, PGPORT, PGUSER, PGDATABASE } = process.env;

export default defineConfig({
  dialect: "postgresql",
  schema: "./schema.ts",
  out: "./pulled",
  dbCredentials: { url: `postgresql://${PGUSER}@${PGHOST}:${PGPORT}/${PGDATABASE}` },
});
