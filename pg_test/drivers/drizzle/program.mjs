// The tables of schema.ts, which node cannot read.
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { bigint, customType, pgTable, text, uuid } from "drizzle-orm/pg-core";
import pg from "pg";

const objectid = customType({ dataType: () => "objectid" });
const message = pgTable("message", {
  id: bigint({ mode: "bigint" }).primaryKey().default(sql`snowflake_next_id(5)`),
  body: text().notNull(),
});
const event = pgTable("event", { id: uuid().primaryKey().default(sql`uuid_v7()`) });
const item = pgTable("item", { id: objectid().primaryKey().default(sql`objectid()`), name: text().notNull() });

const point = (text, holds) => console.log(`${holds ? "ok" : "not ok"} ${text}`);
const MINUTE = 60_000;
const client = new pg.Client();
await client.connect();
const db = drizzle(client);
const since = new Date(Date.now() - MINUTE);
const until = new Date(Date.now() + MINUTE);

const [one] = await db.insert(message).values({ body: "hello" }).returning();
const [moment] = await db.insert(event).values({}).returning();
point("insert one", typeof one.id === "bigint" && one.id > 2n ** 60n && moment.id[14] === "7");

const rows = Array.from({ length: 100 }, (_, n) => ({ body: `hello ${n}` }));
const many = await db.insert(message).values(rows).returning();
point("insert many", new Set(many.map((row) => row.id)).size === 100);

const [back] = await db.select().from(message).where(eq(message.id, many[7].id));
point("read back", back.body === "hello 7");

const span = (from, to) => db.$count(message, sql`snowflake_between(${message.id}, ${from.toISOString()}, ${to.toISOString()})`);
point("range by time", (await span(since, until)) === 101 && (await span(new Date(since - MINUTE), since)) === 0);

const { rows: [minted] } = await db.execute(sql`SELECT snowflake_time(snowflake_next_id(${5}, ${"twitter"}), ${"twitter"}) > ${since.toISOString()} AS is_new`);
point("layout as a parameter", minted.is_new);

const [lamp] = await db.insert(item).values({ name: "lamp" }).returning();
const [found] = await db.select().from(item).where(eq(item.id, lamp.id));
point("objectid", /^[0-9a-f]{24}$/.test(lamp.id) && found.name === "lamp");
await client.end();
