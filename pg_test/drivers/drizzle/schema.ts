import { sql } from "drizzle-orm";
import { bigint, customType, pgTable, text, uuid } from "drizzle-orm/pg-core";

export const message = pgTable("message", {
  id: bigint({ mode: "bigint" }).primaryKey().default(sql`snowflake_next_id(5)`),
  body: text().notNull(),
});

export const tweet = pgTable("tweet", {
  // With the cast that the catalog gives back; without it each push would set the default.
  id: bigint({ mode: "bigint" }).primaryKey().default(sql`snowflake_next_id(5, 'twitter'::snowflake_layout)`),
});

export const event = pgTable("event", {
  id: uuid().primaryKey().default(sql`uuid_v7()`),
});

const objectid = customType<{ data: string }>({ dataType: () => "objectid" });

export const item = pgTable("item", {
  id: objectid().primaryKey().default(sql`objectid()`),
  name: text().notNull(),
});
