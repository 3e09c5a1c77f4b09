const { Client } = require("pg");

const point = (text, holds) => console.log(`${holds ? "ok" : "not ok"} ${text}`);
const MINUTE = 60_000;

async function main() {
  const client = new Client();
  await client.connect();
  const rows = async (text, values) => (await client.query(text, values)).rows;
  const value = async (text, values) => Object.values((await rows(text, values))[0])[0];
  const since = new Date(Date.now() - MINUTE);
  const until = new Date(Date.now() + MINUTE);

  await client.query(`CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text);
    CREATE TABLE event (id uuid PRIMARY KEY DEFAULT uuid_v7(), body text);
    CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)`);
  point("create", true);

  const one = await value("INSERT INTO message (body) VALUES ($1) RETURNING id", ["hello"]);
  const event = await value("INSERT INTO event (body) VALUES ('hello') RETURNING id");
  point("insert one", typeof one === "string" && BigInt(one) > 2n ** 60n && event[14] === "7");

  const bodies = Array.from({ length: 100 }, (_, n) => `hello ${n}`);
  const many = await rows("INSERT INTO message (body) SELECT unnest($1::text[]) RETURNING id", [bodies]);
  point("insert many", new Set(many.map((row) => row.id)).size === 100);

  // The server prepares a query that has a name.
  const find = { name: "find", text: "SELECT body FROM message WHERE id = $1" };
  const bodyOf = async (id) => (await client.query({ ...find, values: [id] })).rows[0]?.body;
  point("read back", (await bodyOf(many[7].id)) === "hello 7" && (await bodyOf(one)) === "hello");
  point("a number is another id", (await bodyOf(String(Number(many[7].id)))) !== "hello 7");

  const span = "SELECT count(*)::int FROM message WHERE snowflake_between(id, $1, $2)";
  const before = new Date(since - MINUTE);
  point("range by time", (await value(span, [since, until])) === 101 && (await value(span, [before, since])) === 0);

  const minted = await value("SELECT snowflake_time(snowflake_next_id($1, $2), $2)", [5, "twitter"]);
  point("layout as a parameter", since < minted && minted < until);

  const item = await value("INSERT INTO item (name) VALUES ('lamp') RETURNING id");
  const byText = await value("SELECT name FROM item WHERE id = $1", [item]);
  const byBytes = await value("SELECT name FROM item WHERE id = $1", [Buffer.from(item, "hex")]);
  point("objectid", /^[0-9a-f]{24}$/.test(item) && byText === "lamp" && byBytes === "lamp");
  await client.end();
}

main().catch((error) => { console.error(error); process.exit(1); });
