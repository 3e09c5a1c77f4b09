import { app } from "./app.js";
import { upgrade } from "./db.js";

const port = process.env.PORT ?? 8000;
await upgrade();
app.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
