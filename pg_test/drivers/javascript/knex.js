const { PGHOST: host, PGPORT: port, PGUSER: user, PGDATABASE: database } = process.env;
const knex = require("knex")({ client: "pg", connection: { host, port, user, database } });

module.exports = {
  async create() {
    await knex.raw("CREATE EXTENSION IF NOT EXISTS pg_mint");
    await knex.schema.createTable("message", (t) => {
      t.bigInteger("id").primary().defaultTo(knex.raw("snowflake_next_id(5)"));
      t.text("body");
    });
    await knex.schema.createTable("item", (t) => {
      t.specificType("id", "objectid").primary().defaultTo(knex.raw("objectid()"));
      t.text("name");
    });
  },
  insert: async (bodies) => (await knex("message").insert(bodies.map((body) => ({ body })), ["id"])).map((row) => row.id),
  find: async (id) => (await knex("message").where({ id }).first()).body,
  count: async (since, until) =>
    Number((await knex("message").whereRaw("snowflake_between(id, ?, ?)", [since, until]).count().first()).count),
  time: async (layout) =>
    (await knex.raw("SELECT snowflake_time(snowflake_next_id(?, ?), ?) AS at", [5, layout, layout])).rows[0].at,
  insertItem: async (name) => (await knex("item").insert({ name }, ["id"]))[0].id,
  findItem: async (id) => (await knex("item").where({ id }).first()).name,
  end: () => knex.destroy(),
};
