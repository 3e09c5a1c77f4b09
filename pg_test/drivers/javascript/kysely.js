const { Kysely, PostgresDialect, sql } = require("kysely");
const { Pool } = require("pg");

const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool() }) });

module.exports = {
  async create() {
    await sql`CREATE EXTENSION IF NOT EXISTS pg_mint`.execute(db);
    await db.schema.createTable("message")
      .addColumn("id", "bigint", (c) => c.primaryKey().defaultTo(sql`snowflake_next_id(5)`))
      .addColumn("body", "text")
      .execute();
    await db.schema.createTable("item")
      .addColumn("id", sql`objectid`, (c) => c.primaryKey().defaultTo(sql`objectid()`))
      .addColumn("name", "text")
      .execute();
    const tables = (await db.introspection.getTables()).filter((table) => table.schema === "public");
    if (tables.length !== 2) throw new Error(`tables ${tables.map((table) => table.name)}`);
  },
  insert: async (bodies) =>
    (await db.insertInto("message").values(bodies.map((body) => ({ body }))).returning("id").execute()).map((row) => row.id),
  find: async (id) => (await db.selectFrom("message").select("body").where("id", "=", id).executeTakeFirst()).body,
  count: async (since, until) =>
    Number((await db.selectFrom("message").select((e) => e.fn.countAll().as("n"))
      .where(sql`snowflake_between(id, ${since}, ${until})`).executeTakeFirst()).n),
  time: async (layout) =>
    (await sql`SELECT snowflake_time(snowflake_next_id(${5}, ${layout}), ${layout}) AS at`.execute(db)).rows[0].at,
  insertItem: async (name) => (await db.insertInto("item").values({ name }).returning("id").executeTakeFirst()).id,
  findItem: async (id) => (await db.selectFrom("item").select("name").where("id", "=", id).executeTakeFirst()).name,
  end: () => db.destroy(),
};
