// exact.mjs: whether JavaScript reads the ids that the first line of the input has as they are in the database.
import { readFileSync } from "node:fs";

const [text] = readFileSync(0, "utf8").split("\n");
const { id, author, author_id = author, authorId = author_id } = JSON.parse(text);
console.log(text, "\nread:", id, authorId, "\nwanted:", process.env.ID, process.env.AUTHOR);
process.exit(id === process.env.ID && authorId === process.env.AUTHOR ? 0 : 1);
