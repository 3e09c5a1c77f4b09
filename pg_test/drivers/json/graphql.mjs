// Prints a message as GraphQL sends it, and asks for it by its id.
import { buildSchema, graphql } from "graphql";

const { ID, AUTHOR } = process.env;
const schema = buildSchema(`
  type Message {
    id: ID!
    authorId: ID!
    asInt: Int
  }
  type Query {
    message(id: ID!): Message
  }
`);
// Ids as node-postgres gives them: strings.
const rootValue = { message: ({ id }) => (id === ID ? { id: ID, authorId: AUTHOR, asInt: Number(ID) } : null) };
const ask = (fields) => graphql({ schema, rootValue, source: `{ message(id: "${ID}") { ${fields} } }` });

const { data } = await ask("id authorId");
console.log(JSON.stringify(data.message));
const { errors } = await ask("asInt");
if (!/Int cannot represent non 32-bit signed integer value/.test(errors?.[0].message)) throw new Error("Int has no error");
