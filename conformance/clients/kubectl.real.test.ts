import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BothServers } from "./both-servers.js";
import { FILES } from "./kubectl-files.js";
import { SCRIPTS } from "./kubectl-scripts.js";

/** Every line must have the same exit code, output and errors on the embedded control plane as on a real cluster. */
describe("kubectl", () => {
  let servers: BothServers;
  beforeAll(async () => {
    servers = await BothServers.start(FILES);
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  it.each(Object.entries(SCRIPTS))("%s", async (_title, lines) => {
    for (const line of lines) {
      const fails = line.startsWith("! ");
      const { ours, real } = await servers.run(fails ? line.slice(2) : line);
      expect.soft({ line, ...ours }).toEqual({ line, ...real });
      // A line that fails unexpectedly on both servers proves nothing.
      expect.soft(real.code !== 0, `${line}\n${real.stderr}`).toBe(fails);
    }
  });
});
