// Makes the tables what the entities say, as TypeORM does at each start of an application, and writes a row.
const { DataSource, EntitySchema } = require("typeorm");

const Message = new EntitySchema({
  name: "Message",
  tableName: "message",
  columns: {
    id: { type: "bigint", primary: true, default: () => "snowflake_next_id(5)" },
    body: { type: "text" },
  },
});
const Tweet = new EntitySchema({
  name: "Tweet",
  tableName: "tweet",
  // Without a cast, which TypeORM removes from what the catalog gives back.
  columns: { id: { type: "bigint", primary: true, default: () => "snowflake_next_id(5, 'twitter')" } },
});
// Refers to a message, as TypeORM dropped and added foreign keys again where it saw a new default.
const Reply = new EntitySchema({
  name: "Reply",
  tableName: "reply",
  columns: { id: { type: "uuid", primary: true, default: () => "uuid_v7()" } },
  relations: { message: { type: "many-to-one", target: "Message", joinColumn: true } },
});

const { PGHOST: host, PGPORT: port, PGUSER: username, PGDATABASE: database } = process.env;

async function main() {
  const source = new DataSource({
    type: "postgres", host, port: Number(port), username, database,
    entities: [Message, Reply, Tweet], synchronize: true, dropSchema: process.argv[2] === "--drop",
  });
  await source.initialize();
  const message = await source.getRepository(Message).save({ body: "hello" });
  const reply = await source.getRepository(Reply).save({ message });
  await source.destroy();
  if (!(BigInt(message.id) > 2n ** 60n && reply.id[14] === "7")) throw new Error(`${message.id}, ${reply.id}`);
}

main().catch((error) => { console.error(error.message); process.exit(1); });
