import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { isComplete, readBytes } from "./body.js";
import { BodyQueue } from "./body-queue.js";

const text = (value: string): Buffer => Buffer.from(value);

function queue(): BodyQueue {
  return new BodyQueue({ pause: () => {}, resume: () => {}, cancel: () => {} });
}

describe("a body that has come as a whole", () => {
  it("is complete once it has ended, and read in one step", async () => {
    const body = queue();
    body.push(text("one "));
    body.push(text("two"));
    expect(isComplete(body)).toBe(false);
    body.end();
    expect(isComplete(body)).toBe(true);
    expect((await readBytes(body)).toString()).toBe("one two");
    expect((await readBytes(body)).toString()).toBe("");
  });

  it("gives no more than its reader has left of it", async () => {
    const body = queue();
    body.push(text("one"));
    body.push(text("two"));
    await body.next();
    body.end();
    expect((await readBytes(body)).toString()).toBe("two");
  });

  it("is read piece by piece where it ended in an error, which comes last", async () => {
    const body = queue();
    body.push(text("one"));
    body.fail(new Error("cut off"));
    expect(body.takeWhole()).toBeUndefined();
    expect(await body.next()).toMatchObject({ done: false });
    await expect(readBytes(body)).rejects.toThrow("cut off");
  });

  it("is nothing where it was aborted", async () => {
    const body = queue();
    body.push(text("one"));
    body.end();
    body.abort(new Error("aborted"));
    expect(body.takeWhole()).toBeUndefined();
    await expect(readBytes(body)).rejects.toThrow("aborted");
  });
});
