// program.js CLIENT: what each client is asked for, by the calls of CLIENT.js.
const name = process.argv[2];
const client = require(`./${name}.js`);

const point = (text, holds) => console.log(`${holds ? "ok" : "not ok"} ${name}, ${text}`);
const MINUTE = 60_000;

async function main() {
  await client.create();
  point("create", true);

  const [one] = await client.insert(["hello"]);
  point("insert one", ["string", "bigint"].includes(typeof one) && BigInt(one) > 2n ** 60n);

  const many = await client.insert(Array.from({ length: 100 }, (_, n) => `hello ${n}`));
  point("insert many", new Set(many).size === 100);

  point("read back", (await client.find(many[7])) === "hello 7");

  const since = new Date(Date.now() - MINUTE);
  const until = new Date(Date.now() + MINUTE);
  const counts = [await client.count(since, until), await client.count(new Date(since - MINUTE), since)];
  point("range by time", counts.join() === "101,0");

  const minted = await client.time("twitter");
  point("layout as a parameter", since < minted && minted < until);

  const item = await client.insertItem("lamp");
  point("objectid", /^[0-9a-f]{24}$/.test(item) && (await client.findItem(item)) === "lamp");
  await client.end();
}

main().catch((error) => { console.error(error); process.exit(1); });
