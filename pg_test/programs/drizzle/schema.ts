import { sql } from "drizzle-orm";
import { bigint, pgTable, text, uuid } from "drizzle-orm/pg-core";

export const message = pgTable("message", {
  id: bigint({ mode: "bigint" }).primaryKey().default(sql`snowflake_next_id(5)`),
  body: text().notNull(),
});

export const event = pgTable("event", {
  id: uuid().primaryKey().default(sql`uuid_v7()`),
});
