// Makes the tables what the entities say, as TypeORM does at each start of an application, and writes a row.
const { source } = require("./entities");

async function main() {
  const open = await source({ synchronize: true, dropSchema: process.argv[2] === "--drop" }).initialize();
  const message = await open.getRepository("Message").save({ body: "hello" });
  const reply = await open.getRepository("Reply").save({ message });
  await open.destroy();
  if (!(BigInt(message.id) > 2n ** 60n && reply.id[14] === "7")) throw new Error(`${message.id}, ${reply.id}`);
}

main().catch((error) => { console.error(error.message); process.exit(1); });
