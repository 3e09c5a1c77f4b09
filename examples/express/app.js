// Messages over HTTP. Ids are of type bigint in JavaScript and in the database, and strings in JSON.
import { and, desc, eq, lt, sql } from "drizzle-orm";
import express from "express";
import { db } from "./db.js";
import { author, message } from "./schema.js";

export const app = express();
app.set("json replacer", (key, value) => (typeof value === "bigint" ? String(value) : value));
app.use(express.json());
app.use(express.static(new URL("public", import.meta.url).pathname));

const FOREIGN_KEY_VIOLATION = "23503";
const refusal = (status, text) => Object.assign(new Error(text), { status, expose: true });

function refuse(status, text) {
  throw refusal(status, text);
}

// Returns the id that a client sent. A number is refused: the client's JavaScript has rounded it.
function idOf(value) {
  const digits = typeof value === "string" && /^\d{1,19}$/.test(value);
  return digits && BigInt(value) < 2n ** 63n ? BigInt(value) : refuse(400, "an id is a string of digits");
}

function timeOf(value, fallback) {
  if (value === undefined) return fallback;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? refuse(400, "a time is written as 2026-01-31T12:00:00Z") : time.toISOString();
}

app.post("/authors", async (request, response) => {
  const name = String(request.body?.name ?? refuse(400, "name is missing"));
  const known = { target: author.name, set: { name } };
  const [row] = await db.insert(author).values({ name }).onConflictDoUpdate(known).returning();
  response.status(201).json(row);
});

app.post("/messages", async (request, response) => {
  const authorId = idOf(request.body?.authorId);
  const body = String(request.body.body ?? refuse(400, "body is missing"));
  try {
    const [row] = await db.insert(message).values({ authorId, body }).returning();
    response.status(201).json(row);
  } catch (error) {
    throw error.cause?.code === FOREIGN_KEY_VIOLATION ? refusal(422, "there is no such author") : error;
  }
});

app.get("/messages/:id", async (request, response) => {
  const [row] = await db.select().from(message).where(eq(message.id, idOf(request.params.id)));
  response.json(row ?? refuse(404, "there is no such message"));
});

// The newest messages below an id and within a range of time. Both use the primary key.
export function page({ before, since, until }, limit) {
  const conditions = [
    before === undefined ? undefined : lt(message.id, idOf(before)),
    sql`snowflake_between(${message.id}, ${timeOf(since, "-infinity")}, ${timeOf(until, "infinity")})`,
  ];
  return db.select().from(message).where(and(...conditions)).orderBy(desc(message.id)).limit(limit);
}

app.get("/messages", async (request, response) => {
  const limit = Math.min(Math.max(Number(request.query.limit ?? 20) || 20, 1), 100);
  const rows = await page(request.query, limit);
  response.json({ messages: rows, next: rows.length === limit ? rows.at(-1).id : null });
});

app.use((error, request, response, next) => {
  if (!error.expose) console.error(error);
  response.status(error.status ?? 500).json({ error: error.expose ? error.message : "internal error" });
});
