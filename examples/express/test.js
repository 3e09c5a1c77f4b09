import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSDOM } from "jsdom";
import { app, page } from "./app.js";
import { pool, upgrade } from "./db.js";

let server, base;

before(async () => {
  await upgrade();
  await new Promise((done) => { server = app.listen(0, "127.0.0.1", done); });
  base = `http://127.0.0.1:${server.address().port}`;
});
after(async () => {
  server.close();
  await pool.end();
});

// The text of an answer, in which digits are as they were sent.
async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  const options = body && { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(base + path, options);
  return { status: answer.status, text: await answer.text() };
}
async function send(path, body) {
  const answer = await ask(path, body);
  assert.equal(answer.status, 201, answer.text);
  return JSON.parse(answer.text);
}
const author = async () => (await send("/authors", { name: "Ada" })).id;
async function sendMany(count) {
  const authorId = await author();
  const ids = [];
  for (let n = 0; n < count; n += 1) ids.push((await send("/messages", { authorId, body: `hello ${n}` })).id);
  return ids;
}
// From the database, as text.
const NEWEST = "SELECT id::text, author_id::text, snowflake_time(id) AS at FROM message ORDER BY id DESC LIMIT 1";
const newest = async () => (await pool.query(NEWEST)).rows[0];

test("ids are text and exact, foreign keys too", async () => {
  const sent = await send("/messages", { authorId: await author(), body: "hello" });
  const row = await newest();
  assert.ok(BigInt(row.id) > 2n ** 53n && BigInt(row.author_id) > 2n ** 53n);
  assert.deepEqual([sent.id, sent.authorId], [row.id, row.author_id]);
  assert.deepEqual(JSON.parse((await ask(`/messages/${sent.id}`)).text), sent);
  assert.match((await ask("/messages?limit=1")).text, new RegExp(`"next":"${sent.id}"`));
});

test("an id that was rounded is refused", async () => {
  assert.equal((await ask("/messages", { authorId: Number(await author()), body: "?" })).status, 400);
  assert.equal((await ask("/messages", { authorId: "1", body: "?" })).status, 422);
  assert.equal((await ask("/messages/1")).status, 404);
  assert.equal((await ask("/messages/9999999999999999999")).status, 400);
});

test("pages have each message once", async () => {
  const sent = await sendMany(25);
  const found = [];
  let below = "";
  while (found.length < 25) {
    const { messages, next } = JSON.parse((await ask(`/messages?limit=10${below}`)).text);
    found.push(...messages.map((message) => message.id));
    below = `&before=${next}`;
    await sendMany(1); // A new message moves no page.
  }
  assert.deepEqual(found.slice(0, 25), sent.reverse());
});

test("a range of time", async () => {
  const [id] = await sendMany(1);
  const at = (await newest()).at.getTime();
  const within = async (since, until) => {
    const span = [since, until].map((time) => new Date(time).toISOString());
    return (await ask(`/messages?since=${span[0]}&until=${span[1]}`)).text.includes(`"${id}"`);
  };
  const found = [await within(at, at + 1), await within(at - 1, at), await within(at + 1, at + 2)];
  assert.deepEqual(found, [true, false, false]);
});

test("the primary key finds them", async (t) => {
  const client = await pool.connect();
  t.after(() => client.release(true));
  // Of a small table, the planner would read all.
  await client.query("SET enable_seqscan = off; SET enable_bitmapscan = off");
  for (const span of [{ before: "4000000000000000000" }, { since: "2026-01-01T00:00:00Z" }]) {
    const { sql, params } = page(span, 10).toSQL();
    const plan = (await client.query(`EXPLAIN ${sql}`, params)).rows.map((row) => row["QUERY PLAN"]).join("\n");
    assert.match(plan, /Index Scan Backward using message_pkey[^]*Index Cond/);
  }
});

test("the page in the browser shows ids exactly", async (t) => {
  const sent = (await sendMany(25)).reverse();
  const { window } = await JSDOM.fromURL(base, {
    runScripts: "dangerously",
    resources: "usable",
    beforeParse(window) { window.fetch = (path, options) => fetch(new URL(path, base), options); },
  });
  t.after(() => window.close());
  const { document } = window;
  const rows = () => [...document.querySelectorAll("li")];
  const shown = async (count) => {
    for (let n = 0; rows().length < count; n += 1) {
      assert.ok(n < 200, `${rows().length} messages in place of ${count}`);
      await new Promise((done) => { setTimeout(done, 20); });
    }
    return rows().map((row) => row.querySelector("small").textContent.split(" by ")[0]);
  };
  assert.deepEqual(await shown(10), sent.slice(0, 10));
  document.querySelector("#older").click();
  assert.deepEqual(await shown(20), sent.slice(0, 20));

  // The author's id comes from one answer and goes into the next request.
  const form = document.querySelector("form");
  form.elements.author.value = "Grace";
  form.elements.body.value = "from the page";
  form.querySelector("button").click();
  const [id] = await shown(21);
  const row = await newest();
  assert.equal(id, row.id);
  assert.ok(rows()[0].textContent.includes(` by ${row.author_id}, `));
  assert.equal(rows()[0].querySelector("a").getAttribute("href"), `/messages/${row.id}`);
  assert.equal(rows()[0].querySelector("time").dateTime, row.at.toISOString());
});
