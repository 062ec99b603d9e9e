import { expect, it } from "vitest";
import { crashAfter, writesOfStory } from "./crash.suite.js";

it("a crash after every sixth write leaves rows equal to objects, and nothing to write (every one in the soak)", {
  timeout: 300_000,
}, async () => {
  const count = await writesOfStory();
  expect(count).toBeGreaterThan(10);
  await crashAfter(Array.from({ length: count }, (_, at) => at + 1).filter((write) => write % 6 === 1));
});
