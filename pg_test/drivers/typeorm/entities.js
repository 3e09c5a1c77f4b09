// The entities, and where the database is.
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

// Runs before `synchronize`, as the defaults need the extension.
class Extension1700000000000 {
  async up(queryRunner) {
    await queryRunner.query("CREATE EXTENSION IF NOT EXISTS pg_mint");
  }
  async down() {}
}

const { PGHOST: host, PGPORT: port, PGUSER: username, PGDATABASE: database } = process.env;
const source = (options) =>
  new DataSource({
    type: "postgres", host, port: Number(port), username, database, entities: [Message, Reply, Tweet],
    migrations: [Extension1700000000000], migrationsRun: true, ...options,
  });

module.exports = { source };
