import { it } from "vitest";
import { crashAfterRequests, crashAfterRows, writesOfStory } from "./crash.suite.js";

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

it("a crash after every write to the API leaves rows equal to objects, and nothing to write", async () => {
  await crashAfterRequests(upTo((await writesOfStory()).api));
});

it("a crash after every write to the database leaves rows equal to objects, and nothing to write", async () => {
  await crashAfterRows(upTo((await writesOfStory()).database));
});
