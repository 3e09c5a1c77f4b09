// Ids stay strings here: Number(id) would round them.
const list = document.querySelector("ol");
const older = document.querySelector("#older");
const form = document.querySelector("form");

// The time of an id of the layout instagram, which is that of snowflake_next_id(5).
const timeOf = (id) => new Date(Number((BigInt(id) >> 23n) + 1314220021721n));

function item({ id, authorId, body }) {
  const link = Object.assign(document.createElement("a"), { href: `/messages/${id}`, textContent: body });
  const note = document.createElement("small");
  const time = document.createElement("time");
  time.dateTime = timeOf(id).toISOString();
  time.textContent = timeOf(id).toLocaleString();
  note.append(id, " by ", authorId, ", ", time);
  const row = document.createElement("li");
  row.dataset.id = id;
  row.append(link, note);
  return row;
}

async function send(path, body) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

async function more() {
  const before = list.lastElementChild?.dataset.id;
  const { messages, next } = await (await fetch(`/messages?limit=10${before ? `&before=${before}` : ""}`)).json();
  list.append(...messages.map(item));
  older.hidden = next === null;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { author: name, body } = form.elements;
  const author = await send("/authors", { name: name.value });
  list.prepend(item(await send("/messages", { authorId: author.id, body: body.value })));
  body.value = "";
});
older.addEventListener("click", more);
more();
