const postgres = require("postgres");

const sql = postgres({ types: { bigint: postgres.BigInt } });

module.exports = {
  async create() {
    await sql`CREATE EXTENSION IF NOT EXISTS pg_mint`;
    await sql`CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text)`;
    await sql`CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)`;
  },
  insert: async (bodies) =>
    (await sql`INSERT INTO message ${sql(bodies.map((body) => ({ body })))} RETURNING id`).map((row) => row.id),
  find: async (id) => (await sql`SELECT body FROM message WHERE id = ${id}`)[0].body,
  count: async (since, until) =>
    (await sql`SELECT count(*)::int FROM message WHERE snowflake_between(id, ${since}, ${until})`)[0].count,
  time: async (layout) => (await sql`SELECT snowflake_time(snowflake_next_id(${5}, ${layout}), ${layout}) AS at`)[0].at,
  insertItem: async (name) => (await sql`INSERT INTO item (name) VALUES (${name}) RETURNING id`)[0].id,
  findItem: async (id) => (await sql`SELECT name FROM item WHERE id = ${id}`)[0].name,
  end: () => sql.end(),
};
