import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { isComplete, readBytes } from "./body.js";
import { BodyQueue } from "./body-queue.js";

const text = (value: string): Buffer => Buffer.from(value);

function queue(): BodyQueue {
  return new BodyQueue({ pause: () => {}, resume: () => {}, cancel: () => {} });
}

describe("a fully received body", () => {
  it("is complete once it has ended, and is read in one step", async () => {
    const body = queue();
    body.push(text("one "));
    body.push(text("two"));
    expect(isComplete(body)).toBe(false);
    body.end();
    expect(isComplete(body)).toBe(true);
    expect((await readBytes(body)).toString()).toBe("one two");
    expect((await readBytes(body)).toString()).toBe("");
  });

  it("returns only what is left after partial reads", async () => {
    const body = queue();
    body.push(text("one"));
    body.push(text("two"));
    await body.next();
    body.end();
    expect((await readBytes(body)).toString()).toBe("two");
  });

  it("is read chunk by chunk if it ended in an error, which comes last", async () => {
    const body = queue();
    body.push(text("one"));
    body.fail(new Error("cut off"));
    expect(body.takeWhole()).toBeUndefined();
    expect(await body.next()).toMatchObject({ done: false });
    await expect(readBytes(body)).rejects.toThrow("cut off");
  });

  it("returns nothing after an abort", async () => {
    const body = queue();
    body.push(text("one"));
    body.end();
    body.abort(new Error("aborted"));
    expect(body.takeWhole()).toBeUndefined();
    await expect(readBytes(body)).rejects.toThrow("aborted");
  });
});
