import { it } from "vitest";
import { crashAfter, writesOfStory } from "./crash.suite.js";

it("a crash after every write leaves rows equal to objects, and nothing to write", async () => {
  const count = await writesOfStory();
  await crashAfter(Array.from({ length: count }, (_, at) => at + 1));
});
