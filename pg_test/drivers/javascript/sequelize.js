const { DataTypes, Sequelize, literal, where, fn, col } = require("sequelize");

const { PGHOST: host, PGPORT: port, PGUSER, PGDATABASE } = process.env;
const sequelize = new Sequelize(PGDATABASE, PGUSER, "", { host, port, dialect: "postgres", logging: false });
const options = { freezeTableName: true, timestamps: false };
const Message = sequelize.define("message", {
  id: { type: DataTypes.BIGINT, primaryKey: true, defaultValue: literal("snowflake_next_id(5)") },
  body: DataTypes.TEXT,
}, options);
const Item = sequelize.define("item", {
  id: { type: "objectid", primaryKey: true, defaultValue: literal("objectid()") },
  name: DataTypes.TEXT,
}, options);

module.exports = {
  async create() {
    await sequelize.query("CREATE EXTENSION IF NOT EXISTS pg_mint");
    await sequelize.sync();
  },
  insert: async (bodies) => (await Message.bulkCreate(bodies.map((body) => ({ body })))).map((row) => row.id),
  find: async (id) => (await Message.findByPk(id)).body,
  count: (since, until) => Message.count({ where: where(fn("snowflake_between", col("id"), since, until), true) }),
  time: async (layout) =>
    (await sequelize.query("SELECT snowflake_time(snowflake_next_id($1, $2), $2) AS at", { bind: [5, layout] }))[0][0].at,
  insertItem: async (name) => (await Item.create({ name })).id,
  findItem: async (id) => (await Item.findByPk(id)).name,
  end: () => sequelize.close(),
};
