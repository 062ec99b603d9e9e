import { expect, it } from "vitest";
import { crashAfterRequests, crashAfterRows, writesOfStory } from "./crash.suite.js";

const everySixth = (count: number): readonly number[] =>
  Array.from({ length: Math.ceil(count / 6) }, (_, at) => 6 * at + 1);

it("a crash after every sixth write leaves rows equal to objects, and nothing to write (every one in the soak)", {
  timeout: 300_000,
}, async () => {
  const { api, database } = await writesOfStory();
  expect(api).toBeGreaterThan(20);
  expect(database).toBeGreaterThan(8);
  await crashAfterRequests(everySixth(api));
  await crashAfterRows(everySixth(database));
});
