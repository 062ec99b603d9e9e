import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ephemeral ports, which the system may assign to others before we listen on them. */
const [FIRST, END] = [10_000, 32_000];

/** A port of this machine that nobody listens on and that the system does not assign. */
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
