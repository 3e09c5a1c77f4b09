const { source } = require("./entities");

const point = (text, holds) => console.log(`${holds ? "ok" : "not ok"} ${text}`);
const MINUTE = 60_000;

async function main() {
  const open = await source({}).initialize();
  const messages = open.getRepository("Message");
  const since = new Date(Date.now() - MINUTE);
  const until = new Date(Date.now() + MINUTE);

  const one = await messages.save({ body: "hello" });
  const reply = await open.getRepository("Reply").save({ message: one });
  point("insert one", typeof one.id === "string" && BigInt(one.id) > 2n ** 60n && reply.id[14] === "7");

  const many = await messages.save(Array.from({ length: 100 }, (_, n) => ({ body: `hello ${n}` })));
  const inserted = await messages.insert(Array.from({ length: 100 }, (_, n) => ({ body: `inserted ${n}` })));
  const ids = [...many.map((row) => row.id), ...inserted.identifiers.map((row) => row.id)];
  point("insert many", new Set(ids).size === 200);

  point("read back", (await messages.findOneBy({ id: many[7].id })).body === "hello 7");

  const span = (from, to) =>
    messages.createQueryBuilder("m").where("snowflake_between(m.id, :from, :to)", { from, to }).getCount();
  point("range by time", (await span(since, until)) >= 201 && (await span(new Date(since - MINUTE), since)) === 0);

  const [row] = await open.query("SELECT snowflake_time(snowflake_next_id($1, $2), $2) AS at", [5, "twitter"]);
  point("layout as a parameter", since < row.at && row.at < until);

  // Not as a column of an entity: the type is not in TypeORM's list.
  const [item] = await open.query("INSERT INTO item (name) VALUES ('lamp') RETURNING id");
  const found = await open.query("SELECT name FROM item WHERE id = $1", [item.id]);
  point("objectid by a query", found[0].name === "lamp");
  await open.destroy();
}

main().catch((error) => { console.error(error); process.exit(1); });
