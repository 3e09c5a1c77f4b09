// The tables. An id begins with its time, so that no table needs a column for it.
import { sql } from "drizzle-orm";
import { bigint, index, pgTable, text } from "drizzle-orm/pg-core";

export const author = pgTable("author", {
  id: bigint({ mode: "bigint" }).primaryKey().default(sql`snowflake_next_id(5)`),
  name: text().notNull().unique(),
});

export const message = pgTable(
  "message",
  {
    id: bigint({ mode: "bigint" }).primaryKey().default(sql`snowflake_next_id(5)`),
    authorId: bigint("author_id", { mode: "bigint" }).notNull().references(() => author.id),
    body: text().notNull(),
  },
  (table) => [index().on(table.authorId)],
);
