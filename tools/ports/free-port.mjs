import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ports that systems give to whoever asks for any: those may be given away before they are listened on. */
const [FIRST, END] = [10_000, 32_000];

/** A port of this machine that nobody listens on, nor is given by chance. */
export async function freePort() {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
